"""Published detectors as small baselines, one file each; every module here that declares `RULE` is one."""

from __future__ import annotations

import importlib
import pkgutil

from baselines.rule import Rule
from baselines.seen import Seen, see

__all__ = ["Rule", "Seen", "find_rules", "see"]


def find_rules() -> list[Rule]:
    """Every rule of this folder, by file name."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return [module.RULE for module in modules if hasattr(module, "RULE")]
