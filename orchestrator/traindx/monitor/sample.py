"""One step that is measured in full: activations, gradients, updates, inputs, states; read from the device once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traindx.monitor.activations import Activations, split_state
from traindx.monitor.inputs import MEAN, SPREAD, statistics
from traindx.monitor.readings import Readings
from traindx.monitor.steps import Gradients, Updates
from traindx.vocabulary.telemetry import C_MAX, C_NORM, H_MAX, H_NORM, HAS_INF, HAS_NAN

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

    from traindx.monitor.lstm_health import LstmHealth
    from traindx.monitor.reporting import Reporter
    from traindx.monitor.telemetry_file import Value

LAYERS_EVERY = 4
"""samples from one in which layers are told one by one to the next"""


class Sample:
    """Measures the steps that `begin` announces, and nothing in between."""

    def __init__(self, model: nn.Module, optimizers: Sequence[Optimizer], reporter: Reporter) -> None:
        self._model, self._optimizers, self._reporter = model, optimizers, reporter
        self.active = self._by_layer = False
        self._begun = 0
        self._own, self._of_gradients = Readings(), Readings()
        self.gradients = Gradients(model)
        self.activations = Activations(model, reporter)
        self._updates: Updates | None = None
        self._has_inputs = False

    def begin(self) -> None:
        """Measure the step that comes."""
        self.active, self._by_layer = True, self._begun % LAYERS_EVERY == 0
        self._begun += 1
        if self._by_layer:  # layers may have been frozen or added
            self.gradients = Gradients(self._model)
        self._has_inputs = False
        self.activations.attach()

    def see_inputs(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Measure what the model is given first."""
        if not self._has_inputs and (found := statistics(args, kwargs)) is not None:
            self._own.extend((MEAN, SPREAD), found)
        self._has_inputs = True

    def see_gradients(self) -> None:
        """Measure the gradients as they are now, which replaces an earlier measurement in the same step."""
        self._of_gradients = Readings()
        self.gradients.measure(self._of_gradients, self._groups(), self._by_layer)

    def before_update(self) -> None:
        """Keep the weights, and measure the gradients unless that was done."""
        if not len(self._of_gradients):
            self.see_gradients()
        self._updates = Updates(self.gradients.parameters)
        self._updates.before()

    def finish(self, also: Readings) -> dict[str, Value]:
        """What was measured in the step, with other readings that wait on the device."""
        if self._updates is not None:
            self._updates.after(self._of_gradients, self._by_layer)
        states = self.activations.collect(self._own)
        values: dict[str, float] = {}
        try:
            self._own.include(self._of_gradients)
            self._own.include(also)
            values = self._own.fetch()
        finally:
            self.drop()
        health = split_state(values, states)
        return {**values, **(state_row(health) if health is not None else {})}

    def drop(self) -> None:
        """Measure no longer."""
        self.active = False
        self.activations.detach()
        self._own, self._of_gradients, self._updates = Readings(), Readings(), None

    def _groups(self) -> dict[str, list[str]]:
        groups = [group for optimizer in self._optimizers for group in optimizer.param_groups]
        if len(groups) < 2:
            return {}
        names = {id(one): name for name, one in self.gradients.parameters.items()}
        return {
            str(number): [names[id(one)] for one in group["params"] if id(one) in names]
            for number, group in enumerate(groups)
        }


def state_row(health: LstmHealth) -> dict[str, Value]:
    """The health of a recurrent state under the keys of telemetry."""
    row: dict[str, Value] = {
        H_NORM: health.h_norm,
        C_NORM: health.c_norm,
        H_MAX: health.h_max,
        C_MAX: health.c_max,
        HAS_NAN: health.has_nan,
        HAS_INF: health.has_inf,
        "lstm_h_rms": health.h_rms,
        "lstm_c_rms": health.c_rms,
        "lstm_h_sample_max": health.h_sample_max,
        "lstm_h_sample_min": health.h_sample_min,
    }
    return {key: value for key, value in row.items() if value is not None}
