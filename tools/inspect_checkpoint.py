"""What the checkpoints of a run hold, and what is wrong with them; nothing in them is executed."""

import re

from pydantic import Field

from traindx.contract import Signal, Value
from traindx.detectors.checkpoints import (
    adapters,
    agreement,
    batch_norm,
    code_keys,
    damage,
    dead_units,
    gates,
    moments,
    movement,
    not_finite,
    optimizer_state,
    saved_settings,
    scale,
    unsafe,
)
from traindx.detectors.checkpoints.movement import Movement, Saved
from traindx.detectors.checkpoints.progress import steps_taken
from traindx.detectors.curves.loss import main_loss
from traindx.detectors.curves.objective import objective
from traindx.readers import Run, Series
from traindx.readers.checkpoints import Checkpoint, Measure, optimizer_with_moments, read_moments, read_values
from traindx.readers.configs.tokenizers import Tokenizer, read_tokenizer, tokenizer_files
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

MOST_INSPECTED = 3
"""checkpoints, the latest, that are looked at in every respect; damage and danger are looked for in all"""


class Input(ToolInput):
    """Which checkpoint to look at."""

    checkpoint: str = Field(default="", description="path of a checkpoint; all when empty, the latest in detail")
    tensors: int = Field(default=20, ge=0, le=1000, description="list at most this many tensors, the largest first")


class TensorRow(Value):
    """A tensor: what its numbers are like."""

    name: str
    shape: list[int]
    dtype: str
    rms: float | None = None
    lowest: float | None = None
    highest: float | None = None
    not_finite: int = 0
    zero_rows: int = 0


class CheckpointReport(Value):
    """One checkpoint."""

    path: str
    format: str
    holds: str
    parameters: int
    steps: int | None
    optimizer: str = ""
    schedule: str = ""
    runs_code: list[str] = Field(default_factory=list, description="calls that loading it would make")
    needs_classes: list[str] = Field(default_factory=list, description="classes that loading it would import")
    problems: list[str] = Field(default_factory=list)
    tensors: list[TensorRow] = Field(default_factory=list)


class Inspection(ToolOutput):
    """The checkpoints, the latest first, and what moved between the first and the last."""

    checkpoints: list[CheckpointReport]
    moved: int | None = None
    unmoved: list[str] = Field(default_factory=list)


@tool(
    needs=["checkpoints", "files"],
    emits={
        **damage.SIGNALS,
        **unsafe.SIGNALS,
        **not_finite.SIGNALS,
        **moments.SIGNALS,
        **batch_norm.SIGNALS,
        **gates.SIGNALS,
        **dead_units.SIGNALS,
        **movement.SIGNALS,
        **optimizer_state.SIGNALS,
        **adapters.SIGNALS,
        **scale.SIGNALS,
        **agreement.SIGNALS,
        **code_keys.SIGNALS,
        **saved_settings.SIGNALS,
    },
)
def inspect_checkpoint(given: Input, run: Run) -> Inspection:
    """Look into checkpoints without loading them: damage, code in a pickle, NaN and Inf, dead units, gates, batch-norm
    statistics, optimizer, scaler and schedule, adapters that never trained, what moved between two files, and whether
    embedding, tokenizer and configuration agree.
    """
    rows = [row for row in (*run.checkpoints, *run.pickles) if given.checkpoint in {"", row.path}]
    if not rows:
        known = ", ".join(f"`{row.path}`" for row in run.checkpoints) or "none"
        raise NoData(f"no checkpoint to look at; found {known}")
    rows.sort(key=lambda row: _natural(row.path), reverse=True)
    saved = [_saved(row, run) for row in rows]
    readable = [one for one in saved if one.measures][:MOST_INSPECTED]
    compared = _compared(saved)
    freezes = _freezes(run)
    signals = [
        *damage.detect(rows),
        *unsafe.detect(rows),
        *not_finite.detect(rows, run.weights, _loss(run)),
        *moments.detect(rows, run.weights, _loss(run)),
        *movement.detect(compared, freezes),
        *_once([signal for one in readable for signal in _details(one, run, freezes)]),
    ]
    if not any(signal.id in saved_settings.SIGNALS for signal in signals):
        signals += saved_settings.unnamed(rows, run.settings)
    return Inspection(
        checkpoints=[_report(one, given.tensors) for one in saved[:50]],
        moved=len(compared.moved) if compared is not None else None,
        unmoved=[one.tensor.name for one in compared.unmoved[:50]] if compared is not None else [],
        signals=signals,
    )


