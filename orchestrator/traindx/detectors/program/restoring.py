"""What the program restores when a run is resumed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.trace import Event
from traindx.program.uncalled import events_beside
from traindx.program.values import Guess, Instance, Made, Mapping, Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {"optimizer-not-restored": "on resume, the code restores the weights and nothing else"}

_OTHERS = re.compile(r"opt|sched|scaler|trainer|engine", re.IGNORECASE)
_TELLING = frozenset({"load_state_dict", "load_state"})


def detect(code: Sequence[CodeUnit], analyses: Sequence[Analysis]) -> list[Signal]:
    """A program that loads a state into the model and into nothing else, with what its checkpoints hold beside it."""
    wanted = {unit.path for unit in code}
    beside = events_beside(analyses, _restores, "load-state-dict")
    for analysis in analyses:
        here = {unit.path for unit in analysis.units}
        loads = [*analysis.trace.of("load-state-dict"), *(row for row in beside if row.place.unit.path in here)]
        loads = [row for row in loads if row.place.unit.path in wanted and not _is_a_copy(row)]
        if loads and not any(_is_of_training(row) for row in loads):
            return [_weights_only(loads[0].place, _full_save(analysis))]
    return []


def _restores(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in _TELLING


def _is_a_copy(event: Event) -> bool:
    """Whether what is loaded is the state of another object: `target.load_state_dict(net.state_dict())`."""
    given = event.facts.get("given")
    return isinstance(given, Guess) and given.name == "state_dict"


def _is_of_training(event: Event) -> bool:
    """Whether the state of an optimizer is restored, of a schedule, or of what holds one."""
    owner = event.subject
    if isinstance(owner, Guess):
        return _OTHERS.search(owner.name.rpartition(".")[2]) is not None
    if isinstance(owner, Instance) and owner.cls is not None:
        return _OTHERS.search(owner.cls.node.name) is not None
    return isinstance(owner, Made)


def _full_save(analysis: Analysis) -> Place | None:
    """Where a checkpoint is written that holds the state of the training as well."""
    for event in analysis.trace.of("save"):
        held = event.subject
        if isinstance(held, Mapping) and any(_OTHERS.search(name) for name in held.entries):
            return event.place
    return None


def _weights_only(load: Place, save: Place | None) -> Signal:
    claim = f"`{load.quote}` restores the weights; optimizer and schedule start over"
    line = load.unit.file_line(load.line)
    places = [cite_line(load.unit.path, line, claim, load.quote)]
    if save is not None:
        told = "the checkpoint holds the state of the optimizer as well"
        places.append(cite_line(save.unit.path, save.unit.file_line(save.line), told, save.quote))
    facts: dict[str, Fact] = {"restore_place": f"{load.unit.path}:{line}"}
    return Signal(id="optimizer-not-restored", claim=claim, citations=places, facts=facts)
