"""What the layers of a model give out in one forward pass: dead and saturated units, and recurrent states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from traindx.monitor.hooks import Handle, Hook, remove
from traindx.monitor.lstm_health import LstmHealth, measure_lstm_health, read_lstm_health
from traindx.monitor.parameters import plain_name
from traindx.monitor.reporting import contained

if TYPE_CHECKING:
    from torch import Tensor

    from traindx.monitor.readings import Readings
    from traindx.monitor.reporting import Reporter

MOST_MODULES = 48
_ONE_SIDED = (nn.ReLU, nn.ReLU6, nn.Threshold)
"""activations that give zero, and a gradient of zero, to all that is not positive"""
_BOUNDED: dict[type[nn.Module], tuple[float, float]] = {
    nn.Tanh: (-1.0, 1.0),
    nn.Sigmoid: (0.0, 1.0),
    nn.Hardtanh: (-1.0, 1.0),
}
_NEAR = 0.01
"""of the range, the distance to a limit at which the slope of tanh and sigmoid is a fiftieth of its largest and less"""
_MOST_NUMBERS = 1 << 18
"""numbers of an activation that are looked at"""
_PICTURE = 4
_LAST_STATE = "lstm"


class Activations:
    """Hooks into the modules whose output tells something, for as long as they are attached."""

    def __init__(self, model: nn.Module, reporter: Reporter) -> None:
        self.reporter = reporter
        named = {plain_name(name): module for name, module in model.named_modules()}
        if hasattr(model, "_orig_mod") and len(named) > 1:
            reporter.say("the model is compiled, its layers are one graph: dead units and states are not measured")
            named = {}
        wanted = [(name, one) for name, one in named.items() if isinstance(one, (*_ONE_SIDED, *_BOUNDED))]
        self._units = _some(wanted)
        self._recurrent = [one for one in named.values() if isinstance(one, (nn.RNNBase, nn.RNNCellBase))]
        self._handles: list[Handle] = []
        self._measured: dict[str, Tensor] = {}
        self._states: dict[int, Any] = {}

    @property
    def any(self) -> bool:
        """Whether there is a module to look at."""
        return bool(self._units or self._recurrent)

    def attach(self) -> None:
        """Look at what is given out from now on."""
        self.detach()
        for name, module in self._units:
            self._handles.append(module.register_forward_hook(Hook(_Unit(self, name).see)))
        for number, module in enumerate(self._recurrent):
            self._handles.append(module.register_forward_hook(Hook(_State(self, number).see)))

    def detach(self) -> None:
        """Look no longer, and forget what was not collected."""
        remove(self._handles)
        self._measured.clear()
        self._states.clear()

    def collect(self, into: Readings) -> list[Any]:
        """Hand over what was measured; the states are returned, since their size is asked for later."""
        for name, value in self._measured.items():
            into.add(name, value)
        states = [self._states[number] for number in sorted(self._states)]
        measured = measure_lstm_health(states) if states else None
        if measured is not None:
            into.extend([f"{_LAST_STATE}{n}" for n in range(len(measured))], measured)
        return states

    @contained
    def unit(self, name: str, module: nn.Module, output: object) -> None:
        """Measure an output; of several in one step, as in a loop over time, the first."""
        if not module.training or not isinstance(output, torch.Tensor) or not output.is_floating_point():
            return
        dead = isinstance(module, _ONE_SIDED)
        key = f"{'dead' if dead else 'saturated'}/{name}"
        if key not in self._measured and output.numel():
            with torch.no_grad():
                seen = output.detach()
                self._measured[key] = dead_share(seen) if dead else saturated_share(seen, *_limits(module))

    @contained
    def state(self, number: int, module: nn.Module, output: object) -> None:
        """Keep the state that a recurrent module ends with: the last one, where it is called for each step of time."""
        if module.training:
            self._states[number] = output[1] if isinstance(module, nn.RNNBase) else output  # type: ignore[index]


class _Unit:
    def __init__(self, of: Activations, name: str) -> None:
        self._of, self._name = of, name

    def see(self, module: nn.Module, _: object, output: object) -> None:
        self._of.unit(self._name, module, output)


class _State:
    def __init__(self, of: Activations, number: int) -> None:
        self._of, self._number = of, number

    def see(self, module: nn.Module, _: object, output: object) -> None:
        self._of.state(self._number, module, output)


def split_state(values: dict[str, float], states: list[Any]) -> LstmHealth | None:
    """Take the numbers of the recurrent states out of what was fetched."""
    own = [values.pop(key) for key in [key for key in values if key.startswith(_LAST_STATE) and key[4:].isdigit()]]
    return read_lstm_health(own, states) if own else None


def dead_share(output: Tensor) -> Tensor:
    """The share of units that are at zero for every sample: channels of a picture, else the last dimension."""
    unit = 1 if output.dim() >= _PICTURE else -1
    units = output.transpose(unit, -1).reshape(-1, output.shape[unit])
    units = units[: max(1, _MOST_NUMBERS // max(1, units.shape[1]))]
    return (units.amax(0) <= 0).float().mean()


def saturated_share(output: Tensor, low: float, high: float) -> Tensor:
    """The share of numbers that are next to a limit."""
    flat = output.reshape(-1)[:_MOST_NUMBERS]
    middle, reach = (high + low) / 2, (0.5 - _NEAR) * (high - low)
    return ((flat - middle).abs() > reach).float().mean()


def _limits(module: nn.Module) -> tuple[float, float]:
    if isinstance(module, nn.Hardtanh):
        return module.min_val, module.max_val
    return next(limits for kind, limits in _BOUNDED.items() if isinstance(module, kind))


def _some(modules: list[tuple[str, Any]]) -> list[tuple[str, nn.Module]]:
    if len(modules) <= MOST_MODULES:
        return modules
    return [modules[round(n * (len(modules) - 1) / (MOST_MODULES - 1))] for n in range(MOST_MODULES)]