def _details(one: Saved, run: Run, freezes: bool) -> list[Signal]:
    checkpoint, measures, steps = one.checkpoint, one.measures, one.steps
    with run.scope.open(checkpoint.path) as handle:
        biases = list(read_values(handle, checkpoint, gates.wanted(checkpoint)))
    group = optimizer_with_moments(checkpoint)
    states = read_moments(run.scope, checkpoint, group, run.checkpoints) if group is not None else []
    return [
        *batch_norm.detect(checkpoint, measures, steps),
        *gates.detect(checkpoint, biases),
        *dead_units.detect(checkpoint, states),
        *optimizer_state.detect(checkpoint, freezes),
        *adapters.detect(checkpoint, measures, steps),
        *scale.detect(checkpoint, measures, steps),
        *agreement.detect(checkpoint, run.settings, _tokenizers(run), run.errors),
        *code_keys.detect(checkpoint, run.code),
        *saved_settings.detect(checkpoint, run.settings),
    ]


def _saved(row: Checkpoint, run: Run) -> Saved:
    weights = run.weights.get(row.path)
    measures = weights.measures if weights is not None else ()
    return Saved(row, measures, steps_taken(row, measures, run.series))


def _compared(saved: list[Saved]) -> Movement | None:
    """The first and the last of the checkpoints that tell their step."""
    told = sorted((one for one in saved if one.measures and one.steps is not None), key=lambda one: one.steps or 0)
    return movement.between(told[0], told[-1]) if len(told) > 1 else None


def _freezes(run: Run) -> bool:
    """Whether settings or code speak of parts that are not to be trained."""
    return movement.speaks_of_freezing([row.key for row in run.settings] + [unit.text for unit in run.program])


def _loss(run: Run) -> Series | None:
    goal = run.once(objective)
    return goal.series if goal is not None else main_loss(run.series)


def _tokenizers(run: Run) -> list[Tokenizer]:
    found = []
    for file in tokenizer_files(run.files):
        with run.scope.open(file.path) as handle:
            found.append(read_tokenizer(handle, file.path))
    return [one for one in found if one is not None]


def _once(signals: list[Signal]) -> list[Signal]:
    """Each signal once: that of the latest checkpoint."""
    first: dict[str, Signal] = {}
    for signal in signals:
        first.setdefault(signal.id, signal)
    return list(first.values())


def _report(one: Saved, most: int) -> CheckpointReport:
    row = one.checkpoint
    return CheckpointReport(
        path=row.path,
        format=row.format,
        holds=row.holds,
        parameters=row.parameters,
        steps=one.steps,
        optimizer=", ".join(dict.fromkeys(row.optimizers.values())),
        schedule="; ".join(optimizer_state.schedulers(row)),
        runs_code=list(row.commands),
        needs_classes=list(row.objects[:20]),
        problems=list(row.problems),
        tensors=[_tensor(measure) for measure in sorted(one.measures, key=lambda one: -one.looked)[:most]],
    )


def _tensor(one: Measure) -> TensorRow:
    finite = one.finite > 0
    return TensorRow(
        name=one.tensor.path,
        shape=list(one.tensor.shape),
        dtype=one.tensor.dtype,
        rms=one.rms if finite else None,
        lowest=one.lowest if finite else None,
        highest=one.highest if finite else None,
        not_finite=one.nans + one.infinities,
        zero_rows=one.zero_rows,
    )


def _natural(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", path)]
