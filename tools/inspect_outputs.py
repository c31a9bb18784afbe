"""Whether the outputs vary and end: measures that were logged, files of samples and predictions, samples in logs."""

import re

from traindx.contract import Signal
from traindx.detectors.outputs import confusion, endings, one_class, predicted, repetition, samples, variety
from traindx.detectors.program import adapter_order, added_tokens, padding
from traindx.readers import Run
from traindx.readers.excerpts import last_line, read_excerpt, read_tail
from traindx.readers.logs.printed_samples import printed_samples
from traindx.readers.model import Stretch
from traindx.readers.tables.predictions import read_predictions, read_records
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.data_names import stem_of

_NUMBER = re.compile(r"\d{1,18}")
_TEXTS = (".txt", ".log", ".md", ".jsonl")
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


class Input(ToolInput):
    """No options: every measure of variety, every file of outputs and every log is checked."""


class OutputReport(ToolOutput):
    """The measures, the files, and how many samples the logs show."""

    series: list[str]
    files: list[str]
    printed: int = 0


@tool(
    needs=["series", "files"],
    emits={
        **variety.SIGNALS,
        **samples.SIGNALS,
        **one_class.SIGNALS,
        **confusion.SIGNALS,
        **repetition.SIGNALS,
        **predicted.SIGNALS,
        **endings.SIGNALS,
        **padding.SIGNALS,
        **added_tokens.SIGNALS,
        **adapter_order.SIGNALS,
    },
)
def inspect_outputs(given: Input, run: Run) -> OutputReport:  # noqa: ARG001 - every tool takes its input
    """Look whether samples or predictions repeat, are all of one class, one number or NaN, and whether samples ever end
    by themselves: logged measures, prediction files, text files of samples, and samples printed inside logs.
    """
    series = run.series
    measures = variety.measures(series)
    files = _latest(
        [file.path for file in run.files if file.role == "output" and file.path.endswith((*_TEXTS, *_TABLES))]
    )
    logs = [file.path for file in run.files if file.role == "log"]
    measured = [variety.detect(row, last_line(run, row) if row.place == "line" else "") for row in measures]
    read = [
        samples.detect(read_excerpt(run, Stretch(path, 1, samples.MOST_LINES)))
        for path in files
        if path.endswith(_TEXTS)
    ]
    shown, printed = _printed(run, logs)
    found = [
        *[signal for signal in [*measured, *read] if signal is not None],
        *one_class.frozen(series),
        *confusion.detect(read_excerpt(run, confusion.wanted_lines(path, series)) for path in logs),
        *one_class.unbalanced(series),
        *one_class.all_positive(series),
        *_predictions(run, files),
        *predicted.in_arrays(run.arrays),
        *shown,
        *endings.in_series(series),
        *padding.detect(run.program),
        *added_tokens.detect(run.program),
        *adapter_order.detect(run.program),
    ]
    if not found and not measures and not files and not printed:
        raise NoData("no measure of variety among the series, no file of outputs and no sample in a log")
    names = [row.original for row in measures]
    return OutputReport(series=names, files=files, printed=printed, signals=_consistent(found))


def _latest(paths: list[str]) -> list[str]:
    """Of files that were written step by step, `samples/step_100.txt` and on, the last: early samples mostly repeat."""
    last: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: [int(number) for number in _NUMBER.findall(path)]):
        last[stem_of(path)] = path
    return sorted(last.values())


def _predictions(run: Run, files: list[str]) -> list[Signal]:
    found: list[Signal] = []
    for path in files:
        rows = read_predictions(run, path) if path.endswith(_TABLES) else None
        if rows is not None:
            found += [*predicted.in_table(rows), *endings.in_texts([], [rows])]
        if path.endswith((".jsonl", ".ndjson")):
            records = read_records(run, path)
            found += endings.in_records([row for _, row in records], path, [line for line, _ in records])
    return found


def _printed(run: Run, logs: list[str]) -> tuple[list[Signal], int]:
    found: list[Signal] = []
    count = 0
    for path in logs:
        tail = read_tail(run, path)
        numbered = list(tail.numbered())
        shown = printed_samples(numbered)
        count += len(shown)
        found += [*repetition.in_log(path, shown), *endings.in_lines(path, numbered)]
    return found, count


def _consistent(found: list[Signal]) -> list[Signal]:
    """Varied outputs in one place do not speak against a collapse that another place shows."""
    places = {one.id: [place for row in found if row.id == one.id for place in row.citations] for one in found}
    found = [one.model_copy(update={"citations": places[one.id]}) for one in found]
    collapsed = any(signal.id in {"outputs-collapsed", "outputs-constant", "one-class-predicted"} for signal in found)
    return [signal for signal in found if signal.id != "outputs-varied" or not collapsed]
