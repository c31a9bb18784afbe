"""Options that are declared with `type=bool` and given a word: `bool("False")` is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Setting, is_shell

SIGNALS = {
    "option-true-whatever-is-given": SignalKind(
        "a command gives an option a word for no, and the program reads any word as yes", proof=True
    ),
}
_NO = frozenset(["false", "no", "0", "off"])


def detect(settings: Sequence[Setting], code: Sequence[CodeUnit]) -> list[Signal]:
    """The first option that is switched off on a command line and is on in the program."""
    given = {row.key.rpartition(".")[2].replace("-", "_"): row for row in settings if _is_off(row)}
    for unit in code:
        for call, option in _declared(unit):
            if option not in given:
                continue
            row = given[option]
            line = unit.file_line(call.lineno)
            claim = f"`--{option} {row.value}` switches it on: `type=bool` makes `True` of every word but the empty one"
            facts: dict[str, Fact] = {
                "bool_option": option,
                "bool_place": unit.place(call.lineno),
                "bool_given": f"{row.source}:{row.line}",
            }
            places = [
                cite_line(unit.path, line, "reads any word as true", unit.quote(call.lineno)),
                cite_line(row.source, row.line, "gives a word for no"),
                *(
                    cite_line(told.source, told.line, f"`{option}` is on in the run")
                    for told in settings
                    if told.key.rpartition(".")[2] == option and told.value is True and not told.coded
                ),
            ]
            return [Signal(id="option-true-whatever-is-given", claim=claim, citations=places[:3], facts=facts)]
    return []


def _is_off(row: Setting) -> bool:
    """Whether a script that starts the program says no."""
    return is_shell(row.source) and str(row.value).lower() in _NO


def _declared(unit: CodeUnit) -> Iterator[tuple[ast.Call, str]]:
    """The options of a program with `type=bool`."""
    for call in unit.nodes.of(ast.Call) if "add_argument" in unit.names else ():
        plain = any(
            key.arg == "type" and isinstance(key.value, ast.Name) and key.value.id == "bool" for key in call.keywords
        )
        words = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        long = next((word for word in words if word.startswith("--")), "")
        if plain and long and name_of(call.func) == "add_argument":
            yield call, long.removeprefix("--").replace("-", "_")
