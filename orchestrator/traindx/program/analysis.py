"""Following a whole program: its entry points first, then what no entry point reached."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from traindx.program.calling import Call, call_function, call_method, instantiate
from traindx.program.families import shared_out
from traindx.program.library import frameworks
from traindx.program.machine import SECTION, STEPS, Machine, Spent
from traindx.program.trace import Trace
from traindx.program.values import Class, Function, Instance, Scope, Tensor
from traindx.readers.code.codebase import not_collecting
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes

EACH = 4_000
"""statements for one function that nobody calls"""
TOGETHER = 1_500_000
"""statements for all programs of a repository together, or of one share of them; those that train come first"""
ALL = 20_000
"""statements for all of them together"""
_FRAMEWORKS = frozenset(
    ["torch", "lightning", "transformers", "keras", "tensorflow", "sklearn", "training-loop", "model"]
)
_TELLING = frozenset(
    ["backward", "zero_grad", "step", "no_grad", "eval", "inference_mode", "forward", "training_step",
     "manual_backward", "compute_loss", "DataLoader", "train_test_split", "fit_transform", "compile"]
)  # fmt: skip
_TELLING_WORD = re.compile("|".join(sorted(_TELLING)))


@dataclass(frozen=True)
class Analysis:
    """A program that was followed."""

    units: tuple[CodeUnit, ...]
    trace: Trace
    machine: Machine
    whole: bool
    """whether everything was followed to its end"""
    beside: tuple[CodeUnit, ...] = ()
    """all code that it was found in, other programs among it"""

    @property
    def faults(self) -> list[str]:
        """What went wrong in following it or in a rule: a fault of ours, not of the program."""
        return self.machine.faults


def analyse(
    units: Sequence[CodeUnit],
    settings: Mapping[str, object] | None = None,
    steps: int = STEPS,
    followed: Collection[int] = (),
) -> Analysis:
    """Follow the programs among the units; functions that nothing calls, unless they were `followed` already."""
    code = [unit for unit in units if "test" not in unit.roles] or list(units)
    machine = Machine(code, settings or {}, steps)
    machine.followed = followed
    whole = True
    for unit in _entries(code):
        whole = tried(machine, steps, partial(machine.scope_of, unit)) and whole
    machine.trace.main = len(machine.trace.events)
    machine.spare = min(ALL, steps)
    for unit in code:
        whole = tried(machine, EACH, partial(machine.scope_of, unit)) and whole
    for unit in code:
        if unit.path in machine.scopes and unit.traits & _FRAMEWORKS:
            whole = _rest(machine, unit) and whole
    return Analysis(tuple(code), machine.trace, machine, whole)


def analyse_all(
    units: Sequence[CodeUnit], settings: Mapping[str, object] | None = None, share: int = 0, shares: int = 1
) -> list[Analysis]:
    """Follow every program among the units for itself, those that train first; or one share of several of them."""
    followed: set[int] = set()
    made: list[Analysis] = []
    left = TOGETHER
    with not_collecting():
        for program in shared_out(units, shares)[share]:
            found = analyse(program, settings, min(STEPS, left), followed)
            made.append(replace(found, beside=tuple(units)))
            followed |= made[-1].machine.called
            left = max(0, left - made[-1].machine.ticks)
    return made


def _entries(code: Sequence[CodeUnit]) -> list[CodeUnit]:
    def rank(unit: CodeUnit) -> tuple[bool, bool, int, str]:
        return "entry-point" not in unit.roles, "training-loop" not in unit.roles, unit.path.count("/"), unit.path

    return [unit for unit in sorted(code, key=rank) if "entry-point" in unit.roles or unit.reached]


def tried(machine: Machine, steps: int, act: Callable[[], object]) -> bool:
    """Do something within a number of steps, and of what is left for all; whether it came to its end."""
    given = machine.steps = min(steps, machine.spare)
    if given <= 0:
        return False
    frames, calls, turns = len(machine.frames), len(machine.calls), machine.turns
    guards, grad, autocast, inside = machine.guards, machine.grad, machine.autocast, machine.inside_modules
    try:
        act()
    except (Spent, RecursionError):
        return False
    except Exception as error:  # noqa: BLE001 - a fault of ours costs one program, not all that was read
        machine.faults.append(f"{machine.unit.path}: {type(error).__name__}: {error}")
        return False
    finally:
        machine.spare -= given - max(0, machine.steps)
        del machine.frames[frames:]
        del machine.calls[calls:]
        machine.turns, machine.guards, machine.grad = turns, guards, grad
        machine.autocast, machine.inside_modules = autocast, inside
    return True


def _rest(machine: Machine, unit: CodeUnit) -> bool:
    """Follow the functions of a unit that nothing has called, where they have to do with training."""
    whole = True
    scope = machine.scopes[unit.path]
    for value in list(scope.names.values()):
        if isinstance(value, Class) and value.unit is unit:
            whole = _class(machine, value, scope) and whole
    for value in list(scope.names.values()):
        if isinstance(value, Function) and value.unit is unit and _is_new(machine, value):
            whole = tried(machine, EACH, partial(_called, machine, value)) and whole
    return whole


def _called(machine: Machine, function: Function) -> None:
    from traindx.program.machine import Frame

    machine.unit = function.unit
    machine.frames.append(Frame(None, function.scope))
    call_function(machine, function, [], {})


def _is_new(machine: Machine, function: Function) -> bool:
    known = id(function.node)
    if known in machine.called or known in machine.followed:
        return False
    return function.unit.once(("telling", known), partial(_is_telling, function.unit, function.node))


def _is_telling(unit: CodeUnit, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a function has to do with training. Where none of its lines has one of the words, its nodes need not be
    gone through.
    """
    lines = unit.once("telling lines", partial(_telling_lines, unit))
    if lines is None or isinstance(node, ast.Lambda):
        return _telling(node)
    first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= (node.end_lineno or node.lineno) and _telling(node)


