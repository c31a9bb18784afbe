"""The recurrent calls of a training: what state each got, where that came from, what graph it carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from traindx.monitor.probing.frames import Named, here, name_of
from traindx.monitor.probing.graphs import NOTHING, Reach, mark, reach, tensors_in
from traindx.monitor.probing.watching import ModuleCall

PARTS: dict[str, tuple[str, ...]] = {"LSTM": ("h", "c"), "LSTMCell": ("h", "c")}
_MOST_CALLS = 4_000


@dataclass(frozen=True)
class PartSeen:
    """One tensor of a state as it came into a call."""

    reach: Reach
    zero: bool
    carried: bool
    """whether it holds what an earlier call of the same layer gave back"""


@dataclass(frozen=True)
class CallSeen:
    """One call of a recurrent layer. A window ends with a backward pass: `window` counts those before this call."""

    window: int
    place_in_window: int
    length: int
    """time steps that the layer goes through in this call"""
    given: bool
    """whether a state was handed in at all"""
    parts: tuple[PartSeen, ...]
    restarted: bool
    """whether the data began anew since the call before"""
    shuffled: bool


@dataclass
class Layer:
    """A recurrent layer (or a module that gets its own earlier output back), with its calls."""

    module: Any
    """kept, so that no other module gets its id"""
    kind: str
    builtin: bool
    named: Named | None = None
    place: Named | None = None
    calls: list[CallSeen] = field(default_factory=list)
    names: dict[int, Named] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    """windows whose loss reaches this layer"""
    trained: set[int] = field(default_factory=set)
    """windows in which its output had a graph, and that ended with a backward pass"""
    cut: Named | None = None
    """a `detach` of what it gave back, within the window"""
    discarded: Named | None = None
    """a `detach` whose result did not replace the state"""
    _detached: list[tuple[Any, Named | None]] = field(default_factory=list)

    def part_name(self, part: int) -> str:
        """The user's own name of a part of the state, or what it is in the layer."""
        if part in self.names:
            return self.names[part].name
        parts = PARTS.get(self.kind, ())
        return parts[part] if part < len(parts) else "state"

    def saw_detach(self, source: Any) -> None:
        """Remember that a part of the latest output was detached, and where."""
        if any(source is one for one in self.outputs):
            named = name_of(source)
            line = here()
            self._detached.append(
                (source, Named(named.name, line.path, line.line, line.function) if named and line else line)
            )
            self.cut = self.cut or self._detached[-1][1]

    def check_discarded(self, state: Sequence[Any]) -> None:
        """See whether what comes in is what a `detach` was called on, and not its result."""
        for source, place in self._detached:
            if any(source is one and one.grad_fn is not None for one in state):
                self.discarded = self.discarded or place
        self._detached.clear()


