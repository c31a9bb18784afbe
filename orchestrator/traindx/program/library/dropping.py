"""Dropout as a function: whether it follows the mode of the module that calls it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import Layer, Plain, Tensor, number

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine


def functional(m: Machine, owner: Tensor, call: Call) -> None:
    """`F.dropout(x, p, training=self.training)`: the pass depends on the mode; without `training` it always drops."""
    rate = call.keywords.get("p", call.args[1] if len(call.args) > 1 else Plain(0.5))
    told = call.keywords.get("training", call.args[2] if len(call.args) > 2 else None)
    if number(rate) == 0 or "**" in call.keywords:
        return
    if told is None:
        m.event("always-drops", call.node, owner)
    elif m.inside_modules and m.passing is not None and (number(rate) or 0) > 0 and _asks_the_mode(call):
        known = isinstance(told, Plain) and told.sure == "constant" and isinstance(told.value, bool)
        mode = "undecided" if not known else "active" if isinstance(told, Plain) and told.value else "passive"
        m.passing.facts[mode] = [*m.passing.facts.get(mode, []), Layer(kind="F.dropout", place=m.place(call.node))]


def made_in_the_pass(m: Machine, layer: Layer, owner: Tensor, call: Call) -> None:
    """`nn.Dropout(0.3)(x)` in a forward: a new module in every pass, which no `eval()` has reached."""
    rate = layer.keywords.get("p", layer.args[0] if layer.args else Plain(0.5))
    modes = any(row.kind == "mode" and row.subject is layer for row in m.trace.events[-200:])
    if number(rate) != 0 and not modes:
        m.event("always-drops", call.node, owner, layer=layer.kind)


def _asks_the_mode(call: Call) -> bool:
    """Whether a call is told `self.training`, whatever the object is called."""
    given = next((part.value for part in call.node.keywords if part.arg == "training"), None)
    given = call.node.args[2] if given is None and len(call.node.args) > 2 else given
    return isinstance(given, ast.Attribute) and given.attr == "training"
