"""The JSON contract: what flows between the rooms, and what a user's program may rely on."""

from traindx.contract.context import (
    Artifacts,
    CheckpointSummary,
    CodeState,
    CodeSummary,
    ConfigValue,
    Constraints,
    ContextPackage,
    DataSummary,
    ErrorSighting,
    ProjectProfile,
    RunSummary,
    SeriesSummary,
)
from traindx.contract.diagnosis import (
    SEVERITIES,
    Diagnosis,
    Evidence,
    Fix,
    Provenance,
    RequestSummary,
    RootCause,
    Severity,
    Status,
    ToolUse,
)
from traindx.contract.event import Event, Listener, unheard
from traindx.contract.signal import Citation, Fact, Signal
from traindx.contract.value import Value

__all__ = [
    "SEVERITIES",
    "Artifacts",
    "CheckpointSummary",
    "Citation",
    "CodeState",
    "CodeSummary",
    "ConfigValue",
    "Constraints",
    "ContextPackage",
    "DataSummary",
    "Diagnosis",
    "ErrorSighting",
    "Event",
    "Evidence",
    "Fact",
    "Fix",
    "Listener",
    "ProjectProfile",
    "Provenance",
    "RequestSummary",
    "RootCause",
    "RunSummary",
    "SeriesSummary",
    "Severity",
    "Signal",
    "Status",
    "ToolUse",
    "Value",
    "unheard",
]
