"""Model code that is prone to dead or saturated units."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.settings.lookup import named
from traindx.program.analysis import Analysis
from traindx.program.repetition import times
from traindx.program.values import Layer
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Setting

SIGNALS = {
    "deep-saturating-stack": "many layers with sigmoid or tanh, without skip connections or normalization",
    "relu-at-output": "the output of the network goes through a ReLU",
    "squashing-in-code": "sigmoid or tanh between layers of the model",
}

_SQUASHING = {"Sigmoid", "Tanh", "sigmoid", "tanh", "Softsign", "Hardtanh"}
_LINEAR = {"Linear", "Conv1d", "Conv2d", "Dense"}
_NORMS = {"LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm2d", "RMSNorm", "BatchNorm3d"}
_GATED = {"LSTM", "GRU", "TransformerEncoderLayer"}
_DEPTHS = ("depth", "n_layers", "num_layers", "layers", "n_layer", "num_hidden_layers", "n_hidden_layers", "nlayers")
DEEP = 6


def at_the_output(code: Sequence[CodeUnit]) -> list[Signal]:
    """A forward pass that ends in a ReLU: below zero it has no gradient, and the whole net with it."""
    for unit in code:
        for node in ast.walk(unit.tree):
            last = _last_step(node)
            if last is not None and name_of(last.func).lower() == "relu":
                place = _cited(unit, last)
                claim = f"the output goes through a ReLU: `{place.quote}`"
                return [Signal(id="relu-at-output", claim=claim, citations=[place])]
    return []


def _last_step(node: ast.AST) -> ast.Call | None:
    """The last call of a network: what `forward` of a head of one unit returns, or the end of such a stack."""
    if isinstance(node, ast.FunctionDef) and node.name == "forward":
        returned = next((part.value for part in ast.walk(node) if isinstance(part, ast.Return)), None)
        return returned if isinstance(returned, ast.Call) and returned.args else None
    if isinstance(node, ast.Call) and name_of(node.func) == "Sequential" and len(node.args) > 2:
        before, last = node.args[-2:]
        if isinstance(before, ast.Call) and isinstance(last, ast.Call) and name_of(before.func) == "Linear":
            one = len(before.args) > 1 and getattr(before.args[1], "value", None) == 1
            return last if one else None
    return None


def stacked(analyses: Sequence[Analysis]) -> list[Signal]:
    """A stack of sigmoid or tanh layers as the program builds it, with every repetition counted."""
    for analysis in analyses:
        built = [(event, event.subject) for event in analysis.trace.of("layer") if isinstance(event.subject, Layer)]
        squashing = [(event, layer) for event, layer in built if layer.kind in _SQUASHING]
        layers = sum(times(event) for event, _ in squashing)
        relieved = any(layer.kind in _NORMS | _GATED for _, layer in built)
        if layers < DEEP or relieved or any(_has_relief(unit.tree) for unit in analysis.units):
            continue
        event, layer = max(squashing, key=lambda row: times(row[0]))
        unit = event.place.unit
        place = cite_line(unit.path, unit.file_line(event.place.line), "the activation", event.place.quote)
        return [_deep(layers, layer.kind.lower(), place)]
    return []


def _deep(layers: int, name: str, place: Citation) -> Signal:
    claim = f"{layers} layers with {name} and no skip connection or normalization: `{place.quote}`"
    facts: dict[str, Fact] = {
        "stack_layers": layers,
        "stack_activation": name,
        "stack_place": f"{place.source}:{place.locator.removeprefix('line ')}",
    }
    # Ten sigmoids leave at most a millionth of the gradient; tanh is four times kinder per layer.
    strength = min(1.0, layers / (10 if "igmoid" in name else 20))
    return Signal(id="deep-saturating-stack", claim=claim, strength=strength, citations=[place], facts=facts)


def squashing(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Signal]:
    """Sigmoid or tanh between the layers, and whether there are many of them with no way around."""
    for unit in code:
        if "model" not in unit.traits:
            continue
        uses = list(_squashing(unit.tree))
        if not uses:
            continue
        node = uses[0][0]
        place = _cited(unit, node)
        found = [Signal(id="squashing-in-code", claim=f"`{place.quote}`", citations=[place])]
        layers = len(uses)
        if any(loop for _, loop in uses):
            depth = named(settings, *_DEPTHS)
            configured = float(depth.value) if depth is not None else _depth_by_default(unit.tree)
            layers = max(layers, int(configured) if configured < 1000 else 3)
        if layers >= DEEP and not _has_relief(unit.tree):
            found.append(_deep(layers, _plain(node), place))
        return found
    return []


def _depth_by_default(tree: ast.Module) -> float:
    """The number of layers that a constructor takes when nobody says otherwise: `def __init__(self, depth=10)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args[len(node.args.args) - len(node.args.defaults) :], *node.args.kwonlyargs]
            for name, given in zip(arguments, [*node.args.defaults, *node.args.kw_defaults], strict=True):
                number = getattr(given, "value", None)
                if name.arg in _DEPTHS and isinstance(number, int):
                    return float(number)
    return 3.0


def _plain(node: ast.Call) -> str:
    return name_of(node.func).lower()


def _cited(unit: CodeUnit, node: ast.Call) -> Citation:
    return cite_line(unit.path, unit.file_line(node.lineno), "the activation", unit.quote(node.lineno))


def _squashing(tree: ast.Module) -> Iterator[tuple[ast.Call, bool]]:
    """Calls of squashing activations inside model classes, and whether a loop repeats them."""
    for model in ast.walk(tree):
        if not isinstance(model, ast.ClassDef) and not _builds(model):
            continue
        inside = [inner for loop in ast.walk(model) if _repeats(loop) for inner in ast.walk(loop)]
        looped = {id(inner) for inner in inside}
        again = {name_of(inner.func) for inner in inside if isinstance(inner, ast.Call)}
        kept = {id(node.value): name_of(node.targets[0]) for node in ast.walk(model) if isinstance(node, ast.Assign)}
        for node in ast.walk(model):
            if isinstance(node, ast.Call) and name_of(node.func) in _SQUASHING:
                # `self.act = nn.Sigmoid()` counts as often as a loop calls `self.act`.
                yield node, id(node) in looped or kept.get(id(node), "") in again


def _builds(node: ast.AST) -> bool:
    """A function that makes a network, or a network written out at the top of a script."""
    if isinstance(node, ast.For):  # `for _ in range(depth): layers += [nn.Linear(…), nn.Sigmoid()]`
        return any(isinstance(part, ast.Call) and name_of(part.func) in _LINEAR for part in ast.walk(node))
    if isinstance(node, ast.FunctionDef):
        return any(word in node.name.lower() for word in ("net", "model", "build", "mlp", "make"))
    return isinstance(node, ast.Call) and name_of(node.func) == "Sequential"


def _repeats(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.ListComp | ast.GeneratorExp | ast.While)


def _has_relief(tree: ast.Module) -> bool:
    """A normalisation, a gated cell, or `x = x + f(x)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _NORMS | _GATED:
            return True
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            target = name_of(node.targets[0])
            if target and target in {name_of(node.value.left), name_of(node.value.right)} and _calls(node.value):
                return True
    return False


def _calls(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))
