"""What the survey of a run folder gives."""

from __future__ import annotations

from pydantic import Field

from traindx.contract import (
    Artifacts,
    CheckpointSummary,
    CodeState,
    CodeSummary,
    ConfigValue,
    DataSummary,
    ErrorSummary,
    RunSummary,
    SeriesSummary,
)
from traindx.contract.context import ClusterSummary, UnreadFile
from traindx.contract.coverage import CoverageRow
from traindx.runtime import Task, ToolOutput

SURVEY = Task("survey")


class Survey(ToolOutput):
    """The artifacts' part of the context package."""

    artifacts: Artifacts
    series: list[SeriesSummary]
    settings: list[ConfigValue]
    errors: list[ErrorSummary]
    checkpoints: list[CheckpointSummary]
    data: list[DataSummary]
    code: list[CodeSummary]
    names: dict[str, str]
    records: list[str]
    git: list[CodeState]
    cluster: list[ClusterSummary]
    runs: list[RunSummary]
    traits: list[str]
    coverage: list[CoverageRow]
    missing: list[str] = Field(description="what was not found, not read, or left out")
    unread: list[UnreadFile] = Field(description="files that a reader failed on")
    attempts: int = Field(description="how many attempts wrote the log that was started most often")
    repeats: bool = Field(description="whether those are folds or seeds that one program trained in turn")
    notable: list[str] = Field(default_factory=list, description="those of `missing` that every report shows")
