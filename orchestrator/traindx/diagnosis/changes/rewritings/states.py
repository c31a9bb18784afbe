"""Recurrent state that has to leave its graph behind."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.carrying import carried_in, training_loops
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls
from traindx.readers.code.codeunit import CodeUnit

_PAIRED = ("LSTM", "LSTMCell")
_SINGLE = ("GRU", "GRUCell", "RNN", "RNNCell")


def detach(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Detach the state behind `backward()`: there it exists in every iteration, and its graph is spent."""
    return _rewritten(code, facts, "state_place")


def drop_retaining(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Take `retain_graph=True` away and detach the state instead."""
    return _rewritten(code, facts, "backward_place")


def _rewritten(code: Sequence[CodeUnit], facts: Mapping[str, Fact], place: str) -> Rewritten:
    source, line = at_fact(code, facts, place)
    loop = _loop_at(source, line)
    retaining = next((call for call in calls(loop, "backward") if _retaining(call)), None)
    if retaining is not None:
        _drop(source, retaining)
    said = _detached(source, loop, code)
    return source.rewritten(f"The diff {'takes `retain_graph=True` away and ' if retaining else ''}adds {said}.")


def _drop(source: Source, call: ast.Call) -> None:
    """Take `retain_graph` out of a call, with the comma that belongs to it."""
    if call.lineno != call.end_lineno:
        raise Unfit(f"the call of `backward` at {source.place(call.lineno)} goes over several lines")
    keyword = next(key for key in call.keywords if key.arg == "retain_graph")
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    others = sorted(given, key=lambda part: part.col_offset)
    place = others.index(keyword)
    if len(others) == 1:
        start, end = keyword.col_offset, keyword.end_col_offset
    elif place == 0:
        start, end = keyword.col_offset, others[1].col_offset
    else:
        start, end = others[place - 1].end_col_offset or 0, keyword.end_col_offset
    source.cut(call.lineno, start, end or start)


def assign(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Keep what `detach()` returns, in the statement that the rule cites and in those beside it."""
    source, line = at_fact(code, facts, "rule_place")
    statement = source.statement_at(line)
    if _discarding(statement) is None:
        raise Unfit(f"what is detached at {source.place(line)} has no name to assign the result to")
    names = []
    for one in _beside(source, statement):
        owner = _discarding(one)
        if owner is not None and isinstance(one, ast.Expr):
            names.append(ast.unparse(owner))
            source.replace(one.value, f"{names[-1]} = {ast.unparse(one.value)}")
    said = "the result" if len(names) == 1 else "the results"
    return source.rewritten(f"The diff assigns {said} to {' and '.join(f'`{name}`' for name in names)}.")


def _discarding(statement: ast.stmt) -> ast.expr | None:
    """What a statement detaches for nothing: the owner of `h.detach()`, the argument of a helper, `repackage(h)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    own = isinstance(call.func, ast.Attribute) and call.func.attr == "detach" and not call.args
    owner = call.func.value if own and isinstance(call.func, ast.Attribute) else None
    if not own and len(call.args) == 1:
        owner = call.args[0]
    return owner if isinstance(owner, ast.Name | ast.Attribute | ast.Subscript) else None


def _beside(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statement, with those around it that detach another part of the state in the same way."""
    blocks = [
        rows
        for node in ast.walk(source.unit.tree)
        for rows in (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
        if isinstance(rows, list)
    ]
    block = next((rows for rows in blocks if statement in rows), [statement])
    place = block.index(statement)
    first, last = place, place
    while first and _alike(block[first - 1], statement):
        first -= 1
    while last + 1 < len(block) and _alike(block[last + 1], statement):
        last += 1
    return block[first : last + 1]


def _alike(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements call the same on two names: `h.detach()` and `c.detach()`."""
    if not (isinstance(one, ast.Expr) and isinstance(other, ast.Expr)) or _discarding(one) is None:
        return False
    return _called(one.value) == _called(other.value)


def _called(value: ast.expr) -> str:
    if not isinstance(value, ast.Call):
        return ""
    return (
        f".{value.func.attr}" if isinstance(value.func, ast.Attribute) and not value.args else ast.unparse(value.func)
    )


def _loop_at(source: Source, line: int) -> ast.For | ast.While:
    loops = training_loops(source.unit.tree)
    here = [loop for loop in loops if loop.lineno <= line <= (loop.end_lineno or line)]
    if not here:
        raise Unfit(f"no training loop was found around {source.place(line)}")
    return here[-1]


def _detached(source: Source, loop: ast.For | ast.While, code: Sequence[CodeUnit]) -> str:
    """Put the line that detaches every state of a loop behind its `backward()`; what was put where."""
    names = list(carried_in(loop))
    behind = next(calls(loop, "backward"), None)
    if behind is None or not names:
        raise Unfit("the loop has no `backward()` behind which the state could be detached")
    text = _statement(names, code)
    at = source.statement_at(behind.lineno)
    source.insert_after(at, text)
    return f"`{text}` behind `backward()` ({source.place(at.end_lineno or at.lineno)})"


def _statement(names: Sequence[str], code: Sequence[CodeUnit]) -> str:
    """`h = h.detach()`; an LSTM that hands on one name hands on a pair."""
    if len(names) > 1:
        return f"{', '.join(names)} = {', '.join(f'{name}.detach()' for name in names)}"
    name = names[0]
    paired = any(True for unit in code for _ in calls(unit.tree, *_PAIRED))
    single = any(True for unit in code for _ in calls(unit.tree, *_SINGLE))
    parts = f"tuple(part.detach() for part in {name})"
    if paired and not single:
        return f"{name} = {parts}"
    if single and not paired:
        return f"{name} = {name}.detach()"
    return f"{name} = {parts} if isinstance({name}, tuple) else {name}.detach()"


def _retaining(call: ast.Call) -> bool:
    return any(key.arg == "retain_graph" for key in call.keywords)
