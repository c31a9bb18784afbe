"""Looking over a run folder, from inside the worker."""

from __future__ import annotations

from traindx.contract import (
    Artifacts,
    CheckpointSummary,
    CodeState,
    CodeSummary,
    ConfigValue,
    DataSummary,
    ErrorSummary,
    SeriesSummary,
)
from traindx.contract.context import ClusterSummary, UnreadFile
from traindx.contract.coverage import CoverageRow
from traindx.contract.remark import Notable, notable_of
from traindx.pipeline.context.model import Survey
from traindx.pipeline.context.runs import several_runs
from traindx.readers import Run
from traindx.readers.code.names import names_in
from traindx.readers.code.written import written_by
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.runtime import ToolInput, tool
from traindx.vocabulary.metrics import normalise

MOST_PATHS = 200
MOST_SETTINGS = 500
MOST_ERRORS = 50


class Input(ToolInput):
    """Nothing to choose."""


@tool(timeout=600.0)
def survey(given: Input, run: Run) -> Survey:  # noqa: ARG001 - every tool takes its input
    """List what the run left behind, by role, with every series, setting and error in one row each."""
    # These bring numpy along, which only the worker needs.
    from traindx.detectors.curves.objective import objective
    from traindx.detectors.curves.series import summarise

    goal = run.once(objective)
    judged = {} if goal is None else {(goal.series.source, goal.series.name): goal.shape}
    series = [summarise(row, judged.get((row.source, row.name))) for row in run.series if len(row)]
    settings = [ConfigValue(key=row.key, value=row.value, source=row.source, line=row.line) for row in run.settings]
    errors = [ErrorSummary(source=row.source, line=row.line, text=row.text, kind=row.kind) for row in run.errors]
    traits = sorted(set().union(*(file.traits for file in run.code)))
    left_out = [
        f"{len(rows) - most} further {name} are left out here; the tools see them"
        for name, rows, most in (
            ("settings", settings, MOST_SETTINGS),
            ("errors and warnings", errors, MOST_ERRORS),
        )
        if len(rows) > most
    ]
    checkpoints, data, cluster = checkpoint_rows(run), data_rows(run), cluster_rows(run)
    return Survey(
        artifacts=_artifacts(run, series, errors),
        series=series,
        settings=settings[:MOST_SETTINGS],
        errors=errors[:MOST_ERRORS],
        checkpoints=checkpoints,
        data=data,
        code=code_rows(run),
        names=names_in(run.program),
        records=_records(run),
        git=git_rows(run),
        cluster=cluster,
        runs=several_runs(run.files, run.series, run.errors),
        coverage=[
            CoverageRow(what=row.what, read=row.read, of=row.of, unit=row.unit, whole=row.whole) for row in run.coverage
        ],
        traits=traits,
        # Last, because what is read above leaves remarks.
        missing=(missing := [*_absent(run, series), *run.remarks, *left_out]),
        notable=notable_of(missing),
        unread=[UnreadFile(path=row.path, reason=row.reason) for row in run.unread],
        attempts=max((len(found) for found in run.attempts.values()), default=1),
        repeats=any(row.repeat for found in run.attempts.values() for row in found),
    )


def _artifacts(run: Run, series: list[SeriesSummary], errors: list[ErrorSummary]) -> Artifacts:
    def with_role(role: str) -> list[str]:
        return [file.path for file in run.files if file.role == role][:MOST_PATHS]

    return Artifacts(
        training_logs=with_role("log"),
        loss_curves=sorted({row.source for row in series if row.loss}),
        model_code=[file.path for file in run.code][:MOST_PATHS],
        error_messages=[f"{row.source}:{row.line}: {row.text}" for row in errors if row.kind == "error"][:MOST_ERRORS],
        config=with_role("config"),
        checkpoints=with_role("checkpoint"),
        data=with_role("data"),
        outputs=with_role("output"),
        probes=with_role("probe"),
    )


