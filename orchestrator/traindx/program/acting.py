"""Loops in which a model acts: an environment takes one step for every pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.library.recurrent import is_fresh
from traindx.program.trace import Event, Loop, Trace


def forgetful(trace: Trace) -> Iterator[Event]:
    """Recurrent calls with one observation and a new state in every step of an environment, by a layer that learns from
    whole sequences."""
    calls = trace.of("recurrent")
    learns = {id(call.subject) for call in calls if call.grad and call.facts.get("length") != 1}
    done: set[int] = set()
    for call in calls:
        loop = call.loop
        if call.grad or loop is None or call.turns[-1].number < 2 or call.facts.get("length") != 1:
            continue
        if not is_fresh(call.facts.get("state")) or id(call.subject) not in learns or not steps_environment(loop):
            continue
        place = call.calls[-1] if call.calls else call.place
        if id(place.node) not in done:
            done.add(id(place.node))
            yield call


def steps_environment(loop: Loop) -> bool:
    """Whether each turn of a loop takes a step in an environment: `obs, reward, done, … = env.step(action)`."""
    for node in ast.walk(loop.node):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            func, target = node.value.func, node.targets[0]
            several = isinstance(target, ast.Tuple) and len(target.elts) >= 3
            if several and isinstance(func, ast.Attribute) and func.attr == "step":
                return True
    return False
