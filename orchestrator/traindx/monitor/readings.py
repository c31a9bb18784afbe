"""Numbers that were measured on a device, fetched together: the device is waited for once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Readings:
    """Collects tensors under the names of their numbers."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._values: list[Tensor] = []

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str, value: Tensor) -> None:
        """Take in one number."""
        self.extend((name,), value)

    def extend(self, names: Sequence[str], values: Tensor) -> None:
        """Take in a tensor with a number for each name."""
        values = values.detach().reshape(-1)
        if values.numel() != len(names):
            raise ValueError(f"{values.numel()} numbers for {len(names)} names")
        self._names += names
        self._values.append(values)

    def include(self, other: Readings) -> None:
        """Take in what another collection holds."""
        self._names += other._names
        self._values += other._values

    def fetch(self) -> dict[str, float]:
        """All numbers, by name; nothing is left."""
        names, values = self._names, self._values
        self._names, self._values = [], []
        if not names:
            return {}
        home = values[0].device
        wide = torch.float64 if any(one.dtype is torch.float64 for one in values) else torch.float32
        return dict(zip(names, torch.cat([one.to(home, wide) for one in values]).tolist(), strict=True))
