"""Learning rates that a program computes itself: a function for `LambdaLR`, or one that writes `group["lr"]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from traindx.program import numeric
from traindx.program.analysis import Analysis
from traindx.program.expressions import evaluate
from traindx.program.machine import Frame
from traindx.program.numeric import NotANumber, sets_key
from traindx.program.queries import class_of, tests_around
from traindx.program.values import Function, Items, Made, Method, Place, Plain, Scope, number
from traindx.readers.code.syntax import name_of

_EPOCH = re.compile(r"(?:^|_)ep(?:och)?s?(?:_|$)|epoch", re.IGNORECASE)
_STEP = re.compile(r"step|(?:^|_)it(?:er\w*)?(?:_|$)|update|batch", re.IGNORECASE)

Body = ast.FunctionDef | ast.Lambda | Sequence[ast.stmt]


@dataclass(frozen=True, eq=False)
class OwnRate:
    """A rate as a function of a count."""

    place: Place
    counted_in: str
    """`epoch`, `step`, or empty where nothing tells"""
    reads: frozenset[str]
    """the names that its source reads"""
    count: str
    body: Body
    look: numeric.Lookup
    functions: numeric.Functions
    factor: float = 1.0
    """what the result is multiplied by: the optimizer's own rate for a `LambdaLR`"""
    wanted: str = ""

    def at(self, count: float) -> float | None:
        """The rate at a count; None where the source does not tell."""
        made = numeric.Function(self.look, self.wanted, self.functions)
        try:
            if isinstance(self.body, ast.FunctionDef | ast.Lambda):
                return self.factor * made.call(self.body, {self.count: count})
            return self.factor * made.follow(self.body, {self.count: count})
        except (NotANumber, RecursionError):
            return None


def own_rates(analysis: Analysis, known: Mapping[str, float]) -> list[OwnRate]:
    """The rates that the program computes itself and whose source tells their values.

    `known` are settings by the last word of their key, for what the program takes from outside.
    """
    found = [*_given(analysis, known), *_written(analysis, known)]
    return [rate for rate in found if rate.at(1) is not None and rate.at(10) is not None]


def _given(analysis: Analysis, known: Mapping[str, float]) -> Iterator[OwnRate]:
    """Functions given to a `LambdaLR`."""
    for event in analysis.trace.of("scheduler"):
        made = event.subject
        if not isinstance(made, Made) or class_of(made) != "LambdaLR":
            continue
        given = made.argument(1, "lr_lambda")
        if isinstance(given, Items) and len(given.items) == 1:
            given = given.items[0]
        function = given.function if isinstance(given, Method) else given
        base, unit = _base(made), _stepped_in(analysis, made)
        if base is None or not isinstance(function, Function) or isinstance(function.node, ast.AsyncFunctionDef):
            continue
        names = [part.arg for part in function.node.args.args if part.arg != "self"]
        if names:
            yield _rate(analysis, known, function, names[0], unit, factor=base)


def _base(made: Made) -> float | None:
    given = made.argument(0, "optimizer")
    return number(given.argument(1, "lr")) if isinstance(given, Made) else None


def _stepped_in(analysis: Analysis, made: Made) -> str:
    """Whether a scheduler is stepped in the loop that goes through batches, or in the one around it."""
    depths = {len(event.turns) for event in analysis.trace.of("step")}
    own = {len(event.turns) for event in analysis.trace.of("schedule") if event.subject is made}
    if len(depths) != 1 or len(own) != 1:
        return ""
    return "step" if own == depths else "epoch" if max(own) < max(depths) else ""


def _written(analysis: Analysis, known: Mapping[str, float]) -> Iterator[OwnRate]:
    """Functions that write `group["lr"]`, and loops that do."""
    done: set[int] = set()
    for function in analysis.trace.functions:
        node = function.node
        if isinstance(node, ast.FunctionDef) and id(node) not in done and sets_key(node.body, "lr"):
            done.add(id(node))
            count = _count_of(node)
            if count and not _counts_milestones(function, count):
                yield _rate(analysis, known, function, count, _unit(count), wanted="lr")
    for loop in analysis.trace.loops:
        around = loop.node
        if not isinstance(around, ast.For) or id(around) in done:
            continue
        name = around.target.elts[0] if isinstance(around.target, ast.Tuple) else around.target
        if isinstance(name, ast.Name) and _counts(around) and sets_key(_own(around), "lr"):
            done.add(id(around))
            place = Place(loop.place.unit, next(_setters(around), around))
            yield OwnRate(
                place,
                _unit(name.id) or ("epoch" if any(loop is inner.outer for inner in analysis.trace.loops) else "step"),
                _read(_setters(around), analysis),
                name.id,
                _own(around),
                _look(analysis, known, loop.place, Scope({}, analysis.machine.scopes.get(loop.place.unit.path), None)),
                _functions(analysis),
                wanted="lr",
            )


