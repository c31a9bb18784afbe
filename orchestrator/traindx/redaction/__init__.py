"""Secrets masked before anything leaves the machine: the one place that knows what a secret looks like."""

from traindx.redaction.redactor import Redactor

__all__ = ["Redactor"]
