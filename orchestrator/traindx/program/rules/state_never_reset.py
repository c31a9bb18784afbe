"""The state leaks over an epoch or episode boundary.

## What it finds
A recurrent call that, at the start of a new epoch (or episode), gets the state in which the last one ended, although
the data starts again from its beginning. A loop that is told where sequences begin or end, and does not read it.
Episodes that reset the environment and not the object that keeps the state, though it has a method for that.

## Why it matters
The first windows of each epoch are predicted from the end of the series; results depend on the order of epochs and
cannot be reproduced from a checkpoint.

## Silent
States that are made anew, set to None or masked on any path at the boundary; streams that never start again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.episodes import forgotten_resets
from traindx.program.finding import Finding
from traindx.program.queries import first_value, loops_with, state_parts
from traindx.program.states import carrying_loop, is_certain, outer_name
from traindx.program.trace import Event, Loop
from traindx.program.values import Made, Place, Plain, Stream

ID = "state-never-reset"
_BOUNDARY = re.compile(
    r"(?:^|_)(?:resets?|dones?|terminals?|terminated|truncated|fresh|new|first|firsts|starts?|begins?|boundar(?:y|ies)|eos"
    r"|ends?|is_(?:first|new|start|last)|last)(?:_|$)",
    re.IGNORECASE,
)
"""names of what says that a sequence or an episode begins or ends"""
_EACH_NEW = re.compile(
    r"(?:^|_)(?:recs?|recordings?|patients?|subjects?|sessions?|episodes?|sequences?|seqs?|videos?|clips?|songs?|tracks?"
    r"|speakers?|utterances?|utts?|users?|documents?|docs?|stor(?:y|ies)|games?|traj\w*|dialog\w*|sentences?)(?:_|$)",
    re.IGNORECASE,
)
"""names of things that have nothing to do with each other"""


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the state in the first iteration of every inner loop."""
    trace = analysis.trace
    learning = loops_with(trace, "step")
    yield from _told_of_boundaries(analysis, learning)
    yield from _forgotten(analysis)
    done: set[int] = set()
    for call in trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or len(call.turns) < 2 or loop is call.turns[-1].loop or id(call.place.node) in done:
            continue
        if id(loop.node) not in learning or not is_certain(call) or not call.grad:
            continue
        inner = call.turns[-1].loop
        # A loop over files or days goes on in time; one that only counts starts the same data again, and recordings,
        # patients or songs have nothing to do with each other.
        if not _counts(loop) and not _over_others(loop, inner):
            continue
        done.add(id(call.place.node))
        name = outer_name(call)
        born = first_value(call, name)
        yield Finding(
            ID,
            call.place,
            f"`{name}` goes from one iteration of the loop at {loop.place.text} into the next: it is never reset,"
            f" while the loop at {inner.place.text} starts again",
            facts={"state": name, "state_place": call.place.text, "loop_place": loop.place.text},
            also=(
                *(((born, "the state gets its first value only here"),) if born is not None else ()),
                *(((cut, "the state is detached here, and kept"),) if (cut := _detached(call)) is not None else ()),
                (loop.place, "each iteration starts the data anew"),
            ),
        )


def _forgotten(analysis: Analysis) -> Iterator[Finding]:
    """Episodes that reset their environment, and not the object that keeps the state."""
    for row in forgotten_resets(analysis):
        yield Finding(
            ID,
            row.begins,
            f"the environment is reset here, and `{row.state}` is not: nothing calls `{row.method}()`"
            f" ({row.resetting.text}), so each episode begins in the state in which the last one ended",
            facts={"state": row.state, "state_place": row.call.place.text, "loop_place": row.begins.text},
            also=((row.resetting, "would reset it, and is never called"), (row.call.place, "goes on with the state")),
        )


def _told_of_boundaries(analysis: Analysis, learning: set[int]) -> Iterator[Finding]:
    """A loop whose data says where a sequence begins or ends, and that never looks at it."""
    done: set[int] = set()
    for call in analysis.trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or id(loop.node) in done or id(loop.node) not in learning or not call.grad:
            continue
        if not isinstance(loop.node, ast.For) or not is_certain(call):
            continue
        flag = next((name for name in _given(loop.node.target) if _BOUNDARY.search(name)), "")
        if not flag or flag in {name.id for name in _loads(loop.node.body)}:
            continue
        done.add(id(loop.node))
        name = outer_name(call)
        yield Finding(
            ID,
            call.place,
            f"`{flag}` says where a sequence begins or ends, and nothing in the loop at {loop.place.text} reads it:"
            f" `{name}` goes on over the boundary",
            facts={"state": name, "state_place": call.place.text, "loop_place": loop.place.text},
            also=(
                *(((cut, "the state is detached here, and kept"),) if (cut := _detached(call)) is not None else ()),
                (loop.place, f"`{flag}` is given here"),
            ),
        )


def _given(target: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]


def _loads(body: list[ast.stmt]) -> Iterator[ast.Name]:
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                yield part


def _detached(call: Event) -> Place | None:
    return next((part.cut.place for part in state_parts(call) if part.cut is not None), None)


def _counts(loop: Loop) -> bool:
    """Whether a loop only counts (`range(epochs)`, `while step < most`) and does not choose the data by its count.

    One that goes on until a flag is set (`while not done`) is one episode.
    """
    if isinstance(loop.node, ast.While) and not isinstance(loop.node.test, ast.Compare):
        return False
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    if isinstance(source, Plain):
        return True
    if not isinstance(source, Made) or source.kind != "range" or len(source.args) > 2:
        return False
    return not _chooses(loop.node, {loop.variable} if loop.variable else set())


def _over_others(loop: Loop, inner: Loop) -> bool:
    """Whether a loop goes through things that begin anew each, and the inner one through the pieces of one of them."""
    if not isinstance(loop.node, ast.For) or not isinstance(inner.node, ast.For):
        return False
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(loop.node.iter)}
    names |= set(_given(loop.node.target))
    pieces = {part.id for part in ast.walk(inner.node.iter) if isinstance(part, ast.Name)}
    return any(_EACH_NEW.search(name) for name in names) and bool(pieces & set(_given(loop.node.target)))


def _chooses(node: ast.AST, names: set[str]) -> bool:
    """Whether one of some names, or what is computed from them, goes into an index or a function."""
    parts = list(_training(node, names))
    for part in parts:
        if isinstance(part, ast.Assign) and _uses(part.value, names) and not isinstance(part.value, ast.JoinedStr):
            names = names | {
                name.id for target in part.targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    for part in parts:
        if isinstance(part, ast.Subscript) and _uses(part.slice, names):
            return True
        if isinstance(part, ast.Call) and not _tells(part) and any(_uses(given, names) for given in part.args):
            return True
    return False


def _training(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """What happens in every iteration: without what is done every so many of them, such as an evaluation."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.If) and _uses(part.test, names):
            continue
        yield part
        yield from _training(part, names)


def _uses(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _tells(call: ast.Call) -> bool:
    """Calls that print or log, or tell a sampler or a scheduler which epoch it is."""
    name = str(getattr(call.func, "attr", getattr(call.func, "id", "")))
    return name in {"print", "info", "debug", "log", "set_epoch", "add_scalar", "write", "writerow", "append", "step",
                    "set_description", "format", "save", "join", "manual_seed", "seed", "float", "int",
                    "str", "round"}  # fmt: skip
