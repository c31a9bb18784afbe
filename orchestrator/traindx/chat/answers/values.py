"""Values: what a metric was at a step, at its best, over the run; what a setting is, and where it stands."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.chat.answers.cause import place, without
from traindx.chat.phrases import QUESTION
from traindx.chat.question import Question
from traindx.chat.session import ChatSession
from traindx.contract import ConfigValue, SeriesSummary

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
    if not (metrics or question.settings or question.tunables) or _ELSEWHERE.search(question.plain):
        return False
    placed = metrics and bool(MOMENT.search(question.plain) or _word(question.plain, _EXTREMES))
    brief = len(question.plain.split()) <= 4 and bool(metrics or question.settings)
    return bool(_LOOKUP.match(question.plain)) or placed or (brief and not QUESTION.match(question.plain))


async def figure(session: ChatSession, question: Question) -> str:
    """The values that the question names, each with its place."""
    moment = MOMENT.search(question.plain) or await _break(session, question)
    context = await session.context()
    asked = question.series or [row for row in context.series if row.loss and _LENGTH.search(question.plain)][:1]
    rows: list[str] = []
    for series in asked[:4]:
        curve = await curve_of(session, series)
        gone = f"- `{series.original}` cannot be read again from {series.source}."
        rows.append(_told(curve, question, moment) if curve else gone)
    logged = ", ".join(dict.fromkeys(f"`{row.original}`" for row in context.series)) or "no metric at all"
    rows += [f"- No {name} was logged. Logged: {logged}." for name in question.absent]
    overall = not moment and not _word(question.plain, _EXTREMES)
    settings = question.settings or _of_levers(question, context.settings)
    if settings and (overall or not rows):
        rows += [] if overall else ["It was not logged over time. Configured value:"]
        rows += [_setting(row) for row in settings[:8]]
    return "\n".join(rows) or await _absent(session, question)


def _told(curve: Curve, question: Question, moment: re.Match[str] | None) -> str:
    extreme, end = _word(question.plain, _EXTREMES), _word(question.plain, _ENDS)
    if moment:
        return curve.at_moment(moment)
    if extreme:
        return curve.at_extreme(extreme)
    return curve.told(0 if end == "first" else len(curve.values) - 1) if end else curve.overview()


async def _break(session: ChatSession, question: Question) -> re.Match[str] | None:
    """The moment of the break, or the last one before it, where the question speaks of it."""
    wanted = "last_good" if _BEFORE.search(question.plain) else "onset" if _ONSET.search(question.plain) else ""
    cause = session.cause(question.cause)
    belief = await session.belief(cause.id) if cause and wanted else None
    return MOMENT.search(str(belief.facts.get(wanted, ""))) if belief else None


def _of_levers(question: Question, settings: Sequence[ConfigValue]) -> list[ConfigValue]:
    """Settings under other names for what is asked about: `hidden_size` for the size of the model."""
    keys = [tunable.keys for tunable in question.tunables if tunable.keys is not None]
    found = [row for row in settings if any(key.search(row.key) for key in keys)]
    return list({(row.key, str(row.value)): row for row in reversed(found)}.values())[::-1]


def _setting(row: ConfigValue) -> str:
    return f"- `{row.key}` = {row.value} ({row.source}:{row.line})"


async def _absent(session: ChatSession, question: Question) -> str:
    """What the code shows of a tunable that no setting names, or that nothing does."""
    context = await session.context()
    if any(tunable.name == "the optimizer" for tunable in question.tunables):
        built = [trait.removeprefix("optimizer-") for trait in context.traits if trait.startswith("optimizer-")]
        if built:
            return f"No setting names it; the code builds {', '.join(f'`{name}`' for name in built)}."
    names = " or ".join(tunable.name for tunable in question.tunables) or "that"
    claims = [signal.claim for signal in await session.signals()]
    said = [claim for claim in claims if any(tunable.pattern.search(claim) for tunable in question.tunables)]
    found = f" What was found: {said[0]}." if said else ""
    read = ", ".join(dict.fromkeys(row.source for row in context.settings)) or "no configuration"
    return f"No metric and no setting for {names} was found (settings were read from: {read}).{found}"


def _word(text: str, table: dict[str, str]) -> str:
    return next((name for name, pattern in table.items() if re.search(pattern, text)), "")


METRICS = "extract_training_metrics"
MOST_POINTS = 100_000
MOMENT = re.compile(
    r"\b(step|epoch|iteration|iter|update|round|batch|row)s?\s?(?:number |no\.? |#)?(\d[\d,_]*(?:\.\d+)?)(k)?\b"
)
_AXES = {"step": "step", "iteration": "step", "iter": "step", "update": "step", "batch": "step", "round": "step"}
_LARGER_IS_BETTER = re.compile(r"acc|f1|auc|precision|recall|bleu|rouge|iou|dice|reward|return|r2|psnr|ssim|score")


@dataclass(frozen=True)
class Curve:
    """Every logged point of one metric."""

    series: SeriesSummary
    at: list[float]
    values: list[float]
    lines: list[int]

    @property
    def thinned(self) -> bool:
        """Whether some of the logged points are not among these."""
        return len(self.at) < self.series.points

    def told(self, index: int) -> str:
        """One point with its place."""
        line = f":{self.lines[index]}" if self.lines[index] > 0 else ""
        where = f"{self.series.axis} {self.at[index]:g}"
        return f"- `{self.series.original}` at {where}: {self.values[index]:.6g} ({self.series.source}{line})"

    def at_moment(self, match: re.Match[str]) -> str:
        """The point at a step or epoch, or the nearest one, or that it is counted otherwise."""
        axis, own = _AXES.get(match[1], match[1]), self.series.axis
        span = f"{own} {self.series.start:g} to {self.series.end:g}"
        if axis != own:
            return f"- `{self.series.original}` is logged per {own} ({span}), not per {axis}."
        wanted = float(match[2].replace(",", "").replace("_", "")) * (1000 if match[3] else 1)
        if not self.series.start <= wanted <= self.series.end:
            return f"- `{self.series.original}` was logged from {span}: there is no {own} {wanted:g}."
        nearest = min(range(len(self.at)), key=lambda index: abs(self.at[index] - wanted))
        if self.at[nearest] == wanted:
            return self.told(nearest)
        return f"{self.told(nearest)}; {own} {wanted:g} itself was not {'kept' if self.thinned else 'logged'}"

    def at_extreme(self, which: str) -> str:
        """The `best`, `worst`, `lowest` or `highest` point."""
        finite = [index for index, value in enumerate(self.values) if math.isfinite(value)]
        if not finite:
            return f"- `{self.series.original}` has no finite value."
        low, high = min(finite, key=self.values.__getitem__), max(finite, key=self.values.__getitem__)
        larger = _LARGER_IS_BETTER.search(self.series.name) is not None
        if which in {"best", "worst"} and not self.series.loss and not larger:
            return f"{self.told(low)}, the lowest; {self.told(high)[2:]}, the highest"
        upper = which == "highest" or (which in {"best", "worst"} and larger is (which == "best"))
        if self.thinned:
            exact = self.series.highest if upper else self.series.lowest
            return f"- `{self.series.original}`: {exact:.6g} is its {which} ({self.series.source})"
        return f"{self.told(high if upper else low)}, its {which}"

    def overview(self) -> str:
        """From its first point to its last."""
        row = self.series
        bad = f", {row.non_finite} not finite" if row.non_finite else ""
        return (
            f"- `{row.original}`: {row.first:.6g} at {row.axis} {row.start:g}, {row.last:.6g} at {row.axis}"
            f" {row.end:g}; lowest {row.lowest:.6g}, highest {row.highest:.6g}, {row.points} points{bad} ({row.source})"
        )


async def curve_of(session: ChatSession, series: SeriesSummary) -> Curve | None:
    """The points, read by the tool that extracts metrics."""
    result = await session.call(METRICS, {"name": series.name, "max_points": MOST_POINTS})
    for row in result.output.get("points", []) if result.status == "ok" else []:
        if row["name"] == series.name and row["source"] == series.source and row["values"]:
            return Curve(series, row["at"], [float(value) for value in row["values"]], row["lines"])
    return None


_MOMENT = re.compile(r"\b(?:epoch|step) (\d+(?:\.\d+)?)")


async def when(session: ChatSession, question: Question) -> str:
    """The moment of the break, with the findings that show it; or that the evidence knows no moment."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    belief = await session.belief(cause.id)
    facts = belief.facts if belief else {}
    moments = [(float(match[1]), piece) for piece in cause.evidence if (match := _MOMENT.search(piece.locator))]
    rows = [
        f"- {piece.claim} ({place(piece.source, piece.locator)})"
        for _, piece in sorted(moments, key=lambda row: row[0])
        if piece.kind != "contrary"
    ]
    if "onset" in facts:
        good = f"; the last good point is {facts['last_good']}" if "last_good" in facts else ""
        return "\n".join([f"At {facts['onset']}{good}.", *rows])
    if rows:
        return "\n".join(["The evidence points to these moments:", *rows])
    where = place(cause.evidence[0].source, cause.evidence[0].locator) if cause.evidence else "no place"
    return f"The evidence for `{cause.id}` names no single moment: it is in {where} and applies to the whole run."
