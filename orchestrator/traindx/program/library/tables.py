"""Tables that are put together from others: copies of rows, and one class after the other."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from traindx.program.library import permutations
from traindx.program.values import Items, Made, Mapping, Plain, Tensor, Value, number, text

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

COPIES = "@copies"
AGAIN = "@again"
"""the field of a table whose rows were drawn with replacement"""
KEEPING = frozenset(
    ["drop", "dropna", "fillna", "copy", "reset_index", "astype", "head", "apply", "rename", "set_index", "query",
     "assign", "filter", "replace", "infer_objects", "convert_dtypes", "sort_index", "clip", "tail", "loc", "pipe",
     "ffill", "bfill", "round", "reindex", "droplevel"]
)  # fmt: skip
"""methods whose result has rows of the same table"""
CLASSES = "@in-classes"
_CONSTANT = "@constant"
_DRAWS = re.compile(r"\.sample\([^)]*replace=True|\bresample\((?![^)]*replace=False)")


def made(m: Machine, call: Call) -> Made:
    """`DataFrame({"tokens": rows, "label": 3})`: a column that holds one value is remembered."""
    given = call.argument(0, "data")
    columns = given.entries if isinstance(given, Mapping) else {}
    constant = tuple(name for name, value in columns.items() if isinstance(value, Plain) and len(columns) > 1)
    return Made(kind="frame", place=m.place(call.node), fields={_CONSTANT: Plain(constant)} if constant else {})


def stacked(m: Machine, call: Call) -> Made | None:
    """`concat([table, drawn])`: None where nothing follows from it."""
    given = call.argument(0, "objs")
    parts = given.items if isinstance(given, Items) else []
    if not isinstance(given, Items) or number(call.argument(1, "axis")) == 1 or len(parts) + given.more < 2:
        return None
    fields: dict[str, Value] = {}
    rows = [_origin(part) for part in parts]
    drawn = [at for at, part in enumerate(parts) if _drawn_again(part)]
    again = any(rows[at] & other for at in drawn for place, other in enumerate(rows) if place != at)
    if again or any(map(holds_copies, parts)):
        fields[COPIES] = Plain(True)
    constant = [_constant(part) for part in parts]
    if constant and (shared := frozenset.intersection(*constant)):
        fields[CLASSES] = Plain(tuple(sorted(shared)))
    if not fields:
        return None
    origin = tuple(frozenset().union(*rows))
    return Made(kind="frame", place=m.place(call.node), fields={**fields, "@origin": Plain(origin)})


def marks(owner: Made, key: Value | None = None) -> frozenset[str]:
    """What a column of a table, or some of its rows, take over from it."""
    found = {"table"}
    if COPIES in owner.fields:
        found |= {"repeated", "oversampled"}
    told = owner.fields.get(CLASSES)
    if isinstance(told, Plain) and isinstance(told.value, tuple) and text(key) in told.value:
        found |= {"in-classes"}
    return frozenset(found)


def holds_copies(value: Value) -> bool:
    """Whether rows of a table are in it several times."""
    return isinstance(value, Made) and COPIES in value.fields


def grouped(owner: Made, name: str, call: Call) -> Made:
    """What groups of rows are put together to: `groupby(…).sample(…)`, `groupby(…).apply(lambda rows: …)`."""
    fields = {name: value for name, value in owner.fields.items() if name != "@in-classes"}
    fields["@origin"] = Plain(tuple(permutations.origin(owner)))
    sampled = name == "sample" and permutations.with_replacement(call, 2, False)
    if sampled or (name == "apply" and _DRAWS.search(ast.unparse(call.node))):
        fields[COPIES] = Plain(True)
    return Made(kind="frame", place=owner.place, fields=fields)


def _origin(part: Value) -> frozenset[int]:
    if isinstance(part, Tensor):
        return part.origin
    return permutations.origin(part) if isinstance(part, Made) and part.kind == "frame" else frozenset()


def _drawn_again(part: Value) -> bool:
    if isinstance(part, Made):
        return AGAIN in part.fields
    return isinstance(part, Tensor) and permutations.AGAIN in part.marks


def _constant(part: Value) -> frozenset[str]:
    told = part.fields.get(_CONSTANT) if isinstance(part, Made) and part.kind == "frame" else None
    return frozenset(told.value) if isinstance(told, Plain) and isinstance(told.value, tuple) else frozenset()
