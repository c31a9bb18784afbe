"""The gates of an LSTM, from its biases: a forget gate that is shut, gates that no input can move."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, TensorInfo

if TYPE_CHECKING:
    from traindx.detectors.curves.shape import Numbers
    from traindx.readers.checkpoints.weights import Floats

SIGNALS = {
    "forget-gates-closed": "the forget biases of an LSTM hold its forget gates shut: its cell state is dropped",
    "gate-biases-extreme": "most gates of an LSTM are pinned open or shut by their biases",
}
# PyTorch keeps the gates as input, forget, cell, output, and two biases that are added.
_BIAS = re.compile(r"(?:^|\.)bias_(ih|hh)((?:_l\d+)?(?:_reverse)?)$")
GATES = ("input", "forget", "cell", "output")
SHUT = -2.0
"""a sigmoid of 0.12: of a state one eighth is left after a step, nothing after ten"""
PINNED = 6.0
"""a sigmoid of 0.0025 or 0.9975, a slope of a quarter per cent"""


def wanted(checkpoint: Checkpoint) -> list[TensorInfo]:
    """The tensors whose numbers have to be read: both biases of every LSTM, told by its recurrent weights."""
    shapes = {tensor.path: tensor.shape for tensor in checkpoint.tensors}
    found = []
    for tensor in checkpoint.tensors:
        if tensor.part != "model" or not _BIAS.search(tensor.name) or len(tensor.shape) != 1:
            continue
        recurrent = shapes.get(re.sub(r"bias_(?:ih|hh)(?=[^.]*$)", "weight_hh", tensor.path), ())
        if len(recurrent) == 2 and recurrent[0] == tensor.shape[0] == 4 * recurrent[1]:
            found.append(tensor)
    return found


def detect(checkpoint: Checkpoint, biases: Sequence[tuple[TensorInfo, Floats]]) -> list[Signal]:
    """The middle unit of each gate decides: single units may be anything."""
    layers: dict[str, list[tuple[TensorInfo, Floats]]] = {}
    for tensor, values in biases:
        layers.setdefault(_BIAS.sub(r"bias\2", tensor.path), []).append((tensor, values))
    found: dict[str, Signal] = {}
    for both in layers.values():
        total: Numbers = np.asarray(sum(values.astype(np.float64) for _, values in both))
        if len(total) < 4 or len(total) % 4 or not np.isfinite(total).all():
            continue
        gates = dict(zip(GATES, total.reshape(4, -1), strict=True))
        tensor = both[0][0]
        if float(np.median(gates["forget"])) <= SHUT:
            found.setdefault("forget-gates-closed", _shut(checkpoint, tensor, gates["forget"]))
        pinned = [name for name in GATES if name != "cell" and _share_beyond(gates[name]) > 0.5]
        if pinned:
            found.setdefault("gate-biases-extreme", _pinned(checkpoint, tensor, pinned, gates))
    return list(found.values())


def _share_beyond(gate: Numbers) -> float:
    return float(np.mean(np.abs(gate) >= PINNED))


def _shut(checkpoint: Checkpoint, tensor: TensorInfo, gate: Numbers) -> Signal:
    middle = float(np.median(gate))
    kept = 1 / (1 + np.exp(-middle))
    claim = (
        f"the forget biases of `{tensor.name}` have a median of {middle:.2f}: with no input the gate keeps"
        f" {kept:.0%} of the cell state per step (usual: 50-73 %, biases 0 to 1)"
    )
    facts: dict[str, Fact] = {
        "forget_bias": round(middle, 2),
        "forget_tensor": tensor.name,
        "forget_keeps": f"{kept:.0%}",
    }
    place = cite_tensor(checkpoint, tensor, claim)
    return Signal(id="forget-gates-closed", claim=claim, citations=[place], facts=facts)


def _pinned(checkpoint: Checkpoint, tensor: TensorInfo, names: Sequence[str], gates: Mapping[str, Numbers]) -> Signal:
    share = _share_beyond(gates[names[0]])
    claim = f"{share:.0%} of the {names[0]} gates of `{tensor.name}` have a bias beyond {PINNED:g}: no input moves them"
    facts: dict[str, Fact] = {"saturated_series": tensor.name, "saturated_share": f"{share:.0%}"}
    place = cite_tensor(checkpoint, tensor, claim)
    return Signal(id="gate-biases-extreme", claim=claim, citations=[place], facts=facts)
