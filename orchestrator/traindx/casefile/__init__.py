"""Case files: an investigation written down while it happens, to be replayed offline or resumed."""

from traindx.casefile.record import Record, read_case
from traindx.casefile.writer import CaseFile, default_place

__all__ = ["CaseFile", "Record", "default_place", "read_case"]
