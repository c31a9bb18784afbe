"""What probes answered: every signal of every probe is read from its file, and from none that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check
from traindx.contract import Signal
from traindx.monitor.probing.declaration import PREFIX, probes
from traindx.monitor.probing.result import result_text
from traindx.runtime import ToolResult
from traindx.vocabulary.probe_results import file_name

TOOL = "read_probe_results"


def answered(probe: str, signal: str, status: str = "ok") -> dict[str, str]:
    """The folder of a run in which a probe kept its answer."""
    found = Signal(id=signal, claim="measured in eight steps")
    output = {"summary": "eight steps", "signals": [found.model_dump()]} if status == "ok" else {}
    given = {"tool": f"{PREFIX}{probe}", "status": status, "output": output, "reason": "" if status == "ok" else "cut"}
    return {file_name(probe): result_text(ToolResult.model_validate(given))}


def told_by_another(probe: str, signal: str) -> dict[str, str]:
    """A claim under the name of a probe that never says it, beside one that could not look."""
    other = next(name for name, one in probes().items() if signal not in one.signals)
    return {**answered(other, signal), **answered(probe, signal, "failed")}


CASES: list[Case] = [
    *(
        case(TOOL, f"{signal}: kept", answered(name, signal), signal)
        for name, one in probes().items()
        for signal in one.signals
    ),
    *(
        case(TOOL, f"{signal}: of another probe", told_by_another(name, signal), silent=signal)
        for name, one in probes().items()
        for signal in one.signals
    ),
]


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_answers_of_probes(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
