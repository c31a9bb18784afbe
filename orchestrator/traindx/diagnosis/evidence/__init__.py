"""Evidence: every citation is opened again by code, and confidence is capped by what could be verified."""

from traindx.diagnosis.evidence.verify import CEILING, DIRECT, UNVERIFIED, Opened, judged, opened, opened_places, verify

__all__ = ["CEILING", "DIRECT", "UNVERIFIED", "Opened", "judged", "opened", "opened_places", "verify"]
