"""Steps through a program with abstract values: both sides of an open condition, twice through every loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from traindx.program.journal import Journal
from traindx.program.trace import Event, Loop, Trace, Turn
from traindx.program.values import Function, Imported, Layer, Made, Place, Scope, Tensor, Value
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.modules import Modules

if TYPE_CHECKING:
    from traindx.program.handing import Handed

DEEPEST = 30
"""calls within calls that are followed"""
STEPS = 60_000
"""statements that are followed before a program is left as it is: about a second of work"""


SECTION = object()
"""what the settings hold under the name of a section"""


class Spent(Exception):
    """The program is longer than what may be followed."""


@dataclass(slots=True)
class Frame:
    """A call that is being followed."""

    function: Function | None
    scope: Scope
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)


class Machine:
    """The state of a program while it is followed."""

    def __init__(self, units: Sequence[CodeUnit], settings: Mapping[str, object], steps: int = STEPS) -> None:
        self.units = {unit.path: unit for unit in units}
        self.settings = settings
        self.modules = Modules(self.units)
        self.trace = Trace()
        self.journal = Journal()
        self.scopes: dict[str, Scope] = {}
        self.frames: list[Frame] = []
        self.calls: list[Place] = []
        self.turns: tuple[Turn, ...] = ()
        self.guards: tuple[ast.expr, ...] = ()
        self.paths: dict[int, tuple[int, ...]] = {0: ()}
        self.spent: dict[int, tuple[int, ...]] = {}
        """iterations whose graph a backward has gone through, with the iterations that it happened in"""
        self.telling = 0
        """texts that are being put together, whose numbers are only told"""
        self.defined: list[Function] = []
        """functions in the order in which they were defined, methods and lambdas among them"""
        self.left: ast.expr | None = None
        """the condition under which one side has just left the block"""
        self.grad = True
        self.off: Place | None = None
        """where gradients were switched off"""
        self.autocast: tuple[Made, ...] = ()
        self.steps = steps
        self.ticks = 0
        """statements that were followed in all"""
        self.spare = steps
        """statements left for everything that is still to be tried"""
        self.in_sequence, self.inside_modules = 0, 0
        """containers that are being gone through, in which a layer has no call of its own; modules whose forward is"""
        self.passing: Event | None = None
        """the pass through a module of the program that is being followed"""
        self.guesses: dict[str, Layer] = {}
        """modules that are known by nothing but their names"""
        self.called: set[int] = set()
        """functions that were followed, by the identity of their nodes"""
        self.recurrences: dict[int, Layer] = {}
        """recurrent cells of the program itself, by the function or object that is called"""
        self.handed: dict[int, Handed] = {}
        """states as a call gave them back, by the identity of their values"""
        self.followed: Collection[int] = ()
        """functions that were followed as part of another program"""
        self.faults: list[str] = []
        self.seeded: int | None = None
        """the seed that the next random order is drawn with, where one was set just before"""
        self.unit: CodeUnit = units[0]

    @property
    def serial(self) -> int:
        """The innermost loop iteration; 0 outside all loops."""
        return self.turns[-1].serial if self.turns else 0

    @property
    def scope(self) -> Scope:
        """Where names are bound now."""
        return self.frames[-1].scope

    @property
    def function_name(self) -> str:
        """The innermost function that is being followed; empty at the top level of a module."""
        for frame in reversed(self.frames):
            if frame.function is not None:
                return frame.function.name
        return ""

    @property
    def in_a_model(self) -> bool:
        """Whether the forward of a module, or a method of an object of the program, is being followed."""
        return self.inside_modules > 0 or any(
            frame.function is not None and frame.function.owner is not None for frame in self.frames[-3:]
        )

    def place(self, node: ast.AST) -> Place:
        """A node of the unit that is being followed."""
        return Place(self.unit, node)

    def tick(self, price: int = 1) -> None:
        """Count a step; raises `Spent` where there were too many."""
        self.steps -= price
        self.ticks += price
        if self.steps < 0:
            raise Spent

    def event(self, kind: str, node: ast.AST, subject: Value, /, **facts: object) -> Event:
        """Write down that something happens."""
        found = Event(
            kind,
            self.place(node),
            self.turns,
            self.paths[self.serial],
            subject,
            self.function_name,
            self.guards,
            self.grad,
            len(self.trace.events),
            dict(facts),
            tuple(self.calls),
            self.off,
        )
        self.trace.add(found)
        return found

    @contextmanager
    def turn(self, loop: Loop, number: int) -> Iterator[None]:
        """One time through a loop."""
        serial = len(self.paths)
        before = self.turns
        self.turns = (*before, Turn(loop, number, serial))
        self.paths[serial] = tuple(turn.serial for turn in self.turns)
        try:
            yield
        finally:
            self.turns = before

    @contextmanager
    def only_told(self) -> Iterator[None]:
        """While a text is put together."""
        self.telling += 1
        try:
            yield
        finally:
            self.telling -= 1

    @contextmanager
    def graded(self, grad: bool) -> Iterator[None]:
        """With the recording of graphs on or off."""
        before, self.grad = self.grad, grad
        try:
            yield
        finally:
            self.grad = before

    def loop(self, node: ast.AST, source: Value, variable: str = "") -> Loop:
        """A loop, known to the trace once."""
        outer = self.turns[-1].loop if self.turns else None
        found = Loop(node, self.place(node), source, outer, self.function_name, variable)
        self.trace.loops.append(found)
        return found

    def bind(self, name: str, value: Value) -> None:
        """Give a name its value, where Python would."""
        self.journal.set(self.frames[-1].scope.names, name, value)

    def import_file(self, name: str) -> Imported | None:
        """A module of the program by its dotted name, followed on first use."""
        path = next(iter(self.modules.named(name, self.unit.path)), None) if name else None
        return Imported(self.scope_of(self.units[path])) if path in self.units and path is not None else None

    def scope_of(self, unit: CodeUnit) -> Scope:
        """The names of a module; what it does when it is imported is followed once."""
        if unit.path not in self.scopes:
            scope = self.scopes[unit.path] = Scope({}, None, unit)
            self.run(unit, scope)
        return self.scopes[unit.path]

    def run(self, unit: CodeUnit, scope: Scope) -> None:
        """Follow the top level of a module."""
        from traindx.program.statements import follow

        before, self.unit = self.unit, unit
        self.frames.append(Frame(None, scope))
        try:
            follow(self, unit.tree.body)
        finally:
            self.frames.pop()
            self.unit = before

    def attached(self, tensors: Sequence[Tensor]) -> tuple[frozenset[int], bool, frozenset[int]]:
        """The graph behind an operation on tensors: its iterations, whether they are certain, the layers."""
        graph: frozenset[int] = frozenset().union(*(part.graph for part in tensors))
        if not self.grad or not graph:
            return frozenset(), True, frozenset()
        # A part that is surely attached makes the whole so, whatever the others are.
        sure = any(part.graph and part.sure for part in tensors)
        return graph | {self.serial}, sure, frozenset().union(*(part.deps for part in tensors))


Handler = Callable[..., Value]
