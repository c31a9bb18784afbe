"""Whether the data is fit to be learned from: gaps, scale, labels, order, overlap of the splits."""

from collections.abc import Collection

from traindx.contract import Signal
from traindx.detectors.data import (
    alignment,
    annotations,
    balance,
    content,
    gaps,
    joined,
    labels,
    named_labels,
    order,
    overlap,
    pictures,
    scale,
    shards,
    shifted,
    split_paths,
    worded_labels,
)
from traindx.detectors.program import (
    classes,
    column_reads,
    input_scaling,
    loading,
    parallel_lists,
    unit_casts,
    validation_data,
)
from traindx.detectors.program.target_columns import target_columns
from traindx.readers import Run
from traindx.readers.excerpts import log_heads
from traindx.readers.tables.filenames import read_listed
from traindx.readers.tables.identities import read_identities
from traindx.readers.tables.pictures import read_pictures
from traindx.readers.tables.samples import Samples, read_samples
from traindx.readers.tables.worded import read_worded
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns


class Input(ToolInput):
    """No options: every table and array of the run is looked at."""


class DataReport(ToolOutput):
    """What was looked at."""

    tables: list[str]
    arrays: list[str]
    classes: int | None


@tool(
    needs=["files"],
    emits={
        **gaps.SIGNALS,
        **scale.SIGNALS,
        **content.SIGNALS,
        **pictures.SIGNALS,
        **labels.SIGNALS,
        **balance.SIGNALS,
        **order.SIGNALS,
        **overlap.SIGNALS,
        **alignment.SIGNALS,
        **shards.SIGNALS,
        **annotations.SIGNALS,
        **loading.SIGNALS,
        **input_scaling.SIGNALS,
        **validation_data.SIGNALS,
        **classes.SIGNALS,
        **parallel_lists.SIGNALS,
    },
)
def inspect_data(given: Input, run: Run) -> DataReport:  # noqa: ARG001 - every tool takes its input
    """Look at the data itself: NaN and gaps with their line, unscaled or constant inputs, labels outside the classes or
    misaligned, class frequencies, sorted files that nobody shuffles, samples shared by training and validation.
    """
    tables, arrays, code, settings = run.tables, run.arrays, run.program, run.settings
    targets = target_columns(code, tables)
    told = labels.labels_of(tables, arrays, targets)
    count = classes.class_count(code, settings)
    close = read_samples(run)
    found = [
        *gaps.detect(tables, arrays),
        *scale.in_data(tables, arrays, left_alone=input_scaling.scales(code) is False),
        *scale.in_logs(log_heads(run, scale.MOST_LINES)),
        *content.detect(tables, arrays),
        *pictures.detect(read_pictures(run), unit_casts.detect(run.code)),
        *column_reads.added(
            labels.outside(
                [row for row in told if row.column is None or not shifted.moved(row.column.name, row.low, code)],
                count,
                classes.ignored_labels(code, settings),
            )
            or labels.named(told, run.errors, error_patterns(run.project)),
            code,
        ),
        *balance.detect(told, log_heads(run, balance.MOST_LINES), run.series),
        *(
            order.detect(told, loading.unshuffled(code, settings))
            or order.in_time(tables, loading.unshuffled(code, settings))
        ),
        *overlap.detect(close, arrays, tables),
        *_mixed_up(run, close, targets),
        *parallel_lists.detect(code),
        *shards.detect(arrays),
        *shards.empty(run.files, arrays),
        *annotations.detect(log_heads(run, annotations.MOST_LINES), run.series),
        *loading.detect(code, settings),
        *input_scaling.detect(code, settings),
        *(validation_data.detect(code, settings, run.series) or split_paths.detect(settings)),
        *classes.weighed(code, settings),
    ]
    if not found and not tables and not arrays:
        raise NoData("no table or array of samples, and nothing in code or logs that tells of the data")
    names = sorted({row.path for row in arrays})
    return DataReport(tables=[row.path for row in tables], arrays=names, classes=count, signals=found)


def _mixed_up(run: Run, close: list[Samples], targets: Collection[str]) -> list[Signal]:
    """What numbers, names of files and words say of the labels beside them; the first that says anything."""
    return (
        alignment.detect(close, run.arrays, targets)
        or joined.detect(read_identities(run), run.arrays, run.program)
        or named_labels.detect(read_listed(run))
        or worded_labels.detect(read_worded(run, targets))
    )
