"""What a variable may hold while a program is followed: tensors with their history, modules, optimizers, constants."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple

from traindx.program.ranges import Range
from traindx.readers.code.codeunit import CodeUnit

_NUMBERS = count(1)
NOTHING: frozenset[Any] = frozenset()
LEAF = frozenset({-1})
"""the graph of a parameter or of a tensor that asks for a gradient: there is no operation behind it"""
Shape = tuple[int | None, ...]


class Place(NamedTuple):
    """A piece of source."""

    unit: CodeUnit
    node: ast.AST

    @property
    def line(self) -> int:
        """The line of the unit's code; 1 where the node has none."""
        return getattr(self.node, "lineno", 1)

    @property
    def text(self) -> str:
        """`train.py:41`."""
        return self.unit.place(self.line)

    @property
    def source(self) -> str:
        """The whole line, comments included."""
        text = self.unit.source
        lines = text.split("\n", self.line)
        return lines[self.line - 1] if len(lines) >= self.line else ""

    @property
    def quote(self) -> str:
        """The line as it stands there."""
        return self.unit.quote(self.line)


class Value:
    """Anything that a name may be bound to; this one nobody knows anything about."""

    __slots__ = ()


UNKNOWN = Value()


@dataclass(frozen=True, slots=True)
class Guess(Value):
    """An unknown value, with the name that it came under: `args.lr`, a parameter, what a foreign call returned."""

    name: str = ""
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Plain(Value):
    """A constant of the program: a number, a text, None, True. `sure` is how it came about: `constant`, `config`,
    `default` of a command line, `omitted` for a parameter that the program's own call leaves at its default, `varies`.
    """

    value: object
    sure: str = "constant"
    name: str = ""
    """the name it was last bound to"""
    counts: str = ""
    """`batches` for the length of a loader and its multiples, `epochs` for the length of an epoch loop"""


@dataclass(frozen=True, slots=True)
class Library(Value):
    """A package, or something in one, by its full name: `torch.nn.functional.softmax`."""

    name: str


@dataclass(frozen=True, slots=True)
class LossTerm:
    """The loss function that made a number, and what went in."""

    kind: str
    place: Place
    prediction: Value
    target: Value


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a value left its graph, and by what: `.item()`, `.detach()`, `no_grad`."""

    by: str
    place: Place


@dataclass(frozen=True, slots=True)
class Tensor(Value):
    """A tensor or array: the graph behind it, what was last done to it, its shape."""

    graph: frozenset[int] = NOTHING
    """the loop iterations in which the operations behind it ran (`Machine.paths`)"""
    sure: bool = True
    """whether the graph is the same on every path"""
    deps: frozenset[int] = NOTHING
    """the layers whose parameters it depends on through the graph"""
    act: str = ""
    """`linear`, `softmax`, `sigmoid`, `relu` …: what the values are straight after"""
    act_at: Place | None = None
    act_dim: int | None = None
    shape: Shape | None = None
    dtype: str = ""
    loss: LossTerm | None = None
    sign: int = 1
    divided: bool = False
    """whether it was divided by something, as a loss is for accumulation"""
    states: frozenset[tuple[int, int]] = NOTHING
    """recurrent state: the layer and the iteration that made it; a detach does not take this away"""
    marks: frozenset[str] = NOTHING
    cut: Cut | None = None
    origin: frozenset[int] = NOTHING
    """the data sets or arrays that the values were taken from"""
    order: frozenset[int] = NOTHING
    """the permutations that its rows were put in order by; of an index, the one that it is"""
    rows: tuple[float, float] | None = None
    """the rows of its origin, where a slice has chosen some"""
    made: Place | None = None
    """where zeros were made, or raw values became floats"""
    range: Range | None = None
    """between which numbers its elements lie; None where nothing is known of that"""

    def but(self, **changes: Any) -> Tensor:
        """The same tensor with some fields changed; written out, because it is most of what is done to tensors."""
        made = object.__new__(Tensor)
        for write, value in zip(_WRITES, _READ(self), strict=True):
            write(made, value)
        for name, value in changes.items():
            _WRITE[name](made, value)
        return made

    def marked(self, *marks: str) -> Tensor:
        """The same tensor with more marks."""
        return self.but(marks=self.marks | frozenset(marks))


_WRITE = {name: vars(Tensor)[name].__set__ for name in Tensor.__slots__}
_WRITES = tuple(_WRITE.values())
_READ = attrgetter(*Tensor.__slots__)


@dataclass(slots=True, eq=False)
class Object(Value):
    """Something with identity and fields."""

    fields: dict[str, Value] = field(default_factory=dict)
    place: Place | None = None
    number: int = field(default_factory=lambda: next(_NUMBERS))


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function or lambda of the program, with the scope it was defined in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    unit: CodeUnit
    scope: Scope
    owner: Class | None = None
    marks: frozenset[str] = NOTHING
    """`no_grad`, `property`, `staticmethod`, `classmethod`"""

    @property
    def name(self) -> str:
        """The function's name; of a lambda, `lambda`."""
        return getattr(self.node, "name", "lambda")


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the program."""

    node: ast.ClassDef
    unit: CodeUnit
    scope: Scope
    bases: tuple[Value, ...]
    members: dict[str, Value]
    _known: set[str] | None = None

    def find(self, name: str, depth: int = 8) -> Value | None:
        """A member of the class or of the first base that has it."""
        if name in self.members:
            return self.members[name]
        for base in self.bases if depth else ():
            found = base.find(name, depth - 1) if isinstance(base, Class) else None
            if found is not None:
                return found
        return None

    def library_bases(self, depth: int = 8) -> set[str]:
        """The full names of the library classes it descends from."""
        if self._known is not None:
            return self._known
        names: set[str] = set()
        for base in self.bases if depth else ():
            if isinstance(base, Library):
                names.add(base.name)
            elif isinstance(base, Class):
                names |= base.library_bases(depth - 1)
        self._known = names
        return names

    def descends(self, *endings: str) -> bool:
        """Whether a library base has one of these last names."""
        return any(name.rpartition(".")[2] in endings for name in self.library_bases())


@dataclass(slots=True, eq=False)
class Instance(Object):
    """An object of a class of the program."""

    cls: Class | None = None


@dataclass(slots=True, eq=False)
class Layer(Object):
    """A module of a library: a layer with its arguments, or a container with its children in `fields`."""

    kind: str = "?"
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    guessed: bool = False
    """taken for a module by its name alone"""


@dataclass(slots=True, eq=False)
class Made(Object):
    """Any other library object: an optimizer, a loader, a scaler, a loss; `args` as they were given."""

    kind: str = ""
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    layers: frozenset[int] = NOTHING
    """of an optimizer: the layers whose parameters it was given"""
    known: bool = True
    """of an optimizer: whether all its parameters are known"""

    def argument(self, at: int, name: str) -> Value | None:
        """An argument by its name or place."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[at] if 0 <= at < len(self.args) else None


