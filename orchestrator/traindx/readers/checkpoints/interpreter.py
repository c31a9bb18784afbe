"""A pickle followed operation by operation on a stack of symbols. Nothing is imported, called or built."""

from __future__ import annotations

import _compat_pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from traindx.readers.checkpoints.model import Damage
from traindx.readers.checkpoints.names import trust
from traindx.readers.checkpoints.opcodes import Broken, Stream, operations
from traindx.readers.checkpoints.rebuild import rebuilt, set_numpy_state, storage
from traindx.readers.checkpoints.symbols import Blob, Global, Made, Row, Table, Tensor

MOST_OPERATIONS = 2_000_000
"""a tensor takes about forty"""
MOST_SECONDS = 8.0
_MOST_NAMES = 1_000
_MOST_CALLS = 20
_MOST_DEEP = 100_000


@dataclass
class Reading:
    """What following a pickle gave."""

    root: object = None
    globals: dict[str, None] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    objects: dict[str, None] = field(default_factory=dict)
    problem: str = ""


def follow(stream: Stream) -> Reading:
    """Follow one pickle to its end, or as far as it is sound."""
    machine = _Machine()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a text of protocol 0 is the file's business
        _run(machine, stream)
    machine.finish()
    return machine.reading


def _run(machine: _Machine, stream: Stream) -> None:
    give_up = monotonic() + MOST_SECONDS
    try:
        for count, (name, argument) in enumerate(operations(stream)):
            machine.step(name, argument)
            if count >= MOST_OPERATIONS or (not count % 4096 and monotonic() > give_up):
                machine.reading.problem = f"the description stops after {count:,} pickle operations"
                break
    except Broken as error:
        machine.reading.problem = Damage(f"its pickle is broken: {error}")
    except (IndexError, TypeError, AttributeError, KeyError, ValueError, OverflowError):
        machine.reading.problem = Damage("its pickle is broken: an operation lacks what it works on")


class _Machine:
    """The stack, the marks and the memo of a pickle."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.stack: list[object] = []
        self.frames: list[list[object]] = []
        self.memo: dict[int, object] = {}

    def step(self, name: str, argument: object) -> None:
        """Carry out one operation on symbols."""
        action = _ACTIONS.get(name)
        if action is not None:
            action(self, argument)
        elif argument is not None or name == "NONE":
            self.stack.append(argument)

    def finish(self) -> None:
        """Close what a broken pickle left open, and keep the outermost value."""
        while self.frames:
            pending, self.stack = self.stack, self.frames.pop()
            below = self.stack[-1] if self.stack else None
            if isinstance(below, Table):
                below.items += zip(pending[::2], pending[1::2], strict=False)
            elif isinstance(below, Row):
                below.items += pending
            elif not self.stack:
                self.stack = pending
        self.reading.root = self.stack[0] if self.stack else None

    def push(self, value: object) -> None:
        """Put a value on top."""
        self.stack.append(value)

    def marked(self) -> list[object]:
        """The items above the last mark, which goes away."""
        if not self.frames:
            raise Broken("a mark is missing")
        items, self.stack = self.stack, self.frames.pop()
        return items

    def mark(self, _: object) -> None:
        """Begin a new stretch of the stack."""
        if len(self.frames) >= _MOST_DEEP:
            raise Broken("it is nested too deeply")
        self.frames.append(self.stack)
        self.stack = []

    def named(self, module: object, name: object) -> None:
        """Push a global."""
        if not isinstance(module, str) or not isinstance(name, str):
            self.stack.append(self._global("?.a computed name"))
            return
        # Pickles of protocol 2 use Python 2's names: `__builtin__ eval`.
        if (module, name) in _compat_pickle.NAME_MAPPING:
            module, name = _compat_pickle.NAME_MAPPING[(module, name)]
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        self.stack.append(self._global(f"{module}.{name}"))

    def _global(self, name: str) -> Global:
        name = _printable(name, 200)
        if len(self.reading.globals) < _MOST_NAMES:
            self.reading.globals.setdefault(name)
        return Global(name)

    def call(self, function: object, arguments: object) -> object:
        """What a call would return, as a symbol."""
        given = arguments if isinstance(arguments, Row) else Row([arguments])
        name = function.name if isinstance(function, Global) else f"{getattr(function, 'name', '?')}()"
        if name == "copyreg._reconstructor" and given.items and isinstance(given.items[0], Global):
            return self.new(given.items[0], Row())
        known = rebuilt(name, given) if isinstance(function, Global) else None
        if known is not None:
            return known
        trusted = trust(name.removesuffix("()"))
        if trusted in {"foreign", "unsafe"} and len(self.reading.calls) < _MOST_CALLS * (1 + (trusted == "unsafe")):
            self.reading.calls.append(f"{name}({', '.join(_shown(item) for item in given.items[:4])})")
        return Made(name, given)

    def new(self, kind: object, arguments: object) -> object:
        """An instance of a class, as a symbol."""
        given = arguments if isinstance(arguments, Row) else Row([arguments])
        name = kind.name if isinstance(kind, Global) else getattr(kind, "name", "?")
        known = rebuilt(name, given) if isinstance(kind, Global) else None
        if known is not None:
            return known
        if trust(name) != "trusted" and len(self.reading.objects) < _MOST_NAMES:
            self.reading.objects.setdefault(name)
        return Made(name, given)

    def set_items(self, pairs: list[object]) -> None:
        """Put key and value pairs into the mapping on top."""
        table = self.stack[-1]
        home = table.items if isinstance(table, Made) else table
        if isinstance(home, Table):
            home.items += zip(pairs[::2], pairs[1::2], strict=False)

    def add(self, items: list[object]) -> None:
        """Put items into the list or set on top."""
        home = self.stack[-1]
        if isinstance(home, Row):
            home.items += items
        elif isinstance(home, Made):
            home.arguments.items += items

    def build(self) -> None:
        """Set the state of the value on top."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Tensor) and target.dtype == "numpy":
            set_numpy_state(target, state)
        elif isinstance(target, (Table, Made)):
            target.state = state

    def remember(self, place: int) -> None:
        """Keep the value on top under a number."""
        self.memo[place] = self.stack[-1]


