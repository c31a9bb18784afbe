"""What probes of this run have found out, from the files they left (`traindx-probe-NAME.json`)."""

from pydantic import Field

from traindx.contract import Signal, Value
from traindx.monitor.probing.declaration import probes
from traindx.monitor.probing.result import LARGEST, read_result
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.probe_results import NAME

MOST_FILES = 16


class Input(ToolInput):
    """Nothing to choose: every result in the folder is read."""


class ProbeAnswer(Value):
    """The answer of one probe."""

    probe: str
    path: str
    status: str
    said: str


class ProbeResults(ToolOutput):
    """The answers, and the files that are none."""

    answers: list[ProbeAnswer]
    not_read: list[str] = Field(default_factory=list, description="files of that name that hold no answer, and why")


@tool(needs=["probes"], emits={name: kind for probe in probes().values() for name, kind in probe.signals.items()})
def read_probe_results(given: Input, run: Run) -> ProbeResults:  # noqa: ARG001 - every tool takes its input
    """Read what `traindx probe` measured on this run: recurrent state, gradients, memory, learning rates, determinism,
    dependence on the input. The files are data like a log: cited by line, never executed.
    """
    paths = [file.path for file in run.files if NAME.search(file.path)]
    if not paths:
        raise NoData("no `traindx-probe-NAME.json` lies in the folder; `traindx probe` lists what can be measured")
    answers: list[ProbeAnswer] = []
    signals: list[Signal] = []
    not_read: list[str] = []
    for path in paths[:MOST_FILES]:
        with run.scope.open(path) as handle:
            text = handle.read(LARGEST + 1).decode("utf-8", "replace")
        try:
            kept = read_result(text, path)
        except ValueError as error:
            not_read.append(f"{path}: {error}")
            continue
        answers.append(ProbeAnswer(probe=kept.probe, path=path, status=kept.status, said=kept.said))
        signals += [_in_reach(signal, run) for signal in kept.signals]
    return ProbeResults(answers=answers, not_read=not_read, signals=signals)


def _in_reach(signal: Signal, run: Run) -> Signal:
    """A signal without the places that this folder does not hold."""
    present = {file.path for file in run.files}
    return signal.model_copy(update={"citations": [place for place in signal.citations if place.source in present]})