class Recurrence:
    """Follows every recurrent layer of a training."""

    def __init__(self) -> None:
        self.layers: dict[int, Layer] = {}
        self.window = 0
        self.closed = False
        """whether a backward pass has ended the window: the next call begins another"""
        self.restarted: set[int] = set()
        self.shuffled = False
        self._last_outputs: dict[int, tuple[Any, list[Any]]] = {}
        self._first_input: Any = None
        self._others_since = 0

    def called(self, call: ModuleCall) -> None:
        """Look at the state that a recurrent layer is given."""
        import torch

        if not torch.is_grad_enabled():
            return
        if self.closed:
            self.window, self.closed = self.window + 1, False
        layer = self._layer_of(call)
        if layer is None or len(layer.calls) >= _MOST_CALLS:
            return
        state = list(tensors_in(_state_of(call, layer)))
        layer.check_discarded(state)
        layer.place = layer.place or here()
        self._name(layer, state)
        if layer.builtin:
            self._see_input(call)
        place = sum(one.window == self.window for one in layer.calls[-64:])
        restarted = id(call.module) in self.restarted
        self.restarted.discard(id(call.module))
        layer.calls.append(
            CallSeen(
                window=self.window,
                place_in_window=place,
                length=_length(call),
                given=bool(state),
                parts=tuple(_seen(one, layer.outputs) for one in state),
                restarted=restarted,
                shuffled=self.shuffled,
            )
        )

    def returned(self, call: ModuleCall, output: Any) -> None:
        """Remember what a layer gave back, marked with its window."""
        import torch

        if not torch.is_grad_enabled():
            return
        layer = self.layers.get(id(call.module))
        given = list(tensors_in(output))[:16]
        for one in given:
            mark(one, self.window, id(call.module) if layer is not None else None)
        if layer is None:
            if call.depth == 0:
                self._last_outputs[id(call.module)] = (call.module, given)
            return
        layer.outputs = given

    def backward(self, roots: Sequence[Any]) -> None:
        """See which layers a loss reaches, and end the window."""
        found = {made for root in roots if hasattr(root, "grad_fn") for made in reach(root).layers}
        for layer in self.layers.values():
            if (
                layer.calls
                and layer.calls[-1].window == self.window
                and any(one.requires_grad for one in layer.outputs)
            ):
                layer.trained.add(self.window)
                if (id(layer.module), self.window) in found:
                    layer.reached.add(self.window)
        self.closed = True

    def restart(self) -> None:
        """The data begins anew."""
        self.restarted = set(self.layers)

    def undetached(self) -> bool:
        """Whether a state of the present window carries the graph of an earlier one."""
        calls = [one.calls[-1] for one in self.layers.values() if one.calls]
        return any(behind(call, part) for call in calls for part in range(len(call.parts)))

    def _layer_of(self, call: ModuleCall) -> Layer | None:
        from torch import nn

        known = self.layers.get(id(call.module))
        if known is not None:
            return known
        builtin = isinstance(call.module, (nn.RNNBase, nn.RNNCellBase))
        if not builtin and not self._fed_back(call):
            return None
        layer = Layer(call.module, type(call.module).__name__, builtin, name_of(call.module))
        if not builtin:
            layer.outputs = self._last_outputs[id(call.module)][1]
        self.layers[id(call.module)] = layer
        return layer

    def _fed_back(self, call: ModuleCall) -> bool:
        """Whether a module gets a tensor that it gave back before."""
        earlier = self._last_outputs.get(id(call.module), (None, []))[1]
        given = list(tensors_in((call.args, dict(call.kwargs))))
        return any(_same(one, other) for one in given for other in earlier)

    def _name(self, layer: Layer, state: Sequence[Any]) -> None:
        for part, tensor in enumerate(state):
            if part not in layer.names or self.window < 3:
                named = name_of(tensor)
                if named is not None and named.name:
                    layer.names[part] = named

    def _see_input(self, call: ModuleCall) -> None:
        """Data that begins anew without a loader: the very first input is there again, after others."""
        import torch

        inputs = list(tensors_in(call.args[:1]))
        if not inputs or call.depth > 8:
            return
        now = inputs[0].detach()
        if self._first_input is None:
            self._first_input = now.clone()
        elif now.shape == self._first_input.shape and torch.equal(now, self._first_input):
            if self._others_since >= 2:
                self.restart()
            self._others_since = 0
        else:
            self._others_since += 1


def behind(call: CallSeen, part: int) -> int:
    """How many backward passes ago the oldest graph was made that a part of the state carries."""
    earlier = [one for one in call.parts[part].reach.windows if one < call.window] if part < len(call.parts) else []
    return call.window - min(earlier) if earlier else 0


def _state_of(call: ModuleCall, layer: Layer) -> Any:
    """What a layer of torch takes as its state; of any other module, what it gave back before."""
    if layer.builtin:
        return call.args[1] if len(call.args) > 1 else call.kwargs.get("hx")
    given = tensors_in((call.args, dict(call.kwargs)))
    return [one for one in given if any(_same(one, other) for other in layer.outputs)]


def _length(call: ModuleCall) -> int:
    """Time steps of a call; 1 for a cell."""
    first = call.args[0] if call.args else call.kwargs.get("input")
    if not hasattr(call.module, "batch_first"):
        return 1
    sizes = getattr(first, "batch_sizes", None)
    if sizes is not None:
        return len(sizes)
    shape: list[int] = list(getattr(first, "shape", []))
    if len(shape) == 2:
        return shape[0]
    return shape[1 if call.module.batch_first else 0] if len(shape) == 3 else 1


def _seen(tensor: Any, outputs: Sequence[Any]) -> PartSeen:
    zero = not bool(tensor.detach().any())
    carried = any(_same(tensor, one) for one in outputs)
    return PartSeen(reach(tensor) if tensor.requires_grad else NOTHING, zero, carried and not zero)


def _same(tensor: Any, other: Any) -> bool:
    """Whether two tensors are one, or hold the same values: `detach`, `clone`, `.data` and copies included."""
    import torch

    if tensor is other:
        return True
    if tensor.numel() == 0 or tensor.numel() != other.numel() or tensor.dtype != other.dtype:
        return False
    left, right = tensor.detach().reshape(-1), other.detach().reshape(-1)
    return left.device == right.device and bool(torch.equal(left, right))
