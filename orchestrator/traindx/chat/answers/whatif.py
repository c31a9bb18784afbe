"""What would happen if: answered from the fix, the catalog and the facts found; honest where they do not tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from traindx.chat.answers.cause import verdict
from traindx.chat.answers.evidence import sentences_about
from traindx.chat.question import Question
from traindx.chat.session import ChatSession
from traindx.contract import ConfigValue, Fact, RootCause
from traindx.diagnosis.findings import Excluded
from traindx.vocabulary.tunables import Tunable

RATE = "the learning rate"
MOST_SENTENCES = 3
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.]*\d)(?!\s?(?:x|times|fold)\b)")
_RELATIVE = re.compile(r"\b\d+ (?:more|fewer|less|extra|additional|\w+ (?:more|less|longer))\b|\b(?:by|plus|minus) \d")
_FACTORS = (
    (r"\bhalv\w+|\bhalf\b", 0.5),
    (r"\bdoubl\w+|\btwice\b", 2.0),
    (r"\btripl\w+", 3.0),
    (r"\b(?:ten|10) ?(?:x|times) (?:smaller|lower|less)|\ba tenth\b|divide\w* .*\bby (?:10|ten)\b", 0.1),
    (r"\b(?:ten|10) ?(?:x|times)\b|multiply .*\bby (?:10|ten)\b", 10.0),
)


async def whatif(session: ChatSession, question: Question) -> str:
    """What is known about a change."""
    cause = session.cause(question.cause)
    if not question.tunables:
        known = f"The fix the evidence supports: {cause.fix.summary}" if cause else verdict(session)
        return f"This run does not show what that would do. {known}"
    tunable = question.tunables[0]
    belief = await session.belief(cause.id) if cause else None
    facts = belief.facts if belief else {}
    now = await _now(session, tunable, facts)
    wanted = _wanted(question.plain, now)
    parts = [_is_now(tunable, now), _would_be(now, wanted)]
    if cause is None:
        return _joined([*parts, verdict(session), f"This run does not show what changing {tunable.name} would do."])
    if tunable.name == RATE and wanted is not None:
        parts.append(_between(wanted, facts))
    elif found := await _found(session, tunable):
        parts.append(f"Found in this run: {found[0]}.")
    return _joined([*parts, *_judged(session, cause, tunable)])


async def blame(session: ChatSession, question: Question) -> str:
    """Whether a setting is at fault, as far as the cause and the findings speak of it."""
    cause = session.cause(question.cause)
    tunable = question.tunables[0]
    now = _is_now(tunable, await _now(session, tunable, {}))
    if cause is None:
        return _joined([now, verdict(session)])
    found = [f"- {claim}" for claim in (await _found(session, tunable))[:MOST_SENTENCES]]
    if tunable.pattern.search(cause.issue):
        return _joined([f"Yes. {cause.issue}", now, *found])
    no = f"Not according to the evidence, which points to `{cause.name}`. {cause.issue}"
    return _joined([no, now, f"What was found about {tunable.name}:" if found else "", *found])


def _judged(session: ChatSession, cause: RootCause, tunable: Tunable) -> list[str]:
    """What the fix and the catalog say about the tunable, and what is left to trying."""
    fix = cause.fix
    supported = f"The fix the evidence supports: {fix.summary}"
    if tunable.pattern.search(fix.summary):
        return [f"The fix changes the same thing: {fix.summary}", f"Expect: {fix.expected}"]
    if tunable.pattern.search(fix.fallback):
        return [f"That is the fallback if the fix does not help: {fix.fallback}", supported]
    mode = session.catalog.get(cause.id)
    sentences = sentences_about(mode, ("Fix", "If that fails", "Verify"), tunable.pattern) if mode else []
    if sentences:
        rows = [f"- {row}" for row in sentences[:MOST_SENTENCES]]
        return [f"The catalog says about that, under `{cause.id}`:", *rows, supported]
    return [
        f"Nothing found links {tunable.name} to `{cause.name}`: this run does not show what it would do.",
        *_remedy_for(session, tunable),
        supported,
        f"To try yours instead, change nothing else and verify it the same way: {fix.verify}",
    ]


def _remedy_for(session: ChatSession, tunable: Tunable) -> list[str]:
    """What was set aside and would be mended with this tunable."""
    rows = []
    for row in session.diagnosis.excluded:
        named = [mode for name, mode in session.catalog.items() if name == Excluded.parse(row).id]
        if any(tunable.pattern.search(" ".join(mode.fix.summary)) for mode in named):
            rows.append(f"It would fix something that was set aside: {row}.")
    return rows[:1]


async def _found(session: ChatSession, tunable: Tunable) -> list[str]:
    """What the tools found about a tunable."""
    return [signal.claim for signal in await session.signals() if tunable.pattern.search(signal.claim)]


async def _now(session: ChatSession, tunable: Tunable, facts: Mapping[str, Fact]) -> list[ConfigValue]:
    """The tunable's settings; where the finding blames one of them, that one."""
    context = await session.context()
    rows = [row for row in context.settings if tunable.keys is not None and tunable.keys.search(row.key)]
    rows = list({(row.key, str(row.value)): row for row in reversed(rows)}.values())[::-1]
    blamed = facts.get("lr_key") if tunable.name == RATE else None
    return [row for row in rows if row.key == blamed][:1] or rows[:3]


def _is_now(tunable: Tunable, now: list[ConfigValue]) -> str:
    stands = ", ".join(f"`{row.key}` = {row.value} ({row.source}:{row.line})" for row in now)
    return f"Currently: {stands}." if stands else f"No setting for {tunable.name} was found."


def _wanted(text: str, now: list[ConfigValue]) -> float | None:
    """The value that is thought of, where the question tells."""
    factor = next((factor for pattern, factor in _FACTORS if re.search(pattern, text)), None)
    old = now[0].value if now else None
    if factor is not None:
        return old * factor if isinstance(old, int | float) and not isinstance(old, bool) else None
    numbers = [] if _RELATIVE.search(text) else _NUMBER.findall(text)
    return float(numbers[-1]) if numbers else None


def _would_be(now: list[ConfigValue], wanted: float | None) -> str:
    plain = bool(now) and isinstance(now[0].value, int | float) and not isinstance(now[0].value, bool)
    return f"With your change: {wanted:g} instead of {now[0].value}." if plain and wanted is not None else ""


def _between(wanted: float, facts: Mapping[str, Fact]) -> str:
    """Where a rate lies between the last one that worked and the one that broke."""
    good, bad = facts.get("lr_before"), facts.get("lr_after")
    if not isinstance(good, int | float) or not isinstance(bad, int | float) or not good < bad:
        return ""
    if wanted <= good:
        return f"The loss was falling at {good:g} and broke at {bad:g}: {wanted:g} is on the safe side."
    if wanted >= bad:
        return f"The loss already broke at {bad:g}: expect the same or worse with {wanted:g}."
    return f"The loss was falling at {good:g} and broke at {bad:g}: only a test run can tell whether {wanted:g} holds."


def _joined(parts: list[str]) -> str:
    return "\n".join(part for part in parts if part)
