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

from collections.abc import Iterator, Sequence

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.recurrent import CELLS, KINDS
from traindx.program.queries import is_true, mentions, state_parts
from traindx.program.values import Layer, Place, Plain, Shape, whole

ID = "state-shape-mismatch"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the axes of every input, and at the shape of every state that is made by hand."""
    yield from _over_the_batch(analysis)
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


def _over_the_batch(analysis: Analysis) -> Iterator[Finding]:
    """A layer that takes the first axis for time and gets batches of a loader as they are: (batch, time, features)."""
    done: set[int] = set()
    if mentions(analysis, "collate_fn"):
        return
    for call in analysis.trace.of("recurrent"):
        layer, given = call.subject, call.facts["input"]
        if not isinstance(layer, Layer) or layer.kind not in KINDS - CELLS or id(layer) in done or layer.place is None:
            continue
        wanted = layer.keywords.get("input_size", layer.args[0] if layer.args else None)
        first = layer.keywords.get("batch_first", layer.args[4] if len(layer.args) > 4 else None)
        turned = first is not None and not (isinstance(first, Plain) and first.value is False)
        # Whoever gives it a state has chosen its axes.
        if turned or call.facts.get("state") is not None or "batched" not in given.marks:
            continue
        if given.shape is None or len(given.shape) != 3 or given.shape[0] == 1:
            continue
        # The loader's batch size stands first; time and features behind it.
        if given.shape[2] is None or given.shape[2] != whole(wanted) or given.shape[1] in {None, 1} or not call.grad:
            continue
        done.add(id(layer))
        told = _said(("N", *given.shape[1:]))
        yield Finding(
            ID,
            layer.place,
            f"`{layer.kind}` without `batch_first=True` takes the first axis of {told} for time: its state goes from"
            " one sample of the batch to the next",
            facts={"axis_place": layer.place.text, "axes": told, "layer_kind": layer.kind},
            also=((call.place, f"gets batches of the shape {told}"),),
        )


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


def _said(shape: Sequence[object] | None) -> str:
    return f"({', '.join('N' if size is None else str(size) for size in shape or ())})"
