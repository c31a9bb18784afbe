"""What a training program does, in the order in which it does it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from traindx.program.values import Function, Layer, Made, Place, Tensor, Value


@dataclass(slots=True, eq=False)
class Loop:
    """A loop that was followed; a framework's own loop has the call that starts it as its node."""

    node: ast.AST
    place: Place
    source: Value
    """what it goes through: a loader, a range, a tensor"""
    outer: Loop | None = None
    function: str = ""
    variable: str = ""

    @property
    def depth(self) -> int:
        """How many loops are around it."""
        return 0 if self.outer is None else self.outer.depth + 1


@dataclass(frozen=True, slots=True)
class Turn:
    """One time through a loop."""

    loop: Loop
    number: int
    """1 or 2; a list that is known is gone through element by element"""
    serial: int


@dataclass(slots=True, eq=False)
class Event:
    """One thing that the program does."""

    kind: str
    """`forward`, `recurrent`, `loss`, `backward`, `step`, `zero`, `clip`, `schedule`, `mode`, `scale` …"""
    place: Place
    turns: tuple[Turn, ...]
    """the loop iterations it happens in, outermost first"""
    path: tuple[int, ...]
    """the serial numbers of these loop iterations, outermost first"""
    subject: Value
    """the module, optimizer, scheduler, tensor that it is done to"""
    function: str = ""
    guards: tuple[ast.expr, ...] = ()
    """conditions that nobody could decide and under which it happens"""
    grad: bool = True
    at: int = 0
    """its place in the trace"""
    facts: dict[str, Any] = field(default_factory=dict)
    calls: tuple[Place, ...] = ()
    """the calls that led here, outermost first"""
    off: Place | None = None
    """where gradients were switched off, if they are"""

    @property
    def loop(self) -> Loop | None:
        """The innermost loop around it."""
        return self.turns[-1].loop if self.turns else None


@dataclass(slots=True)
class Trace:
    """Everything that was seen."""

    events: list[Event] = field(default_factory=list)
    layers: dict[int, Layer] = field(default_factory=dict)
    blocks: dict[int, Layer] = field(default_factory=dict)
    """Keras layers that were called, by their number"""
    optimizers: list[Made] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    """functions of the program that were called"""
    remarks: list[str] = field(default_factory=list)
    main: int = 0
    """the events of what the entry points reach; later ones are of functions that nothing calls"""
    _kinds: dict[str, list[Event]] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Write an event down."""
        self.events.append(event)
        self._kinds.setdefault(event.kind, []).append(event)

    def of(self, *kinds: str) -> list[Event]:
        """The events of some kinds, in order."""
        if len(kinds) == 1:
            return list(self._kinds.get(kinds[0], ()))
        return sorted((event for kind in kinds for event in self._kinds.get(kind, ())), key=lambda event: event.at)


def tensor_of(event: Event, name: str = "value") -> Tensor | None:
    """The tensor that an event carries under a name."""
    found = event.facts.get(name)
    return found if isinstance(found, Tensor) else None