@dataclass(frozen=True, slots=True)
class Parameters(Value):
    """Parameters of layers, as `parameters()` gives them."""

    layers: frozenset[int]
    known: bool = True
    owner: Value | None = None


@dataclass(frozen=True, slots=True)
class Gradient(Value):
    """The gradients of parameters: `p.grad`."""

    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Method(Value):
    """Something of an object that can be called."""

    owner: Value
    name: str
    function: Function | None = None


@dataclass(slots=True, eq=False)
class Items(Value):
    """A tuple, list, set or generator; `more` where there are other elements as well."""

    items: list[Value]
    kind: str = "tuple"
    more: bool = False


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dictionary with the keys that are known."""

    entries: dict[str, Value]
    more: bool = False
    factory: Value | None = None
    """of a `defaultdict`: what makes the value of a new key"""


@dataclass(frozen=True, slots=True)
class Stream(Value):
    """Something that a loop goes through: its element, and what it comes from (a loader, a range, a tensor)."""

    element: Value
    source: Value = UNKNOWN
    length: Value = UNKNOWN


@dataclass(slots=True, eq=False)
class Scope:
    """Names and their values; a function's scope knows the one around it."""

    names: dict[str, Value]
    outer: Scope | None = None
    unit: CodeUnit | None = None

    def find(self, name: str) -> Value | None:
        """The value of a name here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


@dataclass(slots=True, eq=False)
class Imported(Value):
    """A module of the program itself."""

    scope: Scope


def number(value: Value | None) -> float | None:
    """The number that a value is, where it is one."""
    if isinstance(value, Plain) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        return float(value.value)
    return None


def whole(value: Value | None) -> int | None:
    """The whole number that a value is."""
    given = number(value)
    return int(given) if given is not None and abs(given) < 1e12 and given == int(given) else None


def text(value: Value | None) -> str:
    """The text that a value is; empty for anything else."""
    return value.value if isinstance(value, Plain) and isinstance(value.value, str) else ""


def is_none(value: Value | None) -> bool:
    """Whether a value is None for certain."""
    return isinstance(value, Plain) and value.value is None
