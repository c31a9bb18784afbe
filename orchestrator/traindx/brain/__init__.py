"""The minds that investigate: one interface, so that the local mind and a language model are interchangeable."""

from traindx.brain.interface import Brain, Case, Findings, Journal, Unwritten
from traindx.brain.local import LocalInvestigator

__all__ = ["Brain", "Case", "Findings", "Journal", "LocalInvestigator", "Unwritten"]
