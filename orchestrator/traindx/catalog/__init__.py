"""The failure modes: one file each under `prompts/failure_modes/`, scored by the local mind and read by people."""

from traindx.catalog.load import load_catalog, load_healthy
from traindx.catalog.mode import HEADINGS, FailureMode, Weight
from traindx.catalog.wording import fact_text, fix_for, issue_for

__all__ = [
    "HEADINGS",
    "FailureMode",
    "Weight",
    "fact_text",
    "fix_for",
    "issue_for",
    "load_catalog",
    "load_healthy",
]
