"""How the code sets the first weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.calling import Call
from traindx.program.values import number
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of, number_of

SIGNALS = {
    "init-too-wide": "weights are drawn with a spread far above 1/sqrt(inputs)",
    "init-constant": "the weights of whole layers start as one constant",
    "init-bias-silences": "the biases of whole layers start far below zero, in front of a ReLU",
    "init-ordinary": "the weights are drawn with an ordinary spread",
}

# Weights of a layer with n inputs want a spread near 1/sqrt(n): from 0.02 for 2500 inputs to 0.35 for 8.
WIDEST = 0.45
WIDEST_GAIN = 3.0
LOWEST_BIAS = -0.5
"""scaled inputs with ordinary weights give sums of about one; a unit that starts lower than that rarely fires"""
_NOT_WEIGHTS = {"bias", "norm", "bn", "ln", "gamma", "beta", "scale", "batchnorm", "layernorm", "running", "alpha", "b"}
_GAINS = {"xavier_normal_", "xavier_uniform_", "orthogonal_", "kaiming_normal_", "kaiming_uniform_"}
_HAND_WRITTEN = re.compile(r"[Ww](?:eights?)?_?(?:\d|[a-z]{1,3}|in|out|hidden)?")
_ANY_LAYER = {"weight", "linear", "conv", "conv1d", "conv2d", "lstm", "gru", "rnn", "dense"}
"""names that choose a kind of layer or parameter, not one part of the model"""
_LAST_LAYER = re.compile(r"\[-1\]|\b\w*(?:out|final|last|head)\w*\.parameters")
_CONSTANTS = {"zeros_": 0.0, "ones_": 1.0, "zero_": 0.0}
_LOOP_VARIABLES = {"m", "p", "param", "parameter", "module", "layer", "l", "w", "mod"}


class Initialisation(Value):
    """One statement that sets weights."""

    path: str
    line: int
    text: str
    spread: float | None
    constant: bool
    bias: float | None = None
    """the value that every bias starts with, where it is far below zero"""


def initialisations(code: Sequence[CodeUnit], analyses: Sequence[Analysis] = ()) -> list[Initialisation]:
    """Every statement that sets weights; numbers that come from elsewhere are those of the followed program."""
    followed = {node: call for analysis in analyses for node, call in analysis.machine.in_place.items()}
    return [row for unit in code for row in _in_file(unit, followed)]


def detect(found: Sequence[Initialisation]) -> list[Signal]:
    """Whether weights start too wide, or as one constant; ordinary where neither is the case."""
    wide = [row for row in found if row.spread is not None and row.spread > WIDEST]
    constant = [row for row in found if row.constant]
    silent = [row for row in found if row.bias is not None]
    found = [row for row in found if row.bias is None]
    told = [_silencing(silent[0])] if silent else []
    signals = [_signal(name, rows) for name, rows in (("init-too-wide", wide), ("init-constant", constant)) if rows]
    return [_signal("init-ordinary", found)] if found and not signals and not told else [*signals, *told]


def _silencing(row: Initialisation) -> Signal:
    claim = f"`{row.text}` starts every bias at {row.bias:g}: units behind a ReLU begin below zero"
    facts: dict[str, Fact] = {
        "init_place": f"{row.path}:{row.line}",
        "init_text": row.text,
        "init_bias": row.bias or 0.0,
    }
    place = cite_line(row.path, row.line, "the biases are set here", row.text)
    return Signal(id="init-bias-silences", claim=claim, citations=[place], facts=facts)


def _signal(name: str, rows: Sequence[Initialisation]) -> Signal:
    first = rows[0]
    said = (
        "one constant for all weights"
        if first.constant
        else f"a spread of {first.spread:g}"
        if first.spread
        else "a gain"
    )
    facts: dict[str, Fact] = {"init_place": f"{first.path}:{first.line}", "init_text": first.text}
    if first.spread is not None:
        facts["init_spread"] = first.spread
    places = [cite_line(row.path, row.line, "the weights are set here", row.text) for row in rows[:3]]
    claim = f"`{first.text}` initializes the weights with {said}"
    strength = 1.0 if first.constant or not first.spread else min(1.0, first.spread / (2 * WIDEST))
    return Signal(id=name, claim=claim, strength=strength, citations=places, facts=facts)


def _in_file(unit: CodeUnit, followed: Mapping[int, Call]) -> Iterator[Initialisation]:
    yield from _written_out(unit)
    last_layer = {id(part) for loop in ast.walk(unit.tree) if _over_last_layer(loop) for part in ast.walk(loop)}
    chosen = _chosen_by_name(unit.tree)
    for node in ast.walk(unit.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or id(node) in last_layer:
            continue
        low = _low_bias(node, unit)
        if low is not None and not chosen.get(id(node)):
            line, text = unit.file_line(node.lineno), unit.quote(node.lineno)
            yield Initialisation(path=unit.path, line=line, text=text, spread=None, constant=False, bias=low)
            continue
        measured = _measured(node, node.func.attr, followed.get(id(node)))
        if measured is None:
            continue
        spread, constant = measured
        names = chosen.get(id(node), frozenset())
        # Zeros for the projections at the end of a block, and N(0, 1) for an embedding, are customs that learn.
        if names and (constant or any("emb" in name for name in names)):
            continue
        line, text = unit.file_line(node.lineno), unit.quote(node.lineno)
        yield Initialisation(path=unit.path, line=line, text=text, spread=spread, constant=constant)


def _chosen_by_name(tree: ast.Module) -> dict[int, frozenset[str]]:
    """The statements that set only the weights of some names (`if "proj" in name:`), with what the names hold."""
    found: dict[int, frozenset[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.If):
            continue
        words = {
            part.value.lower()
            for part in ast.walk(node.test)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        told = frozenset(word for word in words if word.strip(".") not in _ANY_LAYER)
        for inner in (part for statement in node.body for part in ast.walk(statement)) if told else ():
            found[id(inner)] = found.get(id(inner), frozenset()) | told
    return found


def _over_last_layer(node: ast.AST) -> bool:
    """`for p in net[-1].parameters()`: a last layer of zeros is a custom, and learns."""
    return isinstance(node, ast.For) and _LAST_LAYER.search(ast.unparse(node.iter)) is not None


def _written_out(unit: CodeUnit) -> Iterator[Initialisation]:
    """Two or more weight matrices of a hand-written network that start as one constant; one alone is a linear model."""
    filled = [
        node
        for node in ast.walk(unit.tree)
        if isinstance(node, ast.Assign)
        and _HAND_WRITTEN.fullmatch(name_of(node.targets[0]))
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) in {"full", "ones", "zeros", "constant"}
    ]
    for node in filled if len(filled) > 1 else []:
        line, text = unit.file_line(node.lineno), unit.quote(node.lineno)
        yield Initialisation(path=unit.path, line=line, text=text, spread=None, constant=True)


def _measured(node: ast.Call, name: str, call: Call | None) -> tuple[float | None, bool] | None:
    """The spread and whether it is a constant; None where this call sets no weights."""
    functional = _is_init_module(node.func)
    target = (
        node.args[0] if functional and node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    )
    if target is None or not _is_weight(target):
        return None
    numbers = [number_of(argument) for argument in node.args]
    keywords = {given.arg: number_of(given.value) for given in node.keywords if given.arg}
    if call is not None:
        numbers = [number(value) if told is None else told for told, value in zip(numbers, call.args, strict=False)]
        keywords = {key: number(call.keywords.get(key)) if told is None else told for key, told in keywords.items()}
    numbers = numbers[1:] if functional else numbers
    if name in {"normal_", "trunc_normal_"}:
        spread = keywords.get("std", numbers[1] if len(numbers) > 1 else 1.0)
        return (spread, False) if spread is not None else None
    if name == "uniform_":
        high = keywords.get("b", keywords.get("to", numbers[1] if len(numbers) > 1 else 1.0))
        return (high / 3**0.5, False) if high is not None else None
    if name in _GAINS:
        gain = keywords.get("gain", numbers[0] if numbers and "kaiming" not in name else 1.0)
        return (WIDEST * gain / WIDEST_GAIN, False) if gain is not None else None
    if name in _CONSTANTS or name in {"constant_", "fill_"}:
        return None, _is_any_weight(target)
    return None


def _low_bias(node: ast.Call, unit: CodeUnit) -> float | None:
    """The constant that `constant_(m.bias, -1.5)` or `m.bias.data.fill_(-1.5)` gives to the biases of every layer."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in {"constant_", "fill_"}:
        return None
    functional = _is_init_module(node.func)
    target = node.args[0] if functional and node.args else node.func.value
    given = next((row.value for row in node.keywords if row.arg in {"val", "value"}), None)
    given = given or (node.args[-1] if node.args and not (functional and len(node.args) < 2) else None)
    value = number_of(given) if given is not None else None
    while isinstance(target, ast.Attribute) and target.attr == "data":
        target = target.value
    every = isinstance(target, ast.Attribute) and target.attr == "bias" and name_of(target.value) in _LOOP_VARIABLES
    if not every or value is None or value > LOWEST_BIAS:
        return None
    return value if unit.names & {"ReLU", "relu", "ReLU6", "relu_"} else None


def _is_init_module(function: ast.expr) -> bool:
    owner = function.value if isinstance(function, ast.Attribute) else None
    return name_of(owner) == "init"


def _is_weight(node: ast.expr) -> bool:
    """Whether the target is a layer's weight; `p` of a loop over parameters is one, a bias or a norm is not."""
    words = {word for part in ast.walk(node) for word in name_of(part).lower().split("_")}
    if words & _NOT_WEIGHTS:
        return False
    return bool(words & {"weight", "w", "p", "param", "parameter", "weights", "kernel", "data", "hh", "ih"})


def _is_any_weight(node: ast.expr) -> bool:
    """`p` or `m.weight`: the weight of whichever layer the loop is at, not one chosen head or gate."""
    while isinstance(node, ast.Attribute) and node.attr in {"data", "weight"}:
        node = node.value
    return isinstance(node, ast.Name) and node.id in _LOOP_VARIABLES
