"""Looking over a run folder, from inside the worker."""

from __future__ import annotations

from traindx.artifacts import Run
from traindx.context.model import Survey
from traindx.context.rows import checkpoint_rows, cluster_rows, code_rows, data_rows, git_rows
from traindx.context.runs import several_runs
from traindx.contract import (
    Artifacts,
    ConfigValue,
    ErrorSighting,
    SeriesSummary,
)
from traindx.toolbelt import ToolInput, tool

MOST_PATHS = 200
MOST_SETTINGS = 500
MOST_ERRORS = 50


class Question(ToolInput):
    """Nothing to choose."""


@tool(timeout=600.0)
def survey(question: Question, run: Run) -> Survey:  # noqa: ARG001 - every tool takes its input
    """List what the run left behind, by role, with every series, setting and error in one row each."""
    from traindx.curves import objective, summarise  # brings numpy along, which only the worker needs

    goal = objective(run)
    judged = None if goal is None else (goal.series.source, goal.series.name)
    series = [summarise(row, (row.source, row.name) == judged) for row in run.series if len(row)]
    settings = [ConfigValue(key=row.key, value=row.value, source=row.source, line=row.line) for row in run.settings]
    errors = [ErrorSighting(source=row.source, line=row.line, text=row.text, kind=row.kind) for row in run.sightings]
    traits = sorted(set().union(*(file.traits for file in run.code)))
    left_out = [
        f"{len(rows) - most} further {name} are left out here; the tools see them"
        for name, rows, most in (
            ("settings", settings, MOST_SETTINGS),
            ("errors and warnings", errors, MOST_ERRORS),
        )
        if len(rows) > most
    ]
    return Survey(
        artifacts=_artifacts(run, series, errors),
        series=series,
        settings=settings[:MOST_SETTINGS],
        errors=errors[:MOST_ERRORS],
        checkpoints=checkpoint_rows(run),
        data=data_rows(run),
        code=code_rows(run),
        git=git_rows(run),
        cluster=cluster_rows(run),
        runs=several_runs(run),
        traits=traits,
        missing=[*_absent(run, series), *run.remarks, *left_out],
    )


def _artifacts(run: Run, series: list[SeriesSummary], errors: list[ErrorSighting]) -> Artifacts:
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
    )


def _absent(run: Run, series: list[SeriesSummary]) -> list[str]:
    """What a diagnosis usually needs and this folder does not hold, each with the way to supply it."""
    roles = {file.role for file in run.files}
    if not run.files:
        return ["the run folder holds no file that could be read"]
    wanted = (
        (
            bool(roles & {"log", "metrics"}),
            "no training log or metrics table: add the file the run printed to",
        ),
        (
            any(row.loss for row in series),
            "no loss series: log the loss with its step or epoch",
        ),
        (any(row.name == "lr" for row in series), "the learning rate is not logged"),
        (any(row.name == "grad_norm" for row in series), "the gradient norm is not logged"),
        ("config" in roles, "no configuration file: add the config or the command line"),
        (bool(run.code), "no Python code: add the training script and the model"),
    )
    return [said for present, said in wanted if not present]
