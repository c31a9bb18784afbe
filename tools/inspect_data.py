"""Whether the data is fit to be learned from: gaps, scale, labels, order, overlap of the splits."""

from traindx.detectors.data import (
    alignment,
    annotations,
    balance,
    content,
    gaps,
    labels,
    named_labels,
    order,
    overlap,
    scale,
    shards,
)
from traindx.detectors.program import classes, input_scaling, loading, validation_data
from traindx.readers import Run
from traindx.readers.excerpts import log_heads
from traindx.readers.tables.filenames import read_listed
from traindx.readers.tables.samples import read_samples
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


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
    },
)
def inspect_data(given: Input, run: Run) -> DataReport:  # noqa: ARG001 - every tool takes its input
    """Look at the data itself: NaN and gaps with their line, unscaled or constant inputs, labels outside the classes or
    misaligned, class frequencies, sorted files that nobody shuffles, samples shared by training and validation.
    """
    tables, arrays, code, settings = run.tables, run.arrays, run.program, run.settings
    told = labels.labels_of(tables, arrays)
    count = classes.class_count(code, settings)
    close = read_samples(run)
    found = [
        *gaps.detect(tables, arrays),
        *scale.in_data(tables, arrays, left_alone=input_scaling.scales(code) is False),
        *scale.in_logs(log_heads(run, scale.MOST_LINES)),
        *content.detect(tables, arrays),
        *labels.outside(told, count, classes.ignored_labels(code, settings)),
        *balance.detect(told, log_heads(run, balance.MOST_LINES), run.series),
        *order.detect(told, loading.unshuffled(code, settings)),
        *overlap.detect(close, arrays),
        *(alignment.detect(close, arrays) or named_labels.detect(read_listed(run))),
        *shards.detect(arrays),
        *annotations.detect(log_heads(run, annotations.MOST_LINES), run.series),
        *loading.detect(code, settings),
        *input_scaling.detect(code, settings),
        *validation_data.detect(code, settings, run.series),
        *classes.weighed(code, settings),
    ]
    if not found and not tables and not arrays:
        raise NoData("no table or array of samples, and nothing in code or logs that tells of the data")
    names = sorted({row.path for row in arrays})
    return DataReport(tables=[row.path for row in tables], arrays=names, classes=count, signals=found)
