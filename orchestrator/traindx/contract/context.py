"""The context package: everything the engine hands to a specialist."""

from __future__ import annotations

from pydantic import Field

from traindx.contract.coverage import CoverageRow
from traindx.contract.signal import Fact, Signal
from traindx.contract.value import Value


class Artifacts(Value):
    """Paths of what the run left, by role; all relative to the run folder."""

    training_logs: list[str] = Field(default_factory=list)
    loss_curves: list[str] = Field(default_factory=list)
    model_code: list[str] = Field(default_factory=list)
    error_messages: list[str] = Field(default_factory=list, description="`path:line: text`, root before cascade")
    config: list[str] = Field(default_factory=list)
    checkpoints: list[str] = Field(default_factory=list)
    data: list[str] = Field(default_factory=list)
    outputs: list[str] = Field(default_factory=list)
    probes: list[str] = Field(default_factory=list, description="what `traindx probe` has measured on this run")


class SeriesSummary(Value):
    """A metric over time, in one row."""

    name: str = Field(description="normalised, e.g. `train/loss`")
    original: str = Field(description="as the run wrote it")
    source: str
    axis: str = Field(description="`epoch`, `step` or `row`: what the points are counted in")
    points: int
    start: float = Field(description="first position on the axis")
    end: float = Field(description="last position on the axis")
    first: float
    last: float
    lowest: float
    highest: float
    non_finite: int = 0
    diverged: bool = Field(default=False, description="whether a loss rose far above its best and stayed there")
    restarts: int = Field(default=0, description="how often the axis jumps back: resumed, or another run appended")
    thinned: int = Field(default=1, description="one point in so many was kept")
    duplicate_of: str = Field(default="", description="the file that holds the same series point by point")
    loss: bool = Field(default=False, description="whether it is a loss of some kind: lower is better")
    judged: bool = Field(default=False, description="whether it is the curve that the run is judged by")


class ConfigValue(Value):
    """A setting and where it stands."""

    key: str = Field(description="dotted path, e.g. `optimizer.lr`")
    value: Fact
    source: str
    line: int


class ErrorSummary(Value):
    """An error or warning that the run printed."""

    source: str
    line: int
    text: str
    kind: str = Field(description="`error` or `warning`")


class CheckpointSummary(Value):
    """A checkpoint, described without loading it."""

    path: str
    format: str
    size: int
    tensors: int
    parameters: int
    scalars: dict[str, Fact] = Field(default_factory=dict, description="what it records: epoch, step, best loss")
    unsafe: list[str] = Field(default_factory=list, description="names that run code when the file is loaded")
    problems: list[str] = Field(default_factory=list)
    not_finite: list[str] = Field(default_factory=list, description="tensors that hold NaN or Inf, with how many")


class DataSummary(Value):
    """An array or a table of samples, in one row."""

    path: str
    what: str = Field(description="shape and type, or rows and columns, with the range of the values")
    not_finite: int = 0


class CodeSummary(Value):
    """A code file and what it is there for."""

    path: str
    roles: list[str]
    reached: bool = Field(description="whether it is an entry point or imported from one")


class CodeState(Value):
    """The commit the run was made from, as far as the folder tells."""

    commit: str = ""
    branch: str = ""
    dirty: bool | None = None
    source: str = ""


class ClusterSummary(Value):
    """What a log tells of the distributed job that wrote it."""

    path: str
    rank: int | None = Field(default=None, description="the process named in the file name")
    kind: str = Field(default="", description="what `rank` counts: `rank`, `worker`, `node`")
    ranks: list[int] = Field(default_factory=list, description="the processes whose lines are mixed in the file")
    job: str = Field(default="", description="the scheduler's number of the job")
    launchers: list[str] = Field(default_factory=list, description="`torchrun`, `slurm`: what started it")


class RunSummary(Value):
    """One of several runs in a folder."""

    path: str
    failed: bool
    healthy: bool = Field(default=False, description="whether an investigation found it healthy")
    why: str = Field(default="", description="the sign of failure, or how far it got")
    files: list[str] = Field(
        default_factory=list, description="the files that are its own, where several runs share a folder"
    )


class Constraints(Value):
    """What the specialist has to keep to."""

    max_analysis_time: str = "5 minutes"
    output_format: str = "structured_diagnosis"


class ProjectProfile(Value):
    """`.traindx/project.md`: what the project's own people know about it."""

    source: str
    facts: dict[str, object] = Field(default_factory=dict, description="the front matter, as written")
    prose: str = ""


class UnreadFile(Value):
    """A file that could not be read, and why; not a file in which nothing was found."""

    path: str
    reason: str


class ContextPackage(Value):
    """Engine to specialist. The first four keys are older than this package and keep their shape."""

    task: str = "Diagnose training failure"
    artifacts: Artifacts
    symptoms: list[str] = Field(default_factory=list)
    constraints: Constraints = Constraints()
    signals: list[Signal] = Field(default_factory=list)
    project: ProjectProfile | None = None
    missing: list[str] = Field(default_factory=list, description="what was looked for and not found, or not read")
    unread: list[UnreadFile] = Field(default_factory=list, description="files that a reader failed on")
    attempts: int = Field(default=1, description="how many attempts wrote the log that was started most often")
    repeats: bool = Field(
        default=False, description="whether those are folds or seeds that one program trained in turn"
    )
    notable: list[str] = Field(default_factory=list, description="those of `missing` that every report shows")
    run: str = Field(default="", description="name of the run folder")
    series: list[SeriesSummary] = Field(default_factory=list)
    settings: list[ConfigValue] = Field(default_factory=list)
    errors: list[ErrorSummary] = Field(default_factory=list)
    checkpoints: list[CheckpointSummary] = Field(default_factory=list)
    data: list[DataSummary] = Field(default_factory=list)
    code: list[CodeSummary] = Field(default_factory=list)
    names: dict[str, str] = Field(
        default_factory=dict, description="what the program calls `model`, `optimizer`, `loss` …"
    )
    records: list[str] = Field(
        default_factory=list,
        description="configuration files that the run's own program writes: changing one changes nothing",
    )
    git: list[CodeState] = Field(default_factory=list)
    cluster: list[ClusterSummary] = Field(default_factory=list, description="filled for distributed jobs")
    runs: list[RunSummary] = Field(default_factory=list, description="filled when the folder holds several runs")
    traits: list[str] = Field(default_factory=list, description="what the code shows, e.g. `torch`, `recurrent`, `gan`")
    coverage: list[CoverageRow] = Field(default_factory=list, description="how much was read of how much")
