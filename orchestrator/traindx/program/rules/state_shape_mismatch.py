"""The state that a recurrent layer is given does not have its shape.

## What it finds
A state whose first dimension is not the number of layers times the directions: the batch first, one layer's state for a
layer of several, no second half for a bidirectional one.

## Why it matters
The layer refuses it in the first step, or, where the numbers happen to fit, mixes samples and layers up.

## Silent
States that the layer made itself, shapes that are not known, cells.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.recurrent import CELLS, KINDS
from traindx.program.queries import is_true, state_parts
from traindx.program.values import Layer, Place, Plain, Shape, whole

ID = "state-shape-mismatch"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the shape of every state that is made by hand."""
    done: set[int] = set()
    for call in analysis.trace.of("recurrent"):
        layer = call.subject
        if not isinstance(layer, Layer) or layer.kind not in KINDS - CELLS or id(call.place.node) in done:
            continue
        wanted = _rows(layer)
        for part in state_parts(call):
            if part.states or wanted is None or not _clashes(part.shape, wanted):
                continue
            done.add(id(call.place.node))
            place = part.made or call.place
            told = _said(part.shape)
            yield Finding(
                ID,
                place,
                f"the state made here has the shape {told}, and `{layer.kind}` wants {wanted} (layers x directions) as"
                " its first dimension, then the batch",
                facts={"wanted": f"({wanted}, N, …)", "got": told, "error": f"the state made at {place.text}"},
                also=_also(call.place, layer),
            )
            break


def _also(call: Place, layer: Layer) -> tuple[tuple[Place, str], ...]:
    made = ((layer.place, "the layer that gets it"),) if layer.place is not None else ()
    return ((call, "the state goes in here"), *made)


def _rows(layer: Layer) -> int | None:
    """Layers times directions; None where one of them is not known."""
    given = layer.keywords.get("num_layers", layer.args[2] if len(layer.args) > 2 else None)
    layers = 1 if given is None else whole(given)
    both = layer.keywords.get("bidirectional")
    # A flag that the command line may set decides nothing.
    if layers is None or (both is not None and not (isinstance(both, Plain) and both.sure == "constant")):
        return None
    return layers * (2 if is_true(both) else 1)


def _clashes(shape: Shape | None, wanted: int) -> bool:
    if shape is None or len(shape) != 3:
        return False
    if shape[0] is not None:
        return shape[0] != wanted
    # The batch, whose size only the data knows, stands where the layers should.
    return shape[1] == wanted


def _said(shape: Shape | None) -> str:
    return f"({', '.join('N' if size is None else str(size) for size in shape or ())})"
