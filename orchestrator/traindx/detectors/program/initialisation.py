"""How the code sets the first weights."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.contract import Value as Row
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.guessing import looks_like_weights
from traindx.program.library.initialising import SETTING, is_constant
from traindx.program.library.layers import NORMS
from traindx.program.queries import mentions, tests_around
from traindx.program.trace import Event
from traindx.program.uncalled import events_beside
from traindx.program.values import Layer, Place, Value
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

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
_WEIGHTS = {"weight", "w", "p", "param", "parameter", "weights", "kernel", "data", "hh", "ih"}
_ANY_LAYER = {"weight", "linear", "conv", "conv1d", "conv2d", "lstm", "gru", "rnn", "dense"}
"""names that choose a kind of layer or parameter, not one part of the model"""
_LAST_LAYER = re.compile(r"\[-1\]|\b\w*(?:out|final|last|head)\w*\.parameters")
_SIZES = frozenset({"dim", "ndim", "ndimension", "shape", "size"})
_RECTIFIERS = ("ReLU", "relu", "ReLU6", "relu_")


class Initialisation(Row):
    """One statement that sets weights."""

    path: str
    line: int
    text: str
    spread: float | None
    constant: bool
    bias: float | None = None
    """the value that every bias starts with, where it is far below zero"""


def initialisations(code: Sequence[CodeUnit], analyses: Sequence[Analysis]) -> list[Initialisation]:
    """Every statement that sets weights, in the programs and in functions that nothing calls."""
    wanted = {unit.path: at for at, unit in enumerate(code)}
    events = [event for analysis in analyses for event in analysis.trace.of("initialised")]
    events += events_beside(analyses, _sets, "initialised")
    rectified = any(mentions(analysis, *_RECTIFIERS) for analysis in analyses)
    statements: dict[int, list[Event]] = {}
    for event in events:
        if event.place.unit.path in wanted:
            statements.setdefault(id(event.place.node), []).append(event)
    rows = [row for found in _statements(list(statements.values())) if (row := _measured(found, rectified)) is not None]
    return sorted(rows, key=lambda row: (wanted[row.path], row.line))


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


def _sets(node: ast.AST) -> bool:
    """Whether a piece of source may set weights."""
    if isinstance(node, ast.Call):
        return name_of(node.func) in SETTING
    written = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    return isinstance(node, ast.Assign) and written and looks_like_weights(name_of(node.targets[0]))


def _statements(found: list[list[Event]]) -> list[list[Event]]:
    """Without the one weight matrix of a hand-written linear model: only two or more make a network."""
    written = Counter(rows[0].place.unit.path for rows in found if rows[0].facts["name"] == "written")
    return [rows for rows in found if rows[0].facts["name"] != "written" or written[rows[0].place.unit.path] > 1]


def _measured(events: Sequence[Event], rectified: bool) -> Initialisation | None:
    """What one statement does to all that it is done to; None where it sets no weights."""
    names = _chosen(events[0])
    row = Initialisation(path="", line=0, text="", spread=None, constant=False)
    biases = [event for event in events if _is_low_bias(event)]
    weights = [event for event in events if _is_weight(event)]
    if biases and rectified and not names and _is_every(biases):
        return _placed(row, biases[0]).model_copy(update={"bias": biases[0].facts["value"]})
    if not weights or _is_of_small_ones(weights[0].place):
        return None
    first, name = weights[0], str(weights[0].facts["name"])
    if name == "written":
        return _placed(row, first).model_copy(update={"constant": True})
    if _over_last_layer(first):
        return None
    # Zeros for the projections at the end of a block, and N(0, 1) for an embedding, are customs that learn.
    constant = is_constant(name) and _is_every([event for event in weights if not _is_embedding(event)])
    if names and (constant or any("emb" in told for told in names)):
        return None
    spreads = [(spread, event) for event in weights if (spread := _spread(event)) is not None]
    spreads = [(spread, event) for spread, event in spreads if spread <= WIDEST or not _is_embedding(event)]
    if not spreads and not is_constant(name):
        return None
    spread = max((spread for spread, _ in spreads), default=None)
    return _placed(row, first).model_copy(update={"spread": spread, "constant": constant})


def _placed(row: Initialisation, event: Event) -> Initialisation:
    unit, place = event.place.unit, event.place
    return row.model_copy(update={"path": unit.path, "line": unit.file_line(place.line), "text": place.quote})


def _spread(event: Event) -> float | None:
    gain, spread = event.facts["gain"], event.facts["spread"]
    told = spread if gain is None else WIDEST * gain / WIDEST_GAIN
    return float(told) if told is not None else None


def _is_embedding(event: Event) -> bool:
    return isinstance(event.subject, Layer) and event.subject.kind.startswith("Embedding")


def _is_weight(event: Event) -> bool:
    """Whether what is set is a layer's weight: `p` of a loop over parameters is one, a bias or a norm is not."""
    layer, target = event.subject, event.facts["target"]
    if _known(layer) and isinstance(layer, Layer):
        plain = layer.kind != "PReLU" and not NORMS.search(layer.kind)
        return plain and str(event.facts["part"]).startswith("weight")
    if event.facts["name"] == "written":
        return True
    words = {word for part in ast.walk(target) for word in name_of(part).lower().split("_")} if target else set()
    classes = _asked_classes(event.place)
    others = bool(classes) and all(NORMS.search(name) or name.startswith("Embedding") for name in classes)
    return bool(words & _WEIGHTS) and not words & _NOT_WEIGHTS and not others


