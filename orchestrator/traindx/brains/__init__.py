"""The brains that investigate: one interface, so that the local one and a language model are interchangeable."""

from traindx.brains.interface import Brain, Case, NullTranscript, Transcript
from traindx.brains.local import LocalInvestigator

__all__ = ["Brain", "Case", "LocalInvestigator", "NullTranscript", "Transcript"]
