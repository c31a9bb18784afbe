"""Operations that turn a rare value into NaN or Inf, and have nothing that keeps that value away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import assigned, name_of, number_of

SIGNALS = {
    "math-unguarded": "a log, sqrt, division or exp in the loss or the model is unguarded",
    "non-finite-steps-left-out": "steps whose loss or gradient is not finite are left out, unseen",
    "math-guarded": "every log, sqrt and division of tensors has an epsilon, a clamp or a safe variant",
}

# What keeps a value inside the domain of the operation around it.
GUARDS = {
    "clamp", "clamp_", "clamp_min", "clip", "maximum", "relu", "softplus", "sigmoid", "logsigmoid", "nan_to_num",
    "where", "eps", "epsilon", "log_softmax", "logsumexp", "softmax", "masked_fill", "log1p", "expm1", "square", "exp",
    "abs", "max", "finfo", "tiny", "safe", "grad", "numel", "len", "size", "item", "ones_like", "ones", "arange",
    "linspace", "full",
}  # fmt: skip
# A softmax or sigmoid is positive in theory and zero in single precision: for a logarithm it is no guard.
NOT_FOR_LOG = {"softmax", "sigmoid", "exp", "relu", "square", "abs", "where", "masked_fill", "max"}
# Zero is where the gradient of a root is infinite: what only keeps a value from falling below zero is no guard for it.
NOT_FOR_ROOTS = {"relu", "square", "abs"}
_FINITE = re.compile(r"\bis_?(?:finite|nan|inf)\b")
SHRINKING = {"sum", "std", "var", "norm", "mean", "max", "min", "abs", "sqrt", "exp", "prod", "count_nonzero"}
ARRAYS = {"torch", "np", "numpy", "jnp", "tf", "F", "K", "math"}
BOUNDED = {
    "clamp",
    "clamp_",
    "clamp_min",
    "clip",
    "sigmoid",
    "tanh",
    "softmax",
    "minimum",
    "min",
    "log",
    "neg",
    "hardtanh",
}


class Unguarded(Value):
    """One operation."""

    path: str
    line: int
    operation: str
    text: str


def model_units(code: Sequence[CodeUnit]) -> list[CodeUnit]:
    """The code in which a model is built, or trained."""
    return [unit for unit in code if unit.traits & {"torch", "tensorflow", "keras", "jax", "model", "training-loop"}]


def unguarded(units: Sequence[CodeUnit]) -> list[Unguarded]:
    """Every operation that nothing guards."""
    return [row for unit in units for row in _in_file(unit)]


def detect(units: Sequence[CodeUnit], found: Sequence[Unguarded]) -> list[Signal]:
    """What the unguarded operations of the code say, or that there are none."""
    if found:
        return [_signal(found)]
    return [_clean(units)] if any(_uses_math(unit.tree) for unit in units) else []


def _signal(found: Sequence[Unguarded]) -> Signal:
    # A loss function is where rare values meet an operation at every step; a helper may never be called.
    first = found[0]
    claim = f"`{first.text}` has no guard: {first.operation} of a value that can reach the edge of its domain"
    places = [cite_line(row.path, row.line, f"unguarded {row.operation}", row.text) for row in found[:3]]
    facts: dict[str, Fact] = {
        "math_place": f"{first.path}:{first.line}",
        "math_operation": first.operation,
        "math_text": first.text,
    }
    return Signal(id="math-unguarded", claim=claim, citations=places, facts=facts)


def _clean(units: Sequence[CodeUnit]) -> Signal:
    return Signal(id="math-guarded", claim=f"the logs, roots and divisions in {units[0].path} are guarded")


def unguarded_at(unit: CodeUnit) -> Iterator[tuple[ast.expr, str]]:
    """The operations of a file that nothing guards, as they stand in its tree, and what each of them is."""
    safe = _guarded_names(unit.tree)
    for function in ast.walk(unit.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            for node in _own_nodes(function):
                operation = _operation(node, safe, function)
                if operation:
                    yield node, operation


def _in_file(unit: CodeUnit) -> Iterator[Unguarded]:
    for node, operation in unguarded_at(unit):
        line = unit.file_line(node.lineno)
        yield Unguarded(path=unit.path, line=line, operation=operation, text=unit.quote(node.lineno))


def _own_nodes(function: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a function's own body, not those of functions inside it."""
    open_nodes = list(ast.iter_child_nodes(function))
    while open_nodes:
        node = open_nodes.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.expr):
            yield node
        open_nodes.extend(ast.iter_child_nodes(node))


def _operation(node: ast.expr, safe: set[str], function: ast.AST) -> str:
    if isinstance(node, ast.Call):
        name, argument = _called(node)
        if argument is None:
            return ""
        if name in {"log", "log2", "log10"} and not _is_guarded(argument, GUARDS - NOT_FOR_LOG, safe, function):
            return "log"
        if name == "log1p" and not _is_guarded(argument, GUARDS, safe, function):
            return "log"
        if name in {"sqrt", "rsqrt"} and not _is_guarded(argument, GUARDS - NOT_FOR_ROOTS, safe, function):
            return "square root"
        if name == "exp" and _is_tensor_call(node) and _grows(argument, function):
            return "exp"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return "division" if _shrinks(node.right, safe, function) else ""
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = number_of(node.right)
        if (
            power is not None
            and power < 1
            and power != int(power)
            and not _is_guarded(node.left, GUARDS, safe, function)
        ):
            return "fractional power"
    return ""


