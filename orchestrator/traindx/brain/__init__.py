"""The minds that investigate: one interface, so that the local mind and a language model are interchangeable."""

from traindx.brain.interface import Brain, Case, Findings
from traindx.brain.local import LocalInvestigator

__all__ = ["Brain", "Case", "Findings", "LocalInvestigator"]