def _shown(value: object) -> str:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return repr(value if not isinstance(value, str) else _printable(value, 100)) if not _huge(value) else "…"
    return value.name if isinstance(value, Global) else f"{value.name}(…)" if isinstance(value, Made) else "…"


def _huge(value: object) -> bool:
    return isinstance(value, int) and abs(value) >> 64 != 0


def _printable(text: str, most: int) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])


def _pop_row(machine: _Machine, count: int) -> None:
    items = machine.stack[-count:]
    if len(items) < count:
        raise Broken("the stack is empty")
    del machine.stack[-count:]
    machine.push(Row(items))


def _reduce(machine: _Machine, _: object) -> None:
    arguments = machine.stack.pop()
    machine.push(machine.call(machine.stack.pop(), arguments))


def _new(machine: _Machine, _: object) -> None:
    arguments = machine.stack.pop()
    machine.push(machine.new(machine.stack.pop(), arguments))


def _new_ex(machine: _Machine, _: object) -> None:
    machine.stack.pop()
    _new(machine, None)


def _inst(machine: _Machine, argument: object) -> None:
    items = machine.marked()
    module, _, name = str(argument).partition(" ")
    machine.named(module, name)
    machine.push(machine.call(machine.stack.pop(), Row(items)))


def _obj(machine: _Machine, _: object) -> None:
    items = machine.marked()
    machine.push(machine.call(items[0], Row(items[1:])))


def _global(machine: _Machine, argument: object) -> None:
    module, _, name = str(argument).partition(" ")
    machine.named(module, name)


def _stack_global(machine: _Machine, _: object) -> None:
    name = machine.stack.pop()
    machine.named(machine.stack.pop(), name)


def _persistent(machine: _Machine, argument: object) -> None:
    machine.push(storage(machine.stack.pop() if argument is None else argument))


def _set_item(machine: _Machine, _: object) -> None:
    value = machine.stack.pop()
    key = machine.stack.pop()
    machine.set_items([key, value])


def _pop(machine: _Machine, _: object) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.marked()


def _pop_mark(machine: _Machine, _: object) -> None:
    machine.marked()


def _get(machine: _Machine, argument: object) -> None:
    machine.push(machine.memo[int(str(argument))])


def _put(machine: _Machine, argument: object) -> None:
    machine.remember(int(str(argument)))


def _pairs(items: list[object]) -> Table:
    return Table(list(zip(items[::2], items[1::2], strict=False)))


def _nothing(_machine: _Machine, _: object) -> None:
    """PROTO, FRAME and STOP change no value."""


_ACTIONS: dict[str, Callable[[_Machine, object], None]] = {
    "MARK": _Machine.mark,
    "POP": _pop,
    "POP_MARK": _pop_mark,
    "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    "STOP": _nothing,
    "PROTO": _nothing,
    "FRAME": _nothing,
    "READONLY_BUFFER": _nothing,
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_LIST": lambda machine, _: machine.push(Row()),
    "EMPTY_TUPLE": lambda machine, _: machine.push(Row()),
    "EMPTY_SET": lambda machine, _: machine.push(Row()),
    "EMPTY_DICT": lambda machine, _: machine.push(Table()),
    "LIST": lambda machine, _: machine.push(Row(machine.marked())),
    "TUPLE": lambda machine, _: machine.push(Row(machine.marked())),
    "FROZENSET": lambda machine, _: machine.push(Row(machine.marked())),
    "DICT": lambda machine, _: machine.push(_pairs(machine.marked())),
    "TUPLE1": lambda machine, _: _pop_row(machine, 1),
    "TUPLE2": lambda machine, _: _pop_row(machine, 2),
    "TUPLE3": lambda machine, _: _pop_row(machine, 3),
    "APPEND": lambda machine, _: machine.add([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.add(machine.marked()),
    "ADDITEMS": lambda machine, _: machine.add(machine.marked()),
    "SETITEM": _set_item,
    "SETITEMS": lambda machine, _: machine.set_items(machine.marked()),
    "GET": _get,
    "BINGET": _get,
    "LONG_BINGET": _get,
    "PUT": _put,
    "BINPUT": _put,
    "LONG_BINPUT": _put,
    "MEMOIZE": lambda machine, _: machine.remember(len(machine.memo)),
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "INST": _inst,
    "OBJ": _obj,
    "NEWOBJ": _new,
    "NEWOBJ_EX": _new_ex,
    "REDUCE": _reduce,
    "BUILD": lambda machine, _: machine.build(),
    "PERSID": _persistent,
    "BINPERSID": _persistent,
    "EXT1": lambda machine, code: machine.named("copyreg", f"extension {code}"),
    "EXT2": lambda machine, code: machine.named("copyreg", f"extension {code}"),
    "EXT4": lambda machine, code: machine.named("copyreg", f"extension {code}"),
    "NEXT_BUFFER": lambda machine, _: machine.push(Blob(0)),
}
