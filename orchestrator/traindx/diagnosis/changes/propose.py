"""The fix of a cause with its diff, or with a sentence on what is not known."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.contract import ContextPackage, Fact, Fix
from traindx.diagnosis.changes.choose import NOT_FOUND, Chosen, Unknown, choose
from traindx.diagnosis.changes.declared import Change, Companion
from traindx.diagnosis.changes.spelling import number
from traindx.diagnosis.changes.wanted import PATCH, NewValue, Patched
from traindx.diagnosis.wording import first_value
from traindx.readers.configs.values import scalar
from traindx.runtime import Toolbelt


def with_diff(
    fix: Fix, changes: tuple[Change, ...], facts: Mapping[str, Fact], context: ContextPackage, toolbelt: Toolbelt
) -> Fix:
    """The fix with the first of the changes that the run has a place for; else with what is missing for one."""
    if fix.diff:
        return fix
    facts = {**_lengths(context), **facts}
    reasons = []
    for change in changes:
        try:
            if change.unknown:
                raise Unknown(change.unknown)
            if change.code:
                diff, said = _coded(change.code, facts, toolbelt)
            else:
                diff, said = _configured(change, facts, context, toolbelt)
        except Unknown as unknown:
            reasons.append(str(unknown))
            continue
        return fix.model_copy(update={"diff": diff, "summary": _joined(fix.summary, said)})
    # What is known of the value tells most, then what the code lacks; that a name was not found tells least.
    told = sorted((reason for reason in reasons if reason), key=lambda reason: reason.startswith(NOT_FOUND))
    why = told[0] if told else "which line of these files to change, and to what, is not known"
    return fix.model_copy(update={"summary": _joined(fix.summary, f"No diff: {why}.")})


def _lengths(context: ContextPackage) -> dict[str, Fact]:
    """How many steps and epochs the run made, where it counted them."""
    ends: dict[str, Fact] = {}
    for axis in ("step", "epoch"):
        made = [row.end for row in context.series if row.axis == axis and row.points > 1 and row.end > 0]
        if made:
            ends[f"run_{axis}s"] = max(made)
    return ends


def _coded(rewriting: str, facts: Mapping[str, Fact], toolbelt: Toolbelt) -> tuple[str, str]:
    patched = _patched(toolbelt, {"code": rewriting, "facts": dict(facts)})
    return patched.diff, patched.did


def _configured(
    change: Change, facts: Mapping[str, Fact], context: ContextPackage, toolbelt: Toolbelt
) -> tuple[str, str]:
    chosen = choose(change, context, facts)
    rows = [_new_value(change, chosen, facts)]
    for companion in change.also:
        try:
            rows.append(_new_value(companion, choose(companion, context, facts), facts))
        except Unknown:
            continue
    patched = _patched(toolbelt, {"values": [row.model_dump() for row in rows]})
    placed = list(zip(rows, patched.places, strict=True))
    said = " and ".join(_told(row, place) for row, place in placed)
    over = ", ".join(f"{row.source}:{row.line}" for row in chosen.overruled[:3])
    return patched.diff, f"The diff sets {said}" + (f", which overrules {over}." if over else ".")


def _new_value(change: Companion, chosen: Chosen, facts: Mapping[str, Fact]) -> NewValue:
    row = chosen.row
    text = first_value(change.to, {**facts, "value": row.value, "key": row.key})
    new = scalar(text)
    if text in {"", "None"} or new == row.value:
        raise Unknown("")
    return NewValue(source=row.source, line=row.line, key=row.key, old=row.value, new=new)


def _patched(toolbelt: Toolbelt, asked: Mapping[str, object]) -> Patched:
    result = toolbelt.run(PATCH, asked)
    if result.status != "ok":
        raise Unknown(f"the change could not be written ({result.reason})")
    patched = Patched.model_validate(result.output)
    if not patched.diff:
        raise Unknown(patched.why_not)
    return patched


def _told(row: NewValue, place: str) -> str:
    shown = [number(value) if isinstance(value, float) else value for value in (row.old, row.new)]
    return f"`{row.key.rsplit('.', 1)[-1]}` from {shown[0]} to {shown[1]} ({place})"


def _joined(summary: str, said: str) -> str:
    return f"{summary} {said}" if said and said not in summary else summary
