"""Lists that belong together row by row, of which the program shuffles only one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {
    "one-list-shuffled": SignalKind(
        "inputs and labels are taken from the same rows, and only one of the two is shuffled", proof=True
    )
}

_SHUFFLES = {"random.shuffle", "np.random.shuffle", "numpy.random.shuffle", "rng.shuffle", "shuffle"}
_PAIRING = {"zip", "TensorDataset", "train_test_split", "fit", "from_tensor_slices", "DataFrame", "cross_entropy"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """`texts` and `labels` made from the same rows, `random.shuffle(texts)`, and both used together afterwards."""
    for unit in code:
        for body in unit.bodies:
            found = _in_body(body)
            if found is not None:
                shuffled, other, call, use = found
                claim = f"`{unit.quote(call.lineno)}` shuffles `{shuffled}` and leaves `{other}` as it is"
                places = [
                    cite_code(unit, call.lineno, claim),
                    cite_code(unit, use, "both are taken row by row"),
                ]
                facts: dict[str, Fact] = {"shuffle_place": unit.place(call.lineno), "pair_place": unit.place(use)}
                return [Signal(id="one-list-shuffled", claim=claim, citations=places, facts=facts)]
    return []


def _in_body(body: list[ast.stmt]) -> tuple[str, str, ast.Call, int] | None:
    """The shuffled list, the one left alone, the call, and the line that takes both; statements in their order."""
    lists = _Lists()
    for statement in body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _SHUFFLES and len(call.args) == 1:
            lists.shuffle(call)
            continue
        for name, place in lists.moved.items():
            for other in [one for one, rows in lists.rows.items() if rows == lists.rows[name]]:
                use = _used_together(statement, lists.made_of(name), lists.made_of(other))
                if other not in lists.moved and use:
                    return name, other, place, use
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            lists.assign(statement.targets[0], statement.value)
    return None


class _Lists:
    """The lists that a program has made so far: from which rows, whether shuffled, and what was made of each."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        """by name, the rows that a list was made from"""
        self.moved: dict[str, ast.Call] = {}
        self._list_of: dict[str, str] = {}
        """by name, the one list that a value was made of"""

    def shuffle(self, call: ast.Call) -> None:
        """Remember that a list was put into another order."""
        name = name_of(call.args[0])
        if isinstance(call.args[0], ast.Name) and name in self.rows:
            self.moved[name] = call

    def made_of(self, name: str) -> set[str]:
        """The names that hold a list, or what was made of it alone."""
        return {name, *(one for one, source in self._list_of.items() if source == name)}

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Remember from which rows a list was made; a name that is given another value is forgotten."""
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for to, given in pairs:
            names = {part.id for part in ast.walk(given) if isinstance(part, ast.Name)}
            sources = {self._list_of.get(one, one) for one in names if one in self.rows or one in self._list_of}
            for name in [part.id for part in ast.walk(to) if isinstance(part, ast.Name)]:
                for held in (self.rows, self.moved, self._list_of):
                    held.pop(name, None)
            rows = _rows(given)
            if isinstance(to, ast.Name) and rows and not sources:
                self.rows[to.id] = rows
            elif isinstance(to, ast.Name) and len(sources) == 1 and to.id not in sources:
                self._list_of[to.id] = sources.pop()


def _rows(value: ast.expr) -> str:
    """What a list goes through, one element for each: `[row["text"] for row in rows]`, `list(table["text"])`."""
    if isinstance(value, ast.ListComp) and len(value.generators) == 1 and not value.generators[0].ifs:
        source = value.generators[0].iter
        return ast.unparse(source) if isinstance(source, ast.Name) else ""
    if isinstance(value, ast.Call) and name_of(value.func) in {"list", "tolist"}:
        inner = value.args[0] if value.args else value.func.value if isinstance(value.func, ast.Attribute) else None
        while isinstance(inner, ast.Attribute) and inner.attr == "values":
            inner = inner.value
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            return inner.value.id
    return ""


def _used_together(statement: ast.stmt, ones: set[str], others: set[str]) -> int:
    """The line in which both go into one call, row by row; 0 where none does."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and name_of(node.func) in _PAIRING:
            given = {part.id for part in node.args if isinstance(part, ast.Name)}
            if given & ones and given & others:
                return node.lineno
    return 0
