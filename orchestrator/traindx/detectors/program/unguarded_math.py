"""Operations that turn a rare value into NaN or Inf, and have nothing that keeps that value away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.detectors.program.masked_rows import MaskedRow
from traindx.detectors.program.squares import is_sum_of_squares
from traindx.program.analysis import Analysis
from traindx.program.library.mathematics import PARTIAL
from traindx.program.queries import loops_with, spelled
from traindx.program.ranges import NORMAL, Range
from traindx.program.trace import Event
from traindx.program.uncalled import events_beside
from traindx.program.values import Guess, Tensor
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {
    "math-unguarded": "a log, sqrt, division or exp in the loss or the model is unguarded",
    "non-finite-steps-left-out": "steps whose loss or gradient is not finite are left out, unseen",
    "math-guarded": "every log, sqrt and division of tensors has an epsilon, a clamp or a safe variant",
}

_FINITE = re.compile(r"\bis_?(?:finite|nan|inf)\b")
_LOG_OF_SPREAD = re.compile(r"log_?(?:var|std|sigma|scale|prob|s2|sd)|\blv\b|var_?log", re.IGNORECASE)
"""the logarithm of a spread: an exponential of it is how densities are written"""
_LARGEST_EXPONENT = 88.0
"""what single precision can still hold"""
_EDGE_OF_ARC = 1 - 1e-9
_ROOTS = frozenset({"square root", "fractional power"})


class Unguarded(Value):
    """One operation."""

    path: str
    line: int
    operation: str
    text: str
    column: int = 0
    """where it begins in its line"""


def model_units(code: Sequence[CodeUnit]) -> list[CodeUnit]:
    """The code in which a model is built, or trained."""
    return [unit for unit in code if unit.traits & {"torch", "tensorflow", "keras", "jax", "model", "training-loop"}]


def operations(units: Sequence[CodeUnit], analyses: Sequence[Analysis]) -> list[Event]:
    """Every such operation on tensors that the programs reach, then those of functions that nothing calls."""
    wanted = {unit.path: at for at, unit in enumerate(units)}
    reached = [event for analysis in analyses for event in _that_count(analysis)]
    beside = [event for event in events_beside(analyses, _computes, "math") if _counts(event, True)]
    rows = [(late, event) for late, events in ((False, reached), (True, beside)) for event in events]
    rows = [row for row in rows if row[1].place.unit.path in wanted]
    rows.sort(key=lambda row: (row[0], wanted[row[1].place.unit.path], row[1].place.line))
    return [event for _, event in rows]


def _computes(node: ast.AST) -> bool:
    """Whether a piece of source may be such an operation."""
    if isinstance(node, ast.Call):
        return name_of(node.func) in PARTIAL
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow)


def _that_count(analysis: Analysis) -> Iterator[Event]:
    trace = analysis.trace
    learning = loops_with(trace, "backward")
    told = {id(_owner(event.place.node)) for event in trace.of("sync")}
    backwards = trace.of("backward")
    for event in trace.of("math"):
        if _is_root_of_nothing_learned(event, backwards):
            continue
        trains = any(id(turn.loop.node) in learning for turn in event.turns)
        open_to_all = event.at >= trace.main or trains or bool(event.facts["inside"])
        if id(event.place.node) not in told and _counts(event, open_to_all):
            yield event


def _is_root_of_nothing_learned(event: Event, backwards: Sequence[Event]) -> bool:
    """Whether it is the root of what is never negative, taken when the gradients of this turn are there already.

    Nought has a root; only its gradient is infinite, and nothing asks for one: `norm = sqrt(sum(p.grad ** 2))`.
    """
    given, operand = event.facts["range"], event.facts["operand"]
    if event.facts["operation"] not in _ROOTS or event.facts.get("inverse"):
        return False
    if given.low < 0 and not is_sum_of_squares(operand):
        return False
    here = [row.at for row in backwards if row.path and row.path == event.path[: len(row.path)]]
    return bool(here) and max(here) < event.at


def _owner(node: ast.AST) -> ast.AST | None:
    """`x` of `x.item()`: a number that is only told."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def _counts(event: Event, learns: bool) -> bool:
    """Whether an operation can spoil the training: a gradient may pass through it, or it is applied to each batch.

    Of what is done to the data beforehand only the division by one number for each row or column counts.
    """
    parts = [part for part in (event.subject, event.facts.get("other")) if isinstance(part, Guess | Tensor)]
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if not event.grad or any("gradient" in part.marks for part in tensors):
        return False
    if any(part.graph for part in tensors):
        return True
    if learns and not all(part.cut for part in tensors):
        return True
    by_row = event.facts["operation"] == "division" and event.facts["range"].kind == "statistics"
    return by_row or (learns and len(tensors) < len(parts))


