"""Understanding a request: what kind of trouble, which symptoms, which specialists. No model is asked."""

from traindx.request.kinds import KINDS, Kind
from traindx.request.model import AgentBrief, Mentions, Quantity, Ranked, Request
from traindx.request.understanding import understand

__all__ = ["KINDS", "AgentBrief", "Kind", "Mentions", "Quantity", "Ranked", "Request", "understand"]