def _absent(run: Run, series: list[SeriesSummary]) -> list[str]:
    """What a diagnosis usually needs and this folder does not hold, each with the way to supply it."""
    roles = {file.role for file in run.files}
    if not run.files:
        return [Notable("the run folder has no readable file")]
    wanted = (
        (
            bool(roles & {"log", "metrics"}),
            "no training log or metrics table: add the file with the run's output",
        ),
        (
            any(row.loss for row in series),
            "no loss series: log the loss with its step or epoch",
        ),
        (any(row.name == "lr" for row in series), "the learning rate is not logged"),
        (any(normalise(row.original).kind == "norm" for row in series), "the gradient norm is not logged"),
        ("config" in roles, "no configuration file: add the config or the command line"),
        (bool(run.code), "no Python code: add the training script and the model"),
    )
    return [said for present, said in wanted if not present]


MOST = 50


def checkpoint_rows(run: Run) -> list[CheckpointSummary]:
    """Every checkpoint."""
    weights = run.weights
    return [
        CheckpointSummary(
            path=row.path,
            format=row.format,
            size=row.size,
            tensors=len(row.tensors),
            parameters=row.parameters,
            scalars=dict(list(row.scalars.items())[:20]),
            unsafe=list(row.unsafe),
            problems=[*row.problems, *weights[row.path].problems] if row.path in weights else list(row.problems),
            not_finite=[str(spoilt) for spoilt in weights[row.path].spoilt[:20]] if row.path in weights else [],
        )
        for row in run.checkpoints[:MOST]
    ]


def data_rows(run: Run) -> list[DataSummary]:
    """Every array and table of samples."""
    arrays = [DataSummary(path=_member(row), what=_array(row), not_finite=row.not_finite) for row in run.arrays]
    tables = [
        DataSummary(path=row.path, what=_table(row), not_finite=sum(column.missing for column in row.columns))
        for row in run.tables
    ]
    return [*arrays, *tables][:MOST]


def code_rows(run: Run) -> list[CodeSummary]:
    """Every code file, what it is for, and whether the entry point reaches it."""
    return [CodeSummary(path=row.path, roles=sorted(row.roles), reached=row.reached) for row in run.code[: 4 * MOST]]


def cluster_rows(run: Run) -> list[ClusterSummary]:
    """Every log that tells of ranks, a job or a launcher."""
    return [
        ClusterSummary(
            path=row.path,
            rank=row.rank.number if row.rank else None,
            kind=row.rank.kind if row.rank else "",
            ranks=list(row.ranks),
            job=row.job,
            launchers=list(row.launchers),
        )
        for row in run.cluster[:MOST]
    ]


def git_rows(run: Run) -> list[CodeState]:
    """Every commit the folder tells of."""
    return [
        CodeState(commit=row.commit, branch=row.branch, dirty=row.dirty, source=row.source) for row in run.git[:MOST]
    ]


def _member(row: ArrayInfo) -> str:
    return f"{row.path}[{row.member}]" if row.member else row.path


def _array(row: ArrayInfo) -> str:
    if row.problem:
        return row.problem
    shape = "x".join(map(str, row.shape)) or "scalar"
    between = "" if row.low is None or row.high is None else f", {row.low:.4g} to {row.high:.4g}, mean {row.mean:.4g}"
    bad = f", {row.not_finite} not finite" if row.not_finite else ""
    return f"{shape} {row.dtype}{between}{bad}"


def _records(run: Run) -> list[str]:
    written = written_by(run.program)
    return [file.path for file in run.files if file.role == "config" and file.path.rsplit("/", 1)[-1] in written]


def _table(row: TableInfo) -> str:
    missing = [f"{column.name}: {column.missing} missing" for column in row.columns if column.missing]
    names = ", ".join(column.name for column in row.columns[:8])
    more = f" and {len(row.columns) - 8} more" if len(row.columns) > 8 else ""
    rows = f"{row.rows:,} rows" if row.whole else f"{row.rows:,} rows, spread over the whole table,"
    return "; ".join([f"{rows} of {names}{more}", *missing[:4]])
