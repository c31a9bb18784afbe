"""What a training keeps alive from step to step, by the name that holds it.

## What it does
After each step, goes through everything that the script's own names hold: tensors and arrays in lists, dictionaries and
fields of objects, and the autograd graph behind tensors. Measures the memory of the process beside it.

## How to read it
A name that holds more with every step is what grows; `losses[…]` is a list, `self.cache['x']` an entry. Tensors that
bring their graph along keep whole forward passes alive: store `loss.item()`, or `tensor.detach()`.

## Limits
Memory that Python does not see (a C++ extension, a fragmented allocator, worker processes). Growth over hours that does
not show in the steps that were watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from pydantic import Field

from traindx.contract import Signal, Value
from traindx.monitor.probing.declaration import ProbeOutput, finding, measured, proven
from traindx.monitor.probing.frames import Named
from traindx.monitor.probing.holdings import Holding, holdings
from traindx.monitor.probing.instruments import Instruments
from traindx.monitor.probing.watching import Bounds, Watch
from traindx.runtime import NoData

SETTLES = {"memory-leak", "graph-retained-leak"}
ASKED_ABOUT = {"memory-growth", "out-of-memory"}
SIGNALS = {
    "probed-graph-kept": proven("a name keeps more graphs alive with every step"),
    "probed-memory-kept": measured("a name holds more tensors with every step"),
    "probed-memory-flat": measured("no name holds more from step to step"),
}
STEPS = 20
FEWEST = 6
SETTLED = 3
"""steps after which optimizers have made their state and caches are warm"""


class Kept(Value):
    """A name whose holdings grow."""

    name: str
    place: str
    what: str
    count: list[int] = Field(description="how many it held after each step")
    size: list[int] = Field(description="their bytes")
    depth: list[int] = Field(description="operations behind it, where the name is a tensor")


class MemoryGrowth(ProbeOutput):
    """What grows."""

    kept: list[Kept] = Field(default_factory=list)
    process_mb: list[float] = Field(default_factory=list, description="memory of the process after each step")


class MemoryWatch(Watch):
    """Counts after each step."""

    cuts_epochs = False

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.courses: dict[str, list[Holding]] = {}
        self.process: list[float] = []

    def step_ended(self, optimizer: Any) -> None:  # noqa: ARG002 - every optimizer counts
        """Look at everything that has a name."""
        for key, held in holdings().items():
            self.courses.setdefault(key, []).append(held)
        self.process.append(_process_mb())

    def answer(self) -> MemoryGrowth:
        """Judge every name."""
        steps = len(self.process)
        if steps < FEWEST:
            raise NoData(f"only {steps} optimizer steps were seen; {FEWEST} are needed")
        growing = [course for course in self.courses.values() if _grows(course, steps)]
        growing.sort(key=lambda course: -course[-1].size)
        signals = [signal for course in growing for signal in _signal(course)]
        flat = f"no name of the script holds more from step to step ({steps} steps)"
        if not signals:
            signals = [finding("probed-memory-flat", flat)]
        return MemoryGrowth(
            summary="; ".join(signal.claim for signal in signals[:3]),
            steps=steps,
            kept=[_kept(course) for course in growing[:8]],
            process_mb=self.process,
            signals=_strongest(signals),
        )


WATCH = MemoryWatch


def probe_memory_growth(step: Callable[[], Any], steps: int = STEPS) -> MemoryGrowth:
    """Call `step` (one training step with its optimizer) again and again, and see what it leaves behind."""
    watch = MemoryWatch(Bounds(steps=max(2, steps)))

    def train() -> None:
        for _ in range(steps):
            step()

    Instruments(watch).run(train)
    return watch.answer()


def _grows(course: list[Holding], steps: int) -> bool:
    """Whether it holds more after every one of the last steps: more tensors, or one with a deeper graph."""
    if len(course) < FEWEST or len(course) < steps - SETTLED:
        return False
    later = course[min(SETTLED, len(course) - FEWEST + 1) :]
    return all(b.tensors > a.tensors for a, b in pairwise(later)) or all(b.depth > a.depth for a, b in pairwise(later))


def _signal(course: list[Holding]) -> Iterator[Signal]:
    first, last = course[0], course[-1]
    named = last.named
    name = named.name.removesuffix("[…]")
    place = f"{named.path}:{named.line}" if named.line else named.path
    facts = {"held_by": name, "held_place": place}
    cited = [named.cite(f"`{name}` grows while this line runs")] if named.line else []
    if last.depth > first.depth and last.tensors <= first.tensors:
        said = f"the graph behind `{name}` grows with every step: depth {first.depth} -> {last.depth}"
        yield finding("probed-graph-kept", said, cited, **facts)
        return
    count = f"from {first.tensors} to {last.tensors} {last.what} in {len(course)} steps"
    if last.graphs > first.graphs:
        said = f"`{name}` goes {count}, each with its graph"
        yield finding("probed-graph-kept", said, cited, **facts)
    else:
        said = f"`{name}` goes {count} ({(last.size - first.size) / max(1, len(course) - 1) / 1000:,.1f} kB per step)"
        yield finding("probed-memory-kept", said, cited, **facts)


def _strongest(signals: list[Signal]) -> list[Signal]:
    """One signal of each kind: the one that holds most comes first."""
    found: dict[str, Signal] = {}
    for signal in signals:
        found.setdefault(signal.id, signal)
    return list(found.values())


def _kept(course: list[Holding]) -> Kept:
    named: Named = course[-1].named
    return Kept(
        name=named.name,
        place=f"{named.path}:{named.line}" if named.line else named.path,
        what=course[-1].what,
        count=[one.tensors for one in course],
        size=[one.size for one in course],
        depth=[one.depth for one in course],
    )


def _process_mb() -> float:
    import psutil

    return round(float(psutil.Process().memory_info().rss) / (1 << 20), 1)
