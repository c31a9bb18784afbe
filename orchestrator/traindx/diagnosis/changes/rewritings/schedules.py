"""Where a scheduler steps: once for each unit that its arguments are counted in."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls
from traindx.readers.code.codeunit import CodeUnit


def step_as_counted(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Move the scheduler's step out of the loop over batches, or into it."""
    unit = facts.get("schedule_unit")
    if unit is None:
        raise Unfit("")
    if unit not in {"in epochs", "in batches"}:
        raise Unfit("the scheduler steps where it should, and its arguments are at fault")
    source, line = at_fact(code, facts, "schedule_place")
    statement = source.statement_at(line)
    loops = [loop for loop in source.around(line, ast.For, ast.AsyncFor, ast.While) if loop is not statement]
    if not isinstance(statement, ast.Expr) or not loops:
        raise Unfit(f"the call at {source.place(line)} is no statement of its own in a loop")
    text = source.segment(statement.value)
    if "\n" in text:
        raise Unfit(f"the call at {source.place(line)} goes over several lines")
    source.remove(statement)
    if unit == "in epochs":
        if len(loops) < 2:
            raise Unfit(f"the loop over epochs is not around the one at {source.place(loops[-1].lineno)}")
        source.insert_after(loops[-1], text)
        return source.rewritten(f"The diff moves `{text}` behind the loop over batches: once per epoch.")
    source.insert_after(_update(source, loops[-1], statement), text)
    return source.rewritten(f"The diff moves `{text}` behind the optimizer's step: once per batch.")


def _update(source: Source, epochs: ast.stmt, schedule: ast.Expr) -> ast.stmt:
    """The statement in the loop over batches that updates the weights."""
    own = {id(call) for call in calls(schedule, "step")}
    for loop in ast.walk(epochs):
        if not isinstance(loop, ast.For | ast.While) or loop is epochs or not any(calls(loop, "backward")):
            continue
        updates = [call for call in calls(loop, "step") if id(call) not in own]
        if updates:
            return source.statement_at(max(call.lineno for call in updates))
    raise Unfit("the optimizer's step is not in a loop inside the one over epochs")
