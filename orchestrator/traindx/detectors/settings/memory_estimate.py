"""What weights, gradients and optimizer of a model take on a device, and what is left for activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traindx.detectors.settings.lookup import named
from traindx.readers.model import Setting

_BATCH = ("batch_size", "per_device_train_batch_size", "train_batch_size", "micro_batch_size", "bs")
# Copies of the weights that an optimizer keeps, in numbers of four bytes; SGD with momentum has one.
_STATES = {"adam": 2.0, "adamw": 2.0, "nadam": 2.0, "radam": 2.0, "lamb": 2.0, "sgd": 1.0, "lion": 1.0, "rmsprop": 1.0}
_STATES |= {"adagrad": 1.0, "adafactor": 0.05, "adamw8bit": 0.5, "pagedadamw8bit": 0.5}
_HALF = ("bf16", "fp16", "bfloat16", "float16", "16-true", "bf16-true")


@dataclass(frozen=True)
class Estimate:
    """Bytes on the device before any activation."""

    parameters: int
    weights: int
    gradients: int
    optimizer: int
    batch: int | None
    assumed: str
    """what the estimate assumes"""

    @property
    def static(self) -> int:
        """Everything that does not depend on the batch."""
        return self.weights + self.gradients + self.optimizer


def estimate(parameters: int, trained: int, optimizer: str, settings: Sequence[Setting]) -> Estimate:
    """For a model of so many parameters, of which so many are trained."""
    kind = optimizer.lower().replace("_", "").replace("-", "")
    states = _STATES.get(kind, 2.0)
    # Autocast keeps weights in full precision; only a model that is loaded or cast to half precision is smaller.
    width = 2 if any(row.key.endswith("dtype") and str(row.value).lower() in _HALF for row in settings) else 4
    batch = named(settings, *_BATCH)
    assumed = f"{width} bytes per weight, {'Adam' if kind not in _STATES else optimizer}, nothing sharded or offloaded"
    return Estimate(
        parameters,
        parameters * width,
        trained * width,
        int(trained * 4 * states),
        int(batch.value) if batch is not None else None,
        assumed,
    )