def _telling_lines(unit: CodeUnit) -> list[int] | None:
    """The lines that hold one of the telling words, as a word or a part of one; None where that does not tell."""
    text = unit.source
    # Python takes letters of other alphabets for the plain ones that they stand for, and a lone return for a line end.
    if not text.isascii() or "\r" in text:
        return None
    return [number for number, line in enumerate(text.split("\n"), 1) if _TELLING_WORD.search(line)]


def _telling(node: ast.AST) -> bool:
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in all_nodes(node)}
    return bool(names & _TELLING) or getattr(node, "name", "") in _TELLING


def _class(machine: Machine, cls: Class, scope: Scope) -> bool:
    methods = [member for member in cls.members.values() if isinstance(member, Function)]
    wanted = [function for function in methods if _is_new(machine, function) or _is_forward(machine, function, cls)]
    if not wanted:
        return True
    made: list[Instance] = []
    whole = tried(machine, EACH, lambda: made.extend(made_object(machine, cls)))
    if not made:
        return whole
    owner = made[0]
    node = _bare_call(cls)
    if frameworks.is_lightning(owner) and cls.find("training_step") is not None:
        return tried(machine, EACH, partial(_fitted, machine, owner, node, scope)) and whole
    for function in wanted:
        if id(function.node) not in machine.called:
            whole = tried(machine, EACH, partial(_on, machine, owner, function, scope)) and whole
    return whole


def made_object(machine: Machine, cls: Class) -> list[Instance]:
    """An object of a class, made with guessed arguments."""
    from traindx.program.machine import Frame

    machine.unit = cls.unit
    machine.frames.append(Frame(None, cls.scope))
    made = instantiate(machine, cls, Call(_bare_call(cls), [], {}))
    return [made] if isinstance(made, Instance) else []


def _bare_call(cls: Class) -> ast.Call:
    return ast.copy_location(ast.Call(func=ast.Name(id=cls.node.name), args=[], keywords=[]), cls.node)


def call_guessed(machine: Machine, function: Function, owner: Instance | None) -> None:
    """Follow a function or method with guessed arguments."""
    if owner is not None:
        _on(machine, owner, function, function.scope)
    else:
        _called(machine, function)


def _is_forward(machine: Machine, function: Function, cls: Class) -> bool:
    return (
        function.name == "forward"
        and id(function.node) not in machine.called
        and id(function.node) not in machine.followed
        and cls.descends("Module", "LightningModule")
    )


def _fitted(machine: Machine, owner: Instance, node: ast.Call, scope: Scope) -> None:
    from traindx.program.machine import Frame

    machine.unit = owner.cls.unit if owner.cls is not None else machine.unit
    machine.frames.append(Frame(None, scope))
    frameworks.fit(machine, owner, Call(node, [], {}), [None, None])


def _on(machine: Machine, owner: Instance, function: Function, scope: Scope) -> None:
    from traindx.program.machine import Frame

    machine.unit = function.unit
    machine.frames.append(Frame(None, scope))
    if function.name == "forward":
        machine.inside_modules = 1
        count = len(function.node.args.args) - 1 - len(function.node.args.defaults)
        made = call_method(machine, owner, function, [Tensor(marks=frozenset({"argument"}))] * max(0, count), {})
        machine.event("output", function.node, owner, value=made)
        return
    call_method(machine, owner, function, [], {})


def known_settings(rows: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Configuration values by the last word of their key, where that names one value only, and by `/` and the whole
    key; a section (`/optim`) is `SECTION`. In lower case; `=` and the whole key give the word as written.
    """
    found: dict[str, object] = {}
    whole: dict[str, object] = {}
    twice: set[str] = set()
    spelled: dict[str, object] = {}
    for key, value in rows:
        path = key.lower()
        spelled[f"={path}"] = key.rpartition(".")[2]
        name = path.rpartition(".")[2]
        for known, told in ((found, name), (whole, f"/{path}")):
            if told in known and known[told] != value:
                twice.add(told)
            known[told] = value
        while path := path.rpartition(".")[0]:
            whole.setdefault(f"/{path}", SECTION)
    known = {name: value for name, value in {**found, **whole}.items() if name not in twice}
    return {**known, **spelled}
