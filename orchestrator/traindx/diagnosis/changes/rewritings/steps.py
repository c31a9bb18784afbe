"""The order of a training step: clearing, backward, clipping, step, and what is kept of the loss."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of


def clear(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Clear the gradients before the backward pass."""
    source, line = at_fact(code, facts, "backward_place")
    if "optimizer" not in facts:
        raise Unfit("each parameter's `grad` is to be set to None after the update")
    text = f"{facts['optimizer']}.zero_grad()"
    source.insert_before(source.statement_at(line), text)
    return source.rewritten(f"The diff adds `{text}` before `backward()` ({source.place(line)}).")


def add_backward(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put the backward pass before the step; return the loss where a framework makes the pass."""
    source, line = at_fact(code, facts, "loss_place")
    statement = source.statement_at(line)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        raise Unfit(f"the loss at {source.place(line)} has no name to call `backward()` on")
    if "no_return" in facts:
        _, begin = at_fact(code, facts, "no_return")
        function = source.statement_at(begin)
        last = function.body[-1] if isinstance(function, ast.FunctionDef) else statement
        source.insert_after(last, f"return {target.id}")
        return source.rewritten(f"The diff returns `{target.id}` from `training_step`.")
    text = f"{target.id}.backward()"
    step = list(source.unit.lines_called(str(facts.get("step_place", ""))))
    at = source.statement_at(step[0]) if step and step[0] > line else None
    if at is not None:
        source.insert_before(at, text)
    else:
        source.insert_after(statement, text)
    return source.rewritten(f"The diff adds `{text}` before the step.")


def add_step(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put the step behind the backward pass."""
    source, line = at_fact(code, facts, "backward_place")
    made, built = at_fact(code, facts, "optimizer_place")
    statement = made.statement_at(built)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or made.unit.path != source.unit.path:
        raise Unfit("the optimizer has no plain name in the file of the loop")
    text = f"{target.id}.step()"
    source.insert_after(source.statement_at(line), text)
    return source.rewritten(f"The diff adds `{text}` behind `backward()` ({source.place(line)}).")


def order(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Move the clearing before the backward pass, or behind the step that waits for several batches, or the step behind
    the backward pass."""
    if "waits_for" in facts:
        return _clear_behind(code, facts)
    name = "zero_place" if "zero_place" in facts else "step_place"
    source, line = at_fact(code, facts, name)
    statement = source.statement_at(line)
    other, back = at_fact(code, facts, "backward_place")
    if other.unit.path != source.unit.path or not isinstance(statement, ast.Expr):
        raise Unfit("the calls do not stand in one file as statements of their own")
    text = ast.unparse(statement)
    source.remove(statement)
    behind = source.statement_at(back)
    if name == "zero_place":
        source.insert_before(behind, text)
    else:
        source.insert_after(behind, text)
    where = "before" if name == "zero_place" else "behind"
    return source.rewritten(f"The diff moves `{text}` {where} `backward()` ({source.place(back)}).")


def _clear_behind(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    source, line = at_fact(code, facts, "zero_place")
    statement = source.statement_at(line)
    other, at = at_fact(code, facts, "step_place")
    if other.unit.path != source.unit.path or not isinstance(statement, ast.Expr):
        raise Unfit("the calls do not stand in one file as statements of their own")
    text = ast.unparse(statement)
    source.remove(statement)
    source.insert_after(source.statement_at(at), text)
    return source.rewritten(f"The diff moves `{text}` behind `step()` ({source.place(at)}).")


def divide(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Divide the loss by the number of accumulated batches."""
    source, line = at_fact(code, facts, "backward_place")
    every = str(facts.get("every", ""))
    call = next(calls(source.statement_at(line), "backward"), None)
    if call is None or not isinstance(call.func, ast.Attribute) or not every:
        raise Unfit(f"no plain `backward()` at {source.place(line)}")
    owner = call.func.value
    target: ast.expr = owner
    if isinstance(owner, ast.Call) and name_of(owner.func) == "scale" and owner.args:
        target = owner.args[0]
    inner = f"{source.segment(target)} / {every}"
    text = inner if target is not owner else f"({inner})"
    source.replace(target, text)
    return source.rewritten(f"The diff divides the loss by `{every}` ({source.place(line)}).")


def move_clipping(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put the clipping between backward and step; with a loss scaler, unscale first."""
    source, line = at_fact(code, facts, "clip_place")
    statement = source.statement_at(line)
    why = str(facts.get("why", ""))
    if why == "before `unscale_`":
        return _unscaled(source, statement)
    other, at = at_fact(code, facts, "other_place")
    if other.unit.path != source.unit.path or not isinstance(statement, ast.Expr):
        raise Unfit("what is clipped is used in the same statement" if why else "")
    text = source.segment(statement.value)
    if "\n" in text:
        raise Unfit(f"the call at {source.place(line)} goes over several lines")
    source.remove(statement)
    if why == "after `step()`":
        source.insert_before(source.statement_at(at), text)
    else:
        source.insert_after(source.statement_at(at), text)
    return source.rewritten("The diff moves the clipping between `backward()` and `step()`.")


def _unscaled(source: Source, statement: ast.stmt) -> Rewritten:
    for call in calls(source.unit.tree, "step"):
        if isinstance(call.func, ast.Attribute) and call.args and "scaler" in ast.unparse(call.func.value).lower():
            text = f"{ast.unparse(call.func.value)}.unscale_({ast.unparse(call.args[0])})"
            source.insert_before(statement, text)
            return source.rewritten(f"The diff adds `{text}` before the clipping.")
    raise Unfit("the scaler's own step was not found in the file")


def keep_number(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Keep the number of a loss instead of the tensor with its graph."""
    source, line = at_fact(code, facts, "kept_place")
    statement = source.statement_at(line)
    value = _kept(statement)
    if value is None:
        raise Unfit(f"what is kept at {source.place(line)} is not a plain expression")
    plain = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    segment = source.segment(value)
    text = f"{segment}.item()" if plain else f"({segment}).item()"
    source.replace(value, text)
    return source.rewritten(f"The diff keeps the number: `{text}` ({source.place(line)}).")


def _kept(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AugAssign):
        value = statement.value
        # `total += loss * n`: the number is taken from the tensor.
        return value.left if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) else value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        return statement.value.args[0]
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        return statement.value.right
    return None
