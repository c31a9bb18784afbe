"""Values: what a metric was at a step, at its best, over the run; what a setting is, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.chat.answers.curve import MOMENT, Curve, curve_of
from traindx.chat.phrases import QUESTION
from traindx.chat.question import Question
from traindx.chat.talk import Talk
from traindx.contract import ConfigValue

_LOOKUP = re.compile(
    r"^(?:and |so |ok |now |please )*(?:what|whats|which|how (?:high|low|large|big|small|many|much|long|far)|show|give"
    r"|compare|print|list|tell me|plot|look up|find|read|did|when (?:is|was)"
    r"|(?:is|was|are) .*(?:logged|recorded|set|used|configured)"
    r"|where (?:is|are|was|do|did) .*(?:set|defined|configured|from))\b"
)
_LENGTH = re.compile(r"\bhow (?:long|far) did|how many (?:epochs|steps|iterations)|length of the run")
_ELSEWHERE = re.compile(
    r"evidence|proof|\bfix|\bdiff\b|\bcauses?\b|citation|\bwrong\b|happen|\bmean|\bshould\b|\belse\b|\bstart|\bbegin"
    r"|did .*(?:break|diverge)|\bexpect"
)
_BREAK = r"(?:it |the \w+ )?(?:broke|breaks?|diverged?|jump\w*|spiked?|rose|exploded?|went (?:up|wrong))"
_BEFORE, _ONSET = re.compile(rf"\b(?:before|prior to) {_BREAK}"), re.compile(rf"\b(?:when|at|after|where) {_BREAK}")
_ENDS = {
    "last": r"\b(?:last|final|finally|end|ended|ends|latest|now|current)\b",
    "first": r"\b(?:first|initial|start|beginning)\b",
}
_EXTREMES = {
    "best": r"\bbest\b",
    "worst": r"\bworst\b",
    "lowest": r"\b(?:lowest|min|minimum|smallest|least)\b",
    "highest": r"\b(?:highest|max|maximum|peak|largest|biggest|most)\b",
}


def asks_for_value(question: Question) -> bool:
    """Whether a value is looked up, rather than a cause explained."""
    if _LENGTH.search(question.plain):
        return True
    metrics = bool(question.series or question.absent)
    if not (metrics or question.settings or question.levers) or _ELSEWHERE.search(question.plain):
        return False
    placed = metrics and bool(MOMENT.search(question.plain) or _word(question.plain, _EXTREMES))
    brief = len(question.plain.split()) <= 4 and bool(metrics or question.settings)
    return bool(_LOOKUP.match(question.plain)) or placed or (brief and not QUESTION.match(question.plain))


async def figure(talk: Talk, question: Question) -> str:
    """The values that the question names, each with its place."""
    moment = MOMENT.search(question.plain) or await _break(talk, question)
    context = await talk.context()
    asked = question.series or [row for row in context.series if row.loss and _LENGTH.search(question.plain)][:1]
    rows: list[str] = []
    for series in asked[:4]:
        curve = await curve_of(talk, series)
        gone = f"- `{series.original}` cannot be read again from {series.source}."
        rows.append(_told(curve, question, moment) if curve else gone)
    logged = ", ".join(dict.fromkeys(f"`{row.original}`" for row in context.series)) or "no metric at all"
    rows += [f"- No {name} was logged. Logged: {logged}." for name in question.absent]
    overall = not moment and not _word(question.plain, _EXTREMES)
    settings = question.settings or _of_levers(question, context.settings)
    if settings and (overall or not rows):
        rows += [] if overall else ["It was not logged over time. Configured is:"]
        rows += [_setting(row) for row in settings[:8]]
    return "\n".join(rows) or await _absent(talk, question)


def _told(curve: Curve, question: Question, moment: re.Match[str] | None) -> str:
    extreme, end = _word(question.plain, _EXTREMES), _word(question.plain, _ENDS)
    if moment:
        return curve.at_moment(moment)
    if extreme:
        return curve.at_extreme(extreme)
    return curve.told(0 if end == "first" else len(curve.values) - 1) if end else curve.overview()


async def _break(talk: Talk, question: Question) -> re.Match[str] | None:
    """The moment of the break, or the last one before it, where the question speaks of it."""
    wanted = "last_good" if _BEFORE.search(question.plain) else "onset" if _ONSET.search(question.plain) else ""
    cause = talk.cause(question.cause)
    belief = await talk.belief(cause.id) if cause and wanted else None
    return MOMENT.search(str(belief.facts.get(wanted, ""))) if belief else None


def _of_levers(question: Question, settings: Sequence[ConfigValue]) -> list[ConfigValue]:
    """Settings under other names for what is asked about: `hidden_size` for the size of the model."""
    keys = [lever.keys for lever in question.levers if lever.keys is not None]
    found = [row for row in settings if any(key.search(row.key) for key in keys)]
    return list({(row.key, str(row.value)): row for row in reversed(found)}.values())[::-1]


def _setting(row: ConfigValue) -> str:
    return f"- `{row.key}` = {row.value} ({row.source}:{row.line})"


async def _absent(talk: Talk, question: Question) -> str:
    """What the code shows of a lever that no setting names, or that nothing does."""
    context = await talk.context()
    if any(lever.name == "the optimizer" for lever in question.levers):
        built = [trait.removeprefix("optimizer-") for trait in context.traits if trait.startswith("optimizer-")]
        if built:
            return f"No setting names it; the code builds {', '.join(f'`{name}`' for name in built)}."
    names = " or ".join(lever.name for lever in question.levers) or "that"
    claims = [signal.claim for signal in await talk.signals()]
    said = [claim for claim in claims if any(lever.pattern.search(claim) for lever in question.levers)]
    found = f" What was found: {said[0]}." if said else ""
    read = ", ".join(dict.fromkeys(row.source for row in context.settings)) or "no configuration"
    return f"No metric and no setting for {names} was found (settings were read from: {read}).{found}"


def _word(text: str, table: dict[str, str]) -> str:
    return next((name for name, pattern in table.items() if re.search(pattern, text)), "")