def _called(node: ast.Call) -> tuple[str, ast.expr | None]:
    """The name of `torch.log(x)` or `x.log()` and what it is applied to; `math.log(2)` is applied to nothing."""
    if not isinstance(node.func, ast.Attribute):
        return "", None
    owner = node.func.value
    if isinstance(owner, ast.Name) and owner.id in ARRAYS:
        argument = node.args[0] if node.args else None
        plain = owner.id in {"math", "np", "numpy"} or argument is None or number_of(argument) is not None
        return node.func.attr, None if plain else argument
    if isinstance(owner, ast.Attribute) and owner.attr in {"math", "special"}:
        return node.func.attr, node.args[0] if node.args else None
    return (
        (node.func.attr, owner) if not node.args and node.func.attr in {"log", "sqrt", "rsqrt", "exp"} else ("", None)
    )


def _is_tensor_call(node: ast.Call) -> bool:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return not (isinstance(owner, ast.Name) and owner.id in {"math", "np", "numpy"})


def _is_guarded(node: ast.expr, guards: set[str], safe: set[str], function: ast.AST, depth: int = 3) -> bool:
    """Whether something in the expression, or where its names were assigned, keeps the value away from the edge."""
    if number_of(node) is not None or isinstance(node, ast.Constant):
        return True
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add) and _adds_constant(part):
            return True
        if name_of(part).lower() in guards or any(word in name_of(part).lower() for word in ("eps", "clamp", "safe")):
            return not (isinstance(part, ast.Attribute) and _from_zero(part, node))
        if isinstance(part, ast.Name) and part.id in safe:
            return True
    if depth:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - ARRAYS
        sources = [value for name in names for value in assigned(function, name)]
        return any(_is_guarded(value, guards, safe, function, depth - 1) for value in sources)
    return False


def _from_zero(clamped: ast.Attribute, node: ast.expr) -> bool:
    """`x.clamp(min=0)`: the edge itself is let through."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and call.func is clamped and clamped.attr.startswith(("clamp", "clip")):
            given = [*call.args, *(word.value for word in call.keywords if word.arg in {"min", "a_min"})]
            return any(number_of(value) == 0 for value in given[-2:] if value is not clamped.value)
    return False


def left_out(analyses: Sequence[Analysis], found: Sequence[Unguarded]) -> list[Signal]:
    """Where an operation can give NaN, a step that is taken only if the numbers are finite hides it from the log."""
    for event in (event for analysis in analyses for event in analysis.trace.of("step")) if found else ():
        test = next((test for test in event.guards if _FINITE.search(ast.unparse(test))), None)
        if test is not None:
            unit = event.place.unit
            place = cite_line(unit.path, unit.file_line(event.place.line), "the step", event.place.quote)
            claim = f"the step is taken only where `{ast.unparse(test)}` allows it: one NaN stops the learning unseen"
            return [Signal(id="non-finite-steps-left-out", claim=claim, citations=[place])]
    return []


def _adds_constant(node: ast.BinOp) -> bool:
    return any((number_of(side) or 0) > 0 or "eps" in name_of(side).lower() for side in (node.left, node.right))


def _shrinks(node: ast.expr, safe: set[str], function: ast.AST) -> bool:
    """Whether a divisor is a statistic that can be zero, with nothing added to it."""
    values = [node]
    if isinstance(node, ast.Name):
        values = list(assigned(function, node.id))
    guards = {"clamp", "clamp_", "clamp_min", "clip", "maximum", "eps", "epsilon", "where", "softmax", "len", "item"}
    return any(
        isinstance(value, ast.Call)
        and not _at_least(value)
        and _method(value) in SHRINKING - {"mean", "exp", "sqrt"}
        and not _is_guarded(value, guards, safe, function)
        and not _is_guarded(node, guards, safe, function)
        for value in values
    )


def _at_least(node: ast.Call) -> bool:
    """`max(count, 1)`: never below a positive number."""
    called = isinstance(node.func, ast.Name) and node.func.id == "max"
    return called and any((number_of(argument) or 0) > 0 for argument in node.args)


def _method(node: ast.Call) -> str:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id in {"np", "numpy", "math"}:
        return ""
    return name_of(node.func)


def _grows(node: ast.expr, function: ast.AST, depth: int = 2) -> bool:
    """Whether an exponent has nothing that bounds it from above; half a log-variance is how densities are written."""
    if any(name_of(part).lower() in BOUNDED for part in ast.walk(node)):
        return False
    if any(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) for part in ast.walk(node)):
        return False
    names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    if any(word in name.lower() for name in names for word in ("logvar", "log_var", "logstd", "log_std", "lv")):
        return False
    if any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) for part in ast.walk(node)):
        return False
    if depth:
        sources = [value for name in set(names) - ARRAYS for value in assigned(function, name)]
        return bool(sources) and all(_grows(value, function, depth - 1) for value in sources)
    return True


def _guarded_names(tree: ast.Module) -> set[str]:
    """Constants such as `EPS = 1e-8`: adding one is a guard."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and 0 < (number_of(node.value) or 0) < 1e-2
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _uses_math(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Call) and _called(node)[0] in {"log", "sqrt", "rsqrt"} for node in ast.walk(tree))
