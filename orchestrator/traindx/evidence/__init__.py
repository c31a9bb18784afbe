"""Evidence: every citation is opened again by code, and confidence is capped by what could be verified."""

from traindx.evidence.policy import CEILING, DIRECT, UNVERIFIED, judged
from traindx.evidence.verify import opened, verify

__all__ = ["CEILING", "DIRECT", "UNVERIFIED", "judged", "opened", "verify"]
