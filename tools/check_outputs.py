"""Whether the outputs vary: measures of diversity that were logged, and files of samples."""

from traindx.detectors.outputs import confusion, one_class, samples, variety
from traindx.readers import Run
from traindx.readers.excerpts import last_line, read_excerpt
from traindx.readers.model import Stretch
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

_TEXTS = (".txt", ".log", ".md", ".jsonl")


class Input(ToolInput):
    """No options: every measure of variety and every file of samples is checked."""


class OutputReport(ToolOutput):
    """The measures and the files."""

    series: list[str]
    files: list[str]


@tool(
    needs=["series", "files"],
    emits={**variety.SIGNALS, **samples.SIGNALS, **one_class.SIGNALS, **confusion.SIGNALS},
)
def check_outputs(given: Input, run: Run) -> OutputReport:  # noqa: ARG001 - every tool takes its input
    """Look whether samples or predictions repeat: logged counts of distinct outputs, pairwise distances, spreads of
    embeddings, and text files of samples.
    """
    series = run.series
    measures = variety.measures(series)
    files = [file.path for file in run.files if file.role == "output" and file.path.endswith(_TEXTS)]
    logs = [file.path for file in run.files if file.role == "log"]
    classes = [
        *one_class.frozen(series),
        *confusion.detect(read_excerpt(run, confusion.wanted_lines(path, series)) for path in logs),
        *one_class.unbalanced(series),
        *one_class.all_positive(series),
    ]
    if not measures and not files and not classes:
        raise NoData("no measure of variety among the series and no text file of samples")
    measured = [variety.detect(row, last_line(run, row) if row.place == "line" else "") for row in measures]
    read = [samples.detect(read_excerpt(run, Stretch(path, 1, samples.MOST_LINES))) for path in files]
    repeated = [signal for signal in [*measured, *read] if signal is not None]
    return OutputReport(series=[row.original for row in measures], files=files, signals=[*repeated, *classes])