def _counts_milestones(function: Function, count: str) -> bool:
    """Whether what a function is given to count by goes up under conditions alone: `if it in STEPS: stage += 1`."""
    at = [part.arg for part in function.node.args.args if part.arg != "self"].index(count)
    nodes = function.unit.nodes
    calls = [part for part in nodes.of(ast.Call) if name_of(part.func) == function.name]
    given = {part.id for call in calls for part in call.args[at : at + 1] if isinstance(part, ast.Name)}
    raised = [part for part in nodes.of(ast.AugAssign) if name_of(part.target) in given]
    return bool(raised) and all(tests_around(Place(function.unit, part)) for part in raised)


def _own(node: ast.For) -> list[ast.stmt]:
    """What a loop does itself: assignments, conditions, and the loop over the groups of parameters."""
    return [
        part
        for part in node.body
        if isinstance(part, ast.Assign | ast.AugAssign | ast.If)
        or (isinstance(part, ast.For) and "param_groups" in ast.unparse(part.iter))
    ]


def _setters(node: ast.For) -> Iterator[ast.stmt]:
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and sets_key([part], "lr"):
            yield part


def _counts(node: ast.For) -> bool:
    name = getattr(node.iter, "func", None)
    return getattr(name, "id", getattr(name, "attr", "")) in {"range", "trange", "enumerate", "count", "tqdm"}


def _rate(
    analysis: Analysis,
    known: Mapping[str, float],
    function: Function,
    count: str,
    unit: str,
    factor: float = 1.0,
    wanted: str = "",
) -> OwnRate:
    node = function.node
    place = Place(function.unit, node)
    look = _look(analysis, known, place, function.scope)
    body: Body = node if isinstance(node, ast.FunctionDef | ast.Lambda) else node.body
    return OwnRate(place, unit, _read([node], analysis), count, body, look, _functions(analysis), factor, wanted)


def _read(nodes: Iterable[ast.AST], analysis: Analysis) -> frozenset[str]:
    """The names that some source reads, and those that the functions of the program it calls read."""
    own = {getattr(part, "attr", getattr(part, "id", "")) for node in nodes for part in ast.walk(node)}
    called = [node for name, node in _functions(analysis).items() if name in own]
    inner = {getattr(part, "attr", getattr(part, "id", "")) for node in called for part in ast.walk(node)}
    return frozenset(own | inner) - {""}


def _functions(analysis: Analysis) -> numeric.Functions:
    return {
        function.name: function.node
        for function in analysis.trace.functions
        if isinstance(function.node, ast.FunctionDef)
    }


def _look(analysis: Analysis, known: Mapping[str, float], place: Place, scope: Scope) -> numeric.Lookup:
    machine = analysis.machine

    def look(node: ast.expr) -> float | None:
        machine.unit = place.unit
        machine.frames.append(Frame(None, Scope({}, scope, place.unit)))
        try:
            value = evaluate(machine, node)
        finally:
            machine.frames.pop()
        found = value.value if isinstance(value, Plain) and isinstance(value.value, int | float) else None
        name = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        told = str(name or getattr(node, "attr", getattr(node, "id", ""))).lower()
        return found if found is not None else known.get(told)

    return look


def _count_of(node: ast.FunctionDef) -> str:
    """The argument that counts steps or epochs: the only one with such a name."""
    names = [part.arg for part in node.args.args if part.arg != "self"]
    counting = [name for name in names if _unit(name) and not name.endswith("s")]
    return counting[0] if len(counting) == 1 else ""


def _unit(count: str) -> str:
    return "epoch" if _EPOCH.search(count) else "step" if _STEP.search(count) else ""
