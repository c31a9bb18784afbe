"""Loops: twice around, so that what one iteration hands to the next is seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx.program import binding, conditions, expressions
from traindx.program.joining import join
from traindx.program.streams import stream_of
from traindx.program.values import (
    Instance,
    Items,
    Layer,
    Mapping,
    Object,
    Plain,
    Scope,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

FEW = 8
"""elements of a known list that are gone through one by one"""
MODULES = 24
TIMES = 2


def follow_for(m: Machine, node: ast.For | ast.AsyncFor) -> str:
    """A loop over a known short list element by element, over anything else twice."""
    from traindx.program.statements import follow

    source = expressions.evaluate(m, node.iter)
    loop = m.loop(node, _source(source), node.target.id if isinstance(node.target, ast.Name) else "")
    m.event("loop", node, source, loop=loop)
    status, mark, first = "", m.journal.mark(), len(m.paths)
    for number, element in enumerate(_elements(m, source), 1):
        with m.turn(loop, number):
            binding.bind(m, node.target, element, node)
            status = follow(m, node.body)
        if status in {"return", "raise", "break"}:
            break
    carried(m, node, mark, first)
    if status in {"return", "raise"}:
        return status
    return follow(m, node.orelse) if node.orelse and status != "break" else ""


def one_by_one(node: ast.AST, source: Value) -> bool:
    """Whether a loop goes through a known list element by element; else one element stands for all."""
    if not isinstance(source, Items) or source.more:
        return False
    if not isinstance(node, ast.For | ast.AsyncFor):
        return _is_short(source)
    return len(source.items) <= (TIMES if all(isinstance(item, Plain) for item in source.items) else _limit(source))


def _source(value: Value) -> Value:
    return value.source if isinstance(value, Stream) else value


def _elements(m: Machine, source: Value) -> Iterator[Value]:
    if isinstance(source, Items) and not source.more and 0 < len(source.items) <= _limit(source):
        if not all(isinstance(item, Plain) for item in source.items):
            yield from list(source.items)
            return
        if len(source.items) <= TIMES:
            yield from list(source.items)
            return
    if isinstance(source, Items) and not source.items and not source.more:
        return
    inner = container(source)
    if inner is not None and 0 < len(inner.items) <= MODULES:
        yield from inner.items
        return
    element = stream_of(m, source).element
    for _ in range(TIMES):
        yield element


def container(source: Value) -> Items | None:
    """The modules of a `Sequential` or a list of modules, as a list."""
    if not isinstance(source, Layer) or source.kind not in {"Sequential", "ModuleList"} or "@more" in source.fields:
        return None
    rows = [child for name, child in source.fields.items() if not name.startswith("@")]
    return Items(rows, "list") if all(isinstance(row, Layer | Instance) for row in rows) else None


def _limit(source: Items) -> int:
    """Modules are gone through one by one even where they are many: each may be replaced by another."""
    rows = [part.items[-1] if isinstance(part, Items) and part.items else part for part in source.items]
    return MODULES if all(isinstance(row, Layer | Instance) for row in rows) else FEW


def follow_while(m: Machine, node: ast.While) -> str:
    """A `while` loop, twice around unless its condition is false from the start."""
    from traindx.program.statements import follow

    if conditions.truth(m, node.test) is False:
        return follow(m, node.orelse)
    loop = m.loop(node, Plain(None))
    m.event("loop", node, Plain(None), loop=loop)
    status, mark, first = "", m.journal.mark(), len(m.paths)
    for number in range(1, TIMES + 1):
        with m.turn(loop, number):
            expressions.evaluate(m, node.test)
            status = follow(m, node.body)
        if status in {"return", "raise", "break"}:
            break
    carried(m, node, mark, first)
    return status if status in {"return", "raise"} else ""


def carried(m: Machine, node: ast.AST, mark: int, first: int, holders: dict[str, Value] | None = None) -> None:
    """Note what holds graphs of more than one iteration when a loop has ended; `holders` are bound to no name."""
    for name, value in m.journal.since(mark):
        if isinstance(value, Tensor):
            _summed(m, node, value, first, name, name)
        elif isinstance(value, Mapping):
            for key, part in value.entries.items():
                if isinstance(part, Tensor) and (told := _bound_as(m, value)):
                    _summed(m, node, part, first, key, f"{told}.{key}")
        elif isinstance(value, Items) and value.more and value.items and value.kind != "ring":
            rows = [part for item in value.items for part in (item.items if isinstance(item, Items) else [item])]
            held = [part for part in rows if isinstance(part, Tensor) and part.graph and part.sure]
            serials = {serial for part in held for serial in part.graph if serial >= first}
            depth = len(m.turns)
            turns = {m.paths[serial][depth] for serial in serials if len(m.paths[serial]) > depth}
            if len(held) > 1 and len(turns) > 1:
                told = _bound_as(m, value, holders)
                if not told:
                    continue
                spent = any(s in m.spent for s in serials)
                last = told.rpartition(".")[2]
                m.event("carried", node, held[-1], name=last, value=held[-1], spent=spent, holder=value, path=told)


def _summed(m: Machine, node: ast.AST, value: Tensor, first: int, name: str, path: str) -> None:
    """Note a variable, a field or an entry of a dictionary whose one tensor holds graphs of several iterations."""
    older = [serial for serial in value.graph if serial >= first]
    turns = {m.paths[serial][len(m.turns)] for serial in older if len(m.paths[serial]) > len(m.turns)}
    if len(turns) > 1 and value.sure:
        spent = any(serial in m.spent for serial in older)
        m.event("carried", node, value, name=name, value=value, spent=spent, path=path)


def _bound_as(m: Machine, value: Items | Mapping, holders: dict[str, Value] | None = None) -> str:
    """The path by which a list or dictionary is known, `recorder.data.loss`; empty where nothing holds it any more."""
    for name, held in (holders or {}).items():
        found = _known_in(held, value, name)
        if found:
            return found
    scope: Scope | None = m.scope
    while scope is not None:
        for name, held in scope.names.items():
            found = _known_in(held, value, name)
            if found:
                return found
        scope = scope.outer
    return ""


def _known_in(held: Value, value: Items | Mapping, name: str, depth: int = 3) -> str:
    if held is value:
        return name
    inner: list[tuple[str, Value]] = []
    if isinstance(held, Object) and depth:
        inner = list(held.fields.items())
    elif isinstance(held, Mapping) and depth:
        inner = list(held.entries.items())
    elif isinstance(held, Items) and depth:
        inner = [(name, part) for part in held.items if isinstance(part, Object)]
    told = next((found for key, part in inner if (found := _known_in(part, value, key, depth - 1))), "")
    return f"{name}.{told}" if told else ""


def comprehension(
    m: Machine, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, elements: list[ast.expr]
) -> list[list[Value]]:
    """The values of the element expressions for each element of the first source."""
    from traindx.program.machine import Frame

    first = expressions.evaluate(m, node.generators[0].iter)
    known = list(_elements(m, first)) if _is_short(first) else [stream_of(m, first).element]
    scope = Scope({}, m.scope, m.unit)
    m.frames.append(Frame(None, scope))
    rows: list[list[Value]] = []
    loop = m.loop(node, _source(first))
    since = len(m.trace.events)
    for number, element in enumerate(_again_where_it_trains(m, known, _is_short(first), since), 1):
        m.tick()
        with m.turn(loop, number):
            binding.bind(m, node.generators[0].target, element, node)
            if not _kept(m, node.generators[0]):
                continue
            for more in node.generators[1:]:
                binding.bind(m, more.target, stream_of(m, expressions.evaluate(m, more.iter)).element, node)
                _kept(m, more)
            rows.append([expressions.evaluate(m, part) for part in elements])
    m.frames.pop()
    return rows


def _again_where_it_trains(m: Machine, known: list[Value], short: bool, since: int) -> Iterator[Value]:
    """The elements; one that stands for many a second time, where going through it trains something."""
    yield from known
    if not short and any(event.kind in {"backward", "recurrent"} for event in m.trace.events[since:]):
        yield from known[:1]


def _kept(m: Machine, generator: ast.comprehension) -> bool:
    return all(conditions.truth(m, test) is not False for test in generator.ifs)


def _is_short(source: Value) -> bool:
    return isinstance(source, Items) and not source.more and len(source.items) <= FEW


def joined(rows: list[list[Value]], at: int) -> Value | None:
    """One value that is true of all rows."""
    found: Value | None = None
    for row in rows:
        found = row[at] if found is None else join(found, row[at])
    return found
