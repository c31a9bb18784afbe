"""Understanding a request: what kind of trouble, which symptoms, which specialists. No model is asked."""

from traindx.contract.request import AgentBrief, Mentions, Quantity, Ranked, Request
from traindx.pipeline.request.understanding import compile_phrases, understand
from traindx.vocabulary.kinds import KINDS, Kind

__all__ = [
    "KINDS",
    "AgentBrief",
    "Kind",
    "Mentions",
    "Quantity",
    "Ranked",
    "Request",
    "compile_phrases",
    "understand",
]
