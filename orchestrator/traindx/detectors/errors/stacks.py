"""Which process does something else than the others: their stacks in groups, the small group is the suspect."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.traces.stacks import Frame, Stack

SIGNALS = {
    "stack-outlier": "one process stands elsewhere in its code than all the others, which wait",
    "stacks-all-wait": "every process waits in the same place",
}
FEWEST = 3
"""processes from which an outlier can be told"""
DEPTH = 6
"""innermost calls that two stacks must share to be the same: line numbers of a waiting loop differ"""
_WAITS = (
    *("all_reduce", "allreduce", "all_gather", "reduce_scatter", "barrier", "broadcast", "wait", "synchronize"),
    *("recv", "poll", "_try_get_data", "get", "select", "accept", "join", "acquire"),
)
"""parts of the names of calls that wait for another process, a thread or the device"""


def detect(stacks: Sequence[Stack]) -> list[Signal]:
    """The group of the few against the group of the many; one group alone says that all wait for something outside."""
    groups: dict[tuple[str, ...], list[Stack]] = {}
    for stack in stacks:
        groups.setdefault(_signature(stack), []).append(stack)
    ordered = sorted(groups.values(), key=lambda rows: -len(rows))
    if len(stacks) < FEWEST or not ordered:
        return [_all_wait(ordered[0])] if len(stacks) > 1 and len(ordered) == 1 and _waits(ordered[0][0]) else []
    most = ordered[0]
    if len(most) == len(stacks):
        return [_all_wait(most)] if _waits(most[0]) else []
    few = [stack for rows in ordered[1:] for stack in rows]
    if len(few) > len(stacks) // 3:
        return []
    names = ", ".join(stack.process for stack in few[:8])
    claim = f"{names} stands in `{_spot(few[0])}`, the other {len(most)} processes in `{_spot(most[0])}`"
    places = [
        cite_line(few[0].source, few[0].line, f"{few[0].process} is here", few[0].text),
        cite_line(most[0].source, most[0].line, f"{most[0].process} and {len(most) - 1} more wait here", most[0].text),
    ]
    facts: dict[str, Fact] = {
        "straggler": ", ".join(stack.process.removeprefix("rank ") for stack in few[:8]),
        "suspect_call": _spot(few[0]),
        "others_call": _spot(most[0]),
    }
    return [Signal(id="stack-outlier", claim=claim, citations=places, facts=facts)]


def _all_wait(rows: Sequence[Stack]) -> Signal:
    one = rows[0]
    claim = f"all {len(rows)} processes wait in `{_spot(one)}`"
    facts: dict[str, Fact] = {"suspect_call": _spot(one)}
    return Signal(
        id="stacks-all-wait", claim=claim, citations=[cite_line(one.source, one.line, claim, one.text)], facts=facts
    )


def _signature(stack: Stack) -> tuple[str, ...]:
    return tuple(frame.function for frame in stack.frames[:DEPTH])


def _waits(stack: Stack) -> bool:
    return any(word in frame.function for frame in stack.frames[:3] for word in _WAITS)


def _spot(stack: Stack) -> str:
    """The innermost call outside the libraries, else the innermost."""
    own = next((frame for frame in stack.frames if not _installed(frame)), stack.frames[0])
    return f"{own.function} ({own.file.rsplit('/', 1)[-1]}:{own.line})"


def _installed(frame: Frame) -> bool:
    return any(
        part in frame.file for part in ("site-packages", "dist-packages", "/lib/python", "torch/", "threading.py")
    )
