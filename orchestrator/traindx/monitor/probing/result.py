"""The file that a probe's answer is kept in; lying in a run's folder it is evidence, cited by line."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import ValidationError

from traindx.contract import Citation, Signal
from traindx.monitor.probing.declaration import PREFIX, probes
from traindx.runtime import ToolResult

LARGEST = 8 << 20
_LONGEST_CLAIM = 400


def result_text(result: ToolResult) -> str:
    """The answer as JSON, one value to a line."""
    return result.model_dump_json(indent=2) + "\n"


@dataclass(frozen=True)
class Kept:
    """What a file of that name says; it may have been written by anyone."""

    probe: str
    status: str
    said: str
    signals: tuple[Signal, ...] = ()


def read_result(text: str, path: str) -> Kept:
    """The answer in a file, each signal with the line that it stands in; raises `ValueError` for anything else."""
    try:
        result = ToolResult.model_validate_json(text)
        signals = result.signals
    except (ValidationError, TypeError, AttributeError, RecursionError):
        raise ValueError("it is no answer of a probe") from None
    name = result.tool.removeprefix(PREFIX)
    if name not in probes():
        raise ValueError(f"there is no probe `{name[:60]}`")
    lines = text.splitlines()
    known = [one for one in signals if one.id in probes()[name].signals] if result.status == "ok" else []
    said = str(result.output.get("summary") or result.reason)[:_LONGEST_CLAIM]
    return Kept(name, result.status, said, tuple(_placed(one, path, lines, result.tool) for one in known))


def _placed(signal: Signal, path: str, lines: list[str], tool: str) -> Signal:
    """A signal that cites the line of the file with its claim, and the places that it names itself."""
    claim = signal.claim[:_LONGEST_CLAIM]
    spelt = json.dumps(signal.claim, ensure_ascii=False)
    line = next((number for number, row in enumerate(lines, 1) if '"claim"' in row and spelt in row), None)
    quote = lines[line - 1].strip() if line else ""
    here = Citation(claim=claim, source=path, locator=f"line {line}", quote=quote) if line else None
    # What was measured stands in this file; the program shows only the line that it was measured at.
    places = [place.model_copy(update={"claim": "the line that the probe names"}) for place in signal.citations[:4]]
    return Signal(
        id=signal.id,
        claim=f"`{tool}` measured: {claim}",
        citations=[*([here] if here else []), *places],
        facts=signal.facts,
    )
