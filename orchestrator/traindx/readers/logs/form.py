"""The form of a log line: which of its numbers count, which are metrics, and what they are called."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from traindx.vocabulary.metrics import MetricName, normalise, phase_in, voice_in
from traindx.vocabulary.unspaced import LETTER, narrow

# `e7 s11880`, `ep3`, `it120`: counters that cling to their name.
_CLINGING = {
    "e": "epoch", "E": "epoch", "ep": "epoch", "Ep": "epoch", "EP": "epoch", "epoch": "epoch", "Epoch": "epoch",
    "s": "step", "it": "step", "iter": "step", "step": "step", "Step": "step", "Iter": "step", "u": "step",
}  # fmt: skip
_BEHIND_A_NAME = "|".join(rf"(?<=\b{name})" for name in _CLINGING)
# The digit runs are bounded so that no text, however odd, makes the search slow.
NUMBER = re.compile(
    rf"((?:(?<![\w.@])[-+]?|(?<=[{LETTER}])[-+]?|(?:{_BEHIND_A_NAME})(?=\d{{1,9}}(?![\w.])))(?:"
    r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,30})?(?![\d,])"
    r"|\d{1,30}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,4})?"
    r"|\.\d{1,40}(?:[eE][-+]?\d{1,4})?"
    r"|(?:nan|NaN|NAN|inf|Inf|INF|infinity|Infinity)(?![A-Za-z_])"
    r"))"
)
_BREAK = re.compile(r"[,;\t(){}\[\]]|\s[-–—]+\s|-->?|=>|\|")  # noqa: RUF001 (the dashes that people type)
_BARS = re.compile(r"\|([^|\s][^|]{0,40})\|\s*[:=]?\s*$")
# `475ms step_avg:` and `12%|###|`: what clings to a number belongs to it, not to the name of the next.
_UNIT = re.compile(
    r"^(?: (?:[mun]?s|secs?|seconds|[KMGT]i?B|%)(?=[^\w.=:/])|(?:[A-Za-zµ]{1,12}(?:/[A-Za-z]{1,12})?|%)(?=[^\w.]|$)"
    r"| ?(?:毫?秒|分钟?|小时|초|분)(?=[^\w.]|$))"
)
# `Epoch [1/10], Step [100/600]` and `lr=[1e-05]`: the name stands before the bracket.
_BRACKETED = re.compile(r"([A-Za-z_][\w ]{0,30}?)\s{0,3}[:=]?\s{0,3}[\[(]\s{0,8}$")
_FORMAT_BEHIND = re.compile(r"[defgEFGx]\}")
# MMEngine: `Epoch(train)  [1][ 50/100]`.
_PHASED = re.compile(r"(Epoch|Iter)\((train|val|test)\)\s{0,8}\[\s{0,8}$")
_PACE = re.compile(r"(?:it|iter|step|batch|sample|ex|img)s?/s(?![A-Za-z])|s/(?:it|iter|step|batch)(?![A-Za-z])")
# `BCE(train)=0.69`, `loss [val]: 0.3`, `lr(Piecewise): 0.05`.
_WORD_BEHIND = re.compile(
    r"([A-Za-z_][\w.]{0,30}(?: [a-z]{1,12})?)\s?[(\[]([A-Za-z]{2,16}(?: [a-z]{2,12}){0,2})[)\]]\s{0,3}[:=]\s{0,8}$"
)
# `inactive(fc2) 0.03`: of which part.
_PART_BEHIND = re.compile(r"(?<!\S)([A-Za-z_]\w{2,30})\(([A-Za-z_]\w{0,16})\)\s{0,3}[:=]?\s{0,8}$")
# `loss: tensor(0.38, device='cuda:0', grad_fn=<NllLossBackward0>)`; without a name it is what `print(loss)` gives.
_TENSOR = re.compile(r"tensor\($")
_GRADIENT = "grad_fn=<"
_FIRST_COUNTERS = frozenset({"t", "i", "n", "k"})
"""`t=200 reward=3.1`: a line that begins so counts by it"""
_LAST_LETTERS = re.compile(r"[A-Za-z]+$")
_SURE_STEPS = {"num updates", "global step"}
_QUOTES = "\"'` "
# A word of prose before a number: `improved from 0.3 to 0.2` names no metric.
_PROSE = frozenset([
    "a", "an", "the", "to", "from", "in", "at", "of", "for", "with", "by", "and", "or", "is", "was", "are", "be",
    "on", "after", "before", "than", "over", "under", "about", "into", "within", "every", "each", "took", "saved",
    "using", "used", "loaded", "only", "first", "last", "next", "all", "still",
    "年", "月", "日", "时", "點", "点", "時", "分", "秒", "년", "월", "일", "시",
])  # fmt: skip
_OF_LAYERS = frozenset({"l1"})
"""losses by themselves; behind other words they are the names of layers: `inactive units l1 100%`"""
_PATH = re.compile(r":/|\.(?:py|cc|cpp|cu)\b")
_METRICS, _NAMED_BEFORE_BRACKETS = frozenset({"loss", "accuracy", "score", "phase"}), {"epoch", "step", "rate", "norm"}
_MEASURED = frozenset({"loss", "accuracy", "score", "rate", "norm", "phase"})
_COUNTS = re.compile(r"\s{1,12}(?:\|\s{0,12})?(?=[A-Za-z_|]|$)|\s{0,12}\|\s{0,12}")
"""what stands behind a counter that opens a line, up to the next name or number"""
_PROOF = frozenset({"loss", "accuracy"})


@dataclass(frozen=True)
class Field:
    """A metric of the line: `index` says which of the line's numbers it is, from 0."""

    index: int
    original: str
    metric: MetricName
    unit: str = ""
    """`%`, `ms`: what clings to the number"""


