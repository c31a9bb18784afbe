"""The numbers among what a framework logs."""

from __future__ import annotations

from collections.abc import Mapping

import torch


def numbers_of(logged: Mapping[str, object]) -> dict[str, float]:
    """Numbers and tensors with one number, by name; texts, pictures and flags are left out."""
    found: dict[str, float] = {}
    for name, value in logged.items():
        if isinstance(value, torch.Tensor) and value.numel() == 1:
            found[name] = float(value.detach())
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[name] = float(value)
    return found