def unguarded(events: Sequence[Event]) -> list[Unguarded]:
    """Every operation that nothing guards, each place once."""
    found: dict[tuple[str, int, str], Unguarded] = {}
    for event in events:
        if is_unguarded(event):
            unit, operation = event.place.unit, str(event.facts["operation"])
            line = unit.file_line(event.place.line)
            row = Unguarded(
                path=unit.path,
                line=line,
                operation=operation,
                text=event.place.quote,
                column=getattr(event.place.node, "col_offset", 0),
            )
            found.setdefault((row.path, line, operation), row)
    return list(found.values())


def is_unguarded(event: Event) -> bool:
    """Whether the operand of an operation can reach the edge of its domain."""
    operation, given, operand = event.facts["operation"], event.facts["range"], event.facts["operand"]
    return isinstance(given, Range) and _reaches(str(operation), given, event) and not _is_asked(event, operand)


def _reaches(operation: str, given: Range, event: Event) -> bool:
    if operation == "log":
        return given.low <= NORMAL
    if operation == "square root":
        return given.low <= 0  # where the gradient of a root is infinite
    if operation == "fractional power":
        return given.low <= NORMAL if event.facts.get("inverse") else given.low < 0
    if operation == "division":
        return given.of_many and given.low <= NORMAL and given.high >= 0
    if operation == "exp":
        return _grows(given, event)
    return given.known and max(-given.low, given.high) >= _EDGE_OF_ARC


def _grows(given: Range, event: Event) -> bool:
    """Whether an exponent is what a layer gave, which nothing bounds."""
    learned = isinstance(event.subject, Tensor) and bool(event.subject.deps)
    operand = event.facts["operand"]
    return (
        learned
        and given.kind == "free"
        and given.high > _LARGEST_EXPONENT
        and not _LOG_OF_SPREAD.search(spelled(operand, 200))
    )


def _is_asked(event: Event, operand: ast.expr | None) -> bool:
    """Whether a condition around the operation asks about its operand."""
    told = spelled(operand, 200)
    asked = event.guards
    return bool(told) and any(told in ast.unparse(test) for test in asked)


def detect(events: Sequence[Event], found: Sequence[Unguarded], masked: Sequence[MaskedRow] = ()) -> list[Signal]:
    """What the unguarded operations of the code say, or that there are none."""
    if found:
        return [_signal(found)]
    if masked:
        return [_masked(masked[0])]
    guarded = next((event for event in events if _is_guarded(event)), None)
    return [_clean(guarded.place.unit)] if guarded is not None else []


def _is_guarded(event: Event) -> bool:
    """Whether an operation would be at the edge if nothing kept its operand from there."""
    given, operation = event.facts["range"], event.facts["operation"]
    return operation in {"log", "square root"} or (operation == "exp" and 0 < given.high <= _LARGEST_EXPONENT)


def _signal(found: Sequence[Unguarded]) -> Signal:
    # A loss function is where rare values meet an operation at every step; a helper may never be called.
    first = found[0]
    claim = f"`{first.text}` has no guard: {first.operation} of a value that can reach the edge of its domain"
    places = [cite_line(row.path, row.line, f"unguarded {row.operation}", row.text) for row in found[:3]]
    facts: dict[str, Fact] = {
        "math_place": f"{first.path}:{first.line}",
        "math_operation": first.operation,
        "math_text": first.text,
        "math_column": first.column,
    }
    return Signal(id="math-unguarded", claim=claim, citations=places, facts=facts)


def _masked(row: MaskedRow) -> Signal:
    claim = f"`{row.filled.quote}` may mask a row whole, and the softmax of nothing but minus infinity is NaN"
    places = [
        cite_line(place.unit.path, place.unit.file_line(place.line), told, place.quote)
        for place, told in ((row.filled, "fills with minus infinity"), (row.softmax, "the softmax over what is left"))
    ]
    facts: dict[str, Fact] = {
        "mask_place": row.filled.text,
        "math_place": row.filled.text,
        "math_text": row.filled.quote,
    }
    return Signal(id="math-unguarded", claim=claim, citations=places, facts=facts)


def _clean(unit: CodeUnit) -> Signal:
    return Signal(id="math-guarded", claim=f"the logs, roots and divisions in {unit.path} are guarded")


def left_out(analyses: Sequence[Analysis], found: Sequence[Unguarded]) -> list[Signal]:
    """Where an operation can give NaN, a step that is taken only if the numbers are finite hides it from the log."""
    for event in _steps(analyses) if found else ():
        test = next((test for test in event.guards if _FINITE.search(ast.unparse(test))), None)
        if test is not None:
            unit = event.place.unit
            place = cite_line(unit.path, unit.file_line(event.place.line), "the step", event.place.quote)
            claim = f"the step is taken only where `{ast.unparse(test)}` allows it: one NaN stops the learning unseen"
            return [Signal(id="non-finite-steps-left-out", claim=claim, citations=[place])]
    return []


def _steps(analyses: Sequence[Analysis]) -> Iterator[Event]:
    return (event for analysis in analyses for event in analysis.trace.of("step"))
