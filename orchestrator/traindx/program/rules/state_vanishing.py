"""The state is made to fade: the forget gates of an LSTM start closed.

## What it finds
A bias of an LSTM that is filled with a clearly negative number, in the part that holds the forget gates.

## Why it matters
A forget gate of sigmoid(-4) keeps 2 % of the cell per step: nothing survives more than a step or two, and the gradient
through time is as small.

## Silent
Biases of zero or above, and negative biases of other gates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.values import Layer, Parameters, Plain

ID = "state-vanishing"
CLOSED = -2.0


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every bias of an LSTM that is filled."""
    trace = analysis.trace
    done: set[int] = set()
    for event in trace.of("overwritten"):
        owner = event.subject
        if event.facts.get("name") != "fill_" or not isinstance(owner, Parameters) or id(event.place.node) in done:
            continue
        layers = [trace.layers.get(number) for number in owner.layers]
        recurrent = [layer for layer in layers if isinstance(layer, Layer) and layer.kind in {"LSTM", "LSTMCell"}]
        told = owner.owner
        is_bias = isinstance(told, Plain) and str(told.value).startswith("bias")
        value = _filled(event.place.node)
        if not recurrent or not is_bias or value is None or value > CLOSED or not _forgets(event.place.node):
            continue
        done.add(id(event.place.node))
        yield Finding(
            ID,
            event.place,
            f"the forget gates of the `{recurrent[0].kind}` start at a bias of {value:g}: the state fades step by step",
            facts={"bias_place": event.place.text, "bias": value},
        )


def _filled(node: ast.AST) -> float | None:
    if not isinstance(node, ast.Call) or not node.args:
        return None
    try:
        value = ast.literal_eval(node.args[0])
    except (ValueError, TypeError, SyntaxError):
        return None
    return float(value) if isinstance(value, int | float) else None


def _forgets(node: ast.AST) -> bool:
    """Whether the part that is filled holds the second quarter: the order is input, forget, cell, output."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    if not isinstance(owner, ast.Subscript) or not isinstance(owner.slice, ast.Slice):
        return True
    low, high = owner.slice.lower, owner.slice.upper
    begins = low is None or not any(isinstance(part, ast.Constant) and part.value in {2, 3} for part in ast.walk(low))
    single = high is None or any(isinstance(part, ast.Constant | ast.BinOp) for part in ast.walk(high))
    return begins and single
