"""The local brain: deterministic, offline, free; it weighs signals against the catalog."""

from traindx.brains.local.investigator import LocalInvestigator

__all__ = ["LocalInvestigator"]