@dataclass(frozen=True)
class Form:
    """A line understood: which of its numbers count (-1 where none does), and which are metrics."""

    epoch: int
    step: int
    total: int
    fields: tuple[Field, ...]
    ratios: frozenset[int]
    """metrics that are spelt `119/1000`: the number after them is the whole"""

    @property
    def counted_by(self) -> str:
        """`step`, `epoch`, or `row` for a line that shows no counter."""
        return "step" if self.step >= 0 else "epoch" if self.epoch >= 0 else "row"


def number(text: str) -> float:
    """A number as logs spell it; NaN for what only looks like one."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def understand(shape: tuple[str, ...]) -> Form | None:
    """The form of a line with these stretches of text around its numbers; None where it reports nothing."""
    shape, reading = narrow(shape), _Reading()
    if shape[0].lstrip().startswith("wandb:"):
        return None  # the tracker's summary repeats the last values, of one run after the other in a sweep
    if any(_FORMAT_BEHIND.match(part) for part in shape[1:]):
        return None  # `{loss:.4f}` in a line of code says how a number is to be printed
    for place in range(len(shape) - 1):
        before, after = _UNIT.sub("", shape[place]) if place else shape[place], shape[place + 1]
        after += "\n" if place + 2 == len(shape) else ""  # a unit may end the line: `opt 34 ms`
        if before.endswith("tensor("):
            before = _TENSOR.sub("", before)
            if not place and not before.strip() and any(_GRADIENT in part for part in shape):
                before = "loss "
        if place and before.strip() in {"/", "of"}:
            reading.out_of(place, before)
        else:
            reading.number(place, before, after)
    return reading.form(mapping=any("{" in part for part in shape))


class _Reading:
    """The state of understanding one line, from left to right."""

    def __init__(self) -> None:
        self.epoch = self.step = self.total = self._previous = self._unnamed = -1
        self.bare: list[tuple[int, int]] = []
        """counters without a name, as in `[1/5][50/100]`, each with its total"""
        self.fields: list[Field] = []
        self.weak: list[Field] = []
        self.ratios: set[int] = set()
        self._phase = self._measure = self._voice = ""
        self._whole = False
        """whether what was measured last belongs to no phase"""
        self._leading = 0
        """numbers without a name that the line begins with"""
        self._counted = -1
        """the last number of the counters that a line begins with"""

    def number(self, index: int, before: str, after: str) -> None:
        """Take in a number and the text on its two sides."""
        if before[-1:].isalpha() and before[-1:].isascii():
            self._clinging(index, before)
            return
        self._previous = index
        key, strong, context = _key(before)
        if said := phase_in(context):
            self._phase, self._voice = said, voice_in(context)
        pace = _PACE.match(after) if not key else None
        if pace:  # a progress bar names its pace by the unit alone: `[00:12<01:03, 41.2it/s]`
            self.weak.append(Field(index, pace[0], normalise(pace[0])))
        if not key or after == ":":  # the hours of a clock are no metric
            if index == 0 and before.strip() == "[" and after.startswith("]"):
                self.step = index  # XGBoost and LightGBM number their rounds so
            elif index == self._leading < 2 and before.strip() in {"", "|"} and _COUNTS.match(after):
                self._leading += 1
            self._unnamed = index
            return
        metric = normalise(key, self._phase)
        if index == 0 and strong and key in _FIRST_COUNTERS:
            metric = normalise("step")
        clings = _UNIT.match(after)
        unit = clings[0].strip() if clings else ""
        if metric.kind == "epoch":
            self.epoch = index if self.epoch < 0 else self.epoch
            self._phase = phase_in(key) or self._phase
        elif metric.kind == "step":
            # fairseq counts `update` within the epoch, and `num_updates` through the run.
            sure = key.replace("_", " ").lower() in _SURE_STEPS
            self.step = index if self.step < 0 or sure else self.step
        elif metric.kind == "phase":
            self._phase = metric.phase
            # `loss 2.4, train 0.11, val 0.09`: a loss of no phase was named already, and these are something else.
            shared = self._measure and not (self._measure == "loss" and self._whole)
            measured = normalise(f"{metric.phase} {self._measure}") if shared else metric
            self.fields.append(Field(index, key, measured, unit))
        else:
            self._metric(Field(index, key, metric, unit), strong)

    def _clinging(self, index: int, before: str) -> None:
        """Take in a counter such as `e7`: it counts where a line begins, or behind another one."""
        name = _LAST_LETTERS.search(before)
        rest = before[: name.start()] if name else before
        counts = not any(letter.isalpha() for letter in rest) and index == self._counted + 1
        kind = _CLINGING.get(name[0], "") if name and counts else ""
        if kind == "epoch" and self.epoch < 0:
            self.epoch, self._counted = index, index
        elif kind == "step" and self.step < 0:
            self.step, self._counted = index, index
        self._previous = self._unnamed = index

    def _metric(self, field: Field, strong: bool) -> None:
        key, kind = field.original, field.metric.kind
        if kind in _METRICS:
            self._measure = field.metric.name.partition("/")[2] or field.metric.name
            self._whole = not field.metric.phase
        if " " in key:  # `train loss 0.5 acc 0.8`: a phase said as a word holds until the next one
            self._phase = phase_in(key) or self._phase
        known = kind not in {"other", "cost"}
        if self._voice:
            # The mean of a few steps and that of an epoch are two series, though both are called `loss`.
            field = replace(field, original=f"{self._voice}:{key}")
        if known or _plain(key):
            (self.fields if known or strong else self.weak).append(field)

    def out_of(self, index: int, separator: str) -> None:
        """Take in the number after a slash: the total of a counter, or the whole of a ratio."""
        previous, self._previous = self._previous, -1
        if previous == self._counted:
            self._counted = index
        if previous == self.step >= 0:
            self.total = index if self.total < 0 else self.total
        elif separator == "/" and any(f.index == previous and f.metric.kind in _METRICS for f in self.fields):
            self.ratios.add(previous)
        elif previous >= 0 and previous == self._unnamed:
            self.bare.append((previous, index))

    def form(self, mapping: bool) -> Form | None:
        """What the line reports, if it reports anything; a mapping `{'train': 4000, 'val': 2000}` is a setting."""
        self._name_bare_counters()
        self._name_leading()
        counted = self.epoch >= 0 or self.step >= 0
        phases = {field.metric.phase for field in self.fields if field.metric.kind == "phase"}
        if not (
            counted or (len(phases) > 1 and not mapping) or any(field.metric.kind in _PROOF for field in self.fields)
        ):
            return None
        fields = self.fields + [field for field in self.weak if counted or " " not in field.original]
        ordered = tuple(sorted(fields, key=lambda field: field.index))
        return Form(self.epoch, self.step, self.total if self.step >= 0 else -1, ordered, frozenset(self.ratios))

    def _name_leading(self) -> None:
        """Count by the number that a line begins with, `500 train 0.41 lr 1e-3`; of two the second counts the steps."""
        told = any(field.metric.kind in _MEASURED for field in self.fields)
        several = len(self.fields) + len([one for one in self.weak if " " not in one.original]) > 1
        if self._leading and self.epoch < 0 and self.step < 0 and (told or several):
            self.step = self._leading - 1
            self.epoch = 0 if self._leading > 1 else -1

    def _name_bare_counters(self) -> None:
        """Decide what `50/100` counts: steps, and the `1/5` before it epochs, unless the line says otherwise."""
        bare = self.bare
        if self.step >= 0 or not bare:
            return
        first = bare[0][0]
        # `Train: 3 [50/100]` names the phase and counts the epoch.
        leader = next((f for f in self.fields if f.metric.kind == "phase" and f.index == first - 1), None)
        if self.epoch < 0 and leader is not None:
            self.fields.remove(leader)
            self.epoch = leader.index
        elif self.epoch < 0 and len(bare) > 1 and bare[1][0] == first + 2:
            self.epoch = first
            bare = bare[1:]
        if self.epoch < bare[0][0]:  # an epoch that is named after a progress bar counts for itself
            self.step, self.total = bare[0]


def _key(before: str) -> tuple[str, bool, str]:
    """The name that the text before a number gives it, whether a `:` or `=` says so, and what comes before."""
    bars = _BARS.search(before[-60:])
    if bars and any(letter.isalpha() for letter in bars[1]):
        # `|g| 0.14` is the length of a gradient; other words between bars are cells of a table.
        return f"|{bars[1]}|" if bars[1] in {"g", "grad"} else bars[1].strip(), True, ""
    phased = _PHASED.search(before[-60:])
    if phased:
        return phased[1], True, phased[2]
    told = _WORD_BEHIND.search(before[-60:])
    if told and (phase_in(told[2]) or normalise(told[1].strip()).kind not in {"other", "cost"}):
        name = told[1].strip()
        return f"{told[2]} {name}" if phase_in(told[2]) else name, True, before[: -len(told[0])]
    part = _PART_BEHIND.search(before[-60:])
    if part:
        return f"{part[1]} {part[2]}", True, before[: -len(part[0])]
    bracketed = _BRACKETED.search(before[-60:])
    if bracketed and normalise(bracketed[1].split()[-1]).kind in _NAMED_BEFORE_BRACKETS:
        return bracketed[1].split()[-1], True, before
    start = 0
    for found in _BREAK.finditer(before):
        start = found.end()
    chunk, context = before[start:].strip(_QUOTES), before[:start]
    strong = chunk.endswith((":", "="))
    chunk = chunk.rstrip(":=").strip(_QUOTES)
    head, colon, tail = chunk.rpartition(": ")
    if colon:
        chunk, context = tail.strip(_QUOTES), f"{context} {head}"
    words = chunk.split()
    if not words or not any(letter.isalpha() for letter in chunk):
        return "", strong, before
    for length in (3, 2, 1):
        tried = " ".join(words[-length:])
        if length == 1 < len(words) and tried.lower() in _OF_LAYERS:
            break
        if length <= len(words) and normalise(tried).kind not in {"other", "cost"}:
            return tried, strong, f"{context} {' '.join(words[:-length])}"
    if len(words) > 3:
        return (words[-1], True, context) if strong else ("", False, before)
    return " ".join(words), strong, context


def _plain(key: str) -> bool:
    words = key.lower().split()
    if "=" in key or "'" in key:
        return False
    return len(words) <= 3 and len(key) <= 40 and not _PATH.search(key) and not _PROSE.intersection(words)
