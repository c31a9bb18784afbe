"""Optional packages: imported by the first test that uses one, which is skipped where the package is missing."""

from __future__ import annotations

import warnings
from typing import Any

import pytest


class _Extra:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # When it collects, pytest asks every object of a module for names such as `__test__` and `pytestmark`.
        if attribute.startswith("_") or attribute == "pytestmark":
            raise AttributeError(attribute)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = pytest.importorskip(self._name)
        return getattr(module, attribute)


torch: Any = _Extra("torch")
tensorboard: Any = _Extra("torch.utils.tensorboard")
pyarrow: Any = _Extra("pyarrow")
parquet: Any = _Extra("pyarrow.parquet")
safetensors: Any = _Extra("safetensors.torch")
