"""A question, and what of this run it names: failure modes, metrics, settings, a cause by its number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from traindx.chat.phrases import NUMBERED, plain
from traindx.chat.session import ChatSession
from traindx.contract import ConfigValue, SeriesSummary
from traindx.vocabulary.metrics import MetricName, normalise
from traindx.vocabulary.tunables import TUNABLES, Tunable

# What people call a failure mode when they do not know its id.
_ALIASES = {
    "non-finite-loss": r"\bnans?\b|\binf(?:inity|inite)?\b|not a number",
    "cuda-out-of-memory": r"\boom\b|out of memory",
    "plateau-at-chance": r"\bplateau|at chance\b",
    "data-distribution-shift": r"(?:distribution|data) shift",
    "missing-warmup": r"\b(?:no|missing|lack of) warm-?up",
    "mixed-precision-overflow": r"mixed precision|\bamp\b|fp16 overflow",
}
_SPELLINGS = {
    "learning rate": "lr", "learning-rate": "lr", "optimiser": "optimizer", "bs": "batch size", "wd": "weight decay",
    "batch": "batch size", "gradient norm": "grad norm",
}  # fmt: skip
_LONGEST = 4


@dataclass(frozen=True)
class Question:
    """What was typed, and what it speaks of."""

    text: str
    plain: str
    cause: int = 1
    modes: list[str] = field(default_factory=list)
    series: list[SeriesSummary] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """metrics that are asked for and were not logged"""
    settings: list[ConfigValue] = field(default_factory=list)
    tunables: list[Tunable] = field(default_factory=list)

    @property
    def asked(self) -> bool:
        """Whether it ends as a question does."""
        return self.text.rstrip().endswith("?")


async def understood(session: ChatSession, text: str) -> Question:
    """The question with everything it names."""
    context = await session.context()
    words = plain(text)
    named = _named(words, context.series)
    return Question(
        text=text,
        plain=words,
        cause=_number(words),
        modes=_modes(words, session.catalog),
        series=named.series,
        absent=named.absent,
        settings=_settings(words, context.settings, named.taken),
        tunables=_tunables(words),
    )


def _tunables(words: str) -> list[Tunable]:
    """Those that are named, in the order of the question."""
    found = [(match.start(), tunable) for tunable in TUNABLES if (match := tunable.pattern.search(words))]
    return [tunable for _, tunable in sorted(found, key=lambda row: row[0])]


def _number(words: str) -> int:
    match = NUMBERED.search(words)
    if match is None:
        return 1
    return int(match[1]) if match[1] else {"second": 2, "other": 2, "third": 3}[match[2]]


def _modes(words: str, catalog: Iterable[str]) -> list[str]:
    """Ids that stand in the question, spelled out or as their words in any form (`gradients explode`)."""
    spelled = words.replace("learning rate", "lr learning rate").replace("lr", "lr learning rate")
    found = []
    for name in catalog:
        stems = [re.escape(re.sub(r"(?:ing|ed|es|s|e)$", "", part)) for part in name.split("-")]
        alias = _ALIASES.get(name)
        if (
            name in words
            or all(re.search(rf"\b{stem}", spelled) for stem in stems)
            or (alias and re.search(alias, words))
        ):
            found.append(name)
    return found


def _windows(words: str) -> Iterator[tuple[range, str]]:
    """Stretches of the question, longest first."""
    tokens = re.findall(r"[\w./\[\]-]*\w\]?", words)
    for size in range(min(_LONGEST, len(tokens)), 0, -1):
        for start in range(len(tokens) - size + 1):
            yield range(start, start + size), " ".join(tokens[start : start + size])


@dataclass(frozen=True)
class _Named:
    """The metrics that a question names, those that were never logged, and which words name them."""

    series: list[SeriesSummary] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)


def _named(words: str, known: Sequence[SeriesSummary]) -> _Named:
    own = [row for row in known if not row.duplicate_of]
    pair = re.search(r"\b(?:compare|versus|vs|against|and)\b", words) is not None
    found = _Named()
    for place, phrase in _windows(words):
        meant = normalise(_SPELLINGS.get(phrase, phrase))
        if found.taken & set(place) or meant.kind in {"epoch", "step"} or (meant.kind == "phase" and not pair):
            continue
        named = [row for row in own if phrase in {row.name.casefold(), row.original.casefold()}]
        named = named or [row for row in own if row.name == meant.name] or _of_its_kind(meant, own)
        if named:
            found.series.extend(row for row in named[:2] if row not in found.series)
        elif meant.kind in {"loss", "accuracy"}:
            found.absent.append(phrase)
        if named or meant.kind in {"loss", "accuracy"}:
            found.taken.update(place)
    return found


def _of_its_kind(meant: MetricName, own: Sequence[SeriesSummary]) -> list[SeriesSummary]:
    """`val loss` where the validation loss is called `val/mse`; `accuracy` where only validation has one."""
    if meant.kind == "loss":
        alike = [row for row in own if row.loss and row.name.startswith(f"{meant.phase}/" if meant.phase else "")]
        return alike[:1]
    tail = meant.name.rpartition("/")[2]
    bare = meant.kind in {"accuracy", "score"} and not meant.phase
    return [row for row in own if row.name.rpartition("/")[2] == tail] if bare else []


def _settings(words: str, known: Sequence[ConfigValue], taken: set[int]) -> list[ConfigValue]:
    """The settings that are named by their last word or in full; the same value in a second file is left out."""
    found: dict[tuple[str, str], ConfigValue] = {}
    for place, phrase in _windows(words):
        # `train` in `train loss` is part of a metric's name.
        if set(place) < taken:
            continue
        meant = {phrase, _SPELLINGS.get(phrase, phrase)}
        for row in known:
            if (
                _spoken(row.key.rpartition(".")[2]) in meant
                or _spoken(row.key) in meant
                or row.key.casefold() == phrase
            ):
                found.setdefault((row.key, str(row.value)), row)
    return list(found.values())


def _spoken(key: str) -> str:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)
    said = " ".join(re.split(r"[^a-z0-9]+", parted.casefold())).strip()
    return _SPELLINGS.get(said, said)