def _known(layer: Value) -> bool:
    """Whether a layer is one whose kind is known."""
    return isinstance(layer, Layer) and not layer.guessed and layer.kind not in {"?", "pretrained", "Parameter"}


def _is_every(events: Sequence[Event]) -> bool:
    """Whether it is done to the layers in turn, whichever they are, and not to one chosen head or gate."""
    layers = {event.subject.number for event in events if isinstance(event.subject, Layer) and _known(event.subject)}
    unknown = any(not _known(event.subject) for event in events)
    return bool(events and events[0].facts["whichever"]) and (unknown or len(layers) > 1)


def _is_low_bias(event: Event) -> bool:
    value = event.facts["value"]
    return event.facts["part"] == "bias" and value is not None and value <= LOWEST_BIAS and _sets_bias(event)


def _sets_bias(event: Event) -> bool:
    return name_of(event.facts["target"]) == "bias" and event.facts["name"] in {"constant_", "fill_"}


def _asked_classes(place: Place) -> list[str]:
    """The classes that a layer must be of: `Linear` and `Conv2d` of `isinstance(m, (nn.Linear, nn.Conv2d))`, also where
    they are asked for one by one.
    """
    found: list[str] = []
    holding = [test for test, holds in tests_around(place) if holds]
    for test in [part for one in holding for part in (one.values if isinstance(one, ast.BoolOp) else [one])]:
        if isinstance(test, ast.Call) and name_of(test.func) == "isinstance" and len(test.args) > 1:
            given = test.args[1]
            found += [name_of(part) for part in (given.elts if isinstance(given, ast.Tuple) else [given])]
    return found


def _chosen(event: Event) -> frozenset[str]:
    """What the names hold for which alone a statement is meant: `if "proj" in name:`."""
    words = {word for test, holds in tests_around(event.place) if holds for word in _texts(test)}
    # Which of several ways is taken has to be known.
    settled = not event.guards
    return frozenset(word for word in words if word.strip(".") not in _ANY_LAYER and not (settled and _is_a_way(word)))


def _is_a_way(word: str) -> bool:
    """Whether a word chooses how weights are set, not which: `if kind == "constant":`."""
    return len(word) > 3 and any(word in name for name in SETTING)


def _texts(test: ast.expr) -> set[str]:
    found = (part.value for part in ast.walk(test) if isinstance(part, ast.Constant))
    return {told.lower() for told in found if isinstance(told, str)}


def _is_of_small_ones(place: Place) -> bool:
    """Whether a statement is for what is no matrix, or not called a weight: `else` of `if p.dim() > 1:`."""
    tests = [test for test, holds in tests_around(place) if not holds]
    return any("weight" in _texts(test) or _SIZES & {name_of(part) for part in ast.walk(test)} for test in tests)


def _over_last_layer(event: Event) -> bool:
    """`for p in net[-1].parameters()`: a last layer of zeros is a custom, and learns."""
    loops = [turn.loop.node for turn in event.turns]
    return any(isinstance(node, ast.For) and _LAST_LAYER.search(ast.unparse(node.iter)) for node in loops)
