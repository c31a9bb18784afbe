"""The lines behind an error: where what its message names is written, and where what brings it about is set."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from traindx.contract import Citation
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_code, cite_line
from traindx.detectors.errors import unused_layers
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes
from traindx.readers.model import Excerpt, LogError
from traindx.readers.quoting import quote_of

MOST_NAMED = 2
MOST_SET = 3
RARE = 4
"""lines that hold a name: one that stands in more of them is a word of the program, not the trouble"""
_QUOTED = re.compile(r"`([^`\n]{3,120})`|'([^'\n]{3,120})'|\"([^\"\n]{3,120})\"|“([^”\n]{3,120})”")
_SUBJECT = re.compile(r"\W*([\w.-]{3,80})['`\"]? (?:is|was) not\b")
"""what a quoted sentence is about: `'FocalNet is not in the model registry'`"""
_LOCAL = re.compile(r"\b(\w{1,80})\.<locals>\.(<lambda>|\w{1,80})")
_COMMON = frozenset(
    {
        "cuda", "cpu", "gpu", "self", "input", "inputs", "output", "weight", "bias", "nonetype", "none", "str", "int",
        "list", "dict", "tuple", "tensor", "float", "bool", "true", "false", "train", "model", "data", "module", "main",
        "half", "long", "double", "bfloat16", "float16", "float32", "int64", "utf-8", "file", "path", "nccl", "gloo",
        "forward", "__init__", "shape", "size", "name", "type", "object", "inductor", "label", "labels", "loss",
    }
)  # fmt: skip
_REQUIREMENT = re.compile(r"^\s{0,8}(?:- )?([A-Za-z][\w.-]{1,60})(?:\[[\w,]+\])?\s{0,2}(?:[<>=!~@;#]|$)")
_REQUIREMENTS = re.compile(
    r"require|constraint|environment|pip|freeze|conda|pyproject|setup|env|package", re.IGNORECASE
)
DEPENDENCY = frozenset({"error-dependency", "error-cuda-environment"})
"""families whose trouble is a package"""


def detect(
    row: LogError, family: ErrorPattern | None, code: Sequence[CodeUnit], texts: Sequence[Excerpt]
) -> list[Citation]:
    """Where the names of the message stand, the package that raised it, and what the family says to look for."""
    found = [*_local(row, code), *named(f"{row.text[:2_000]}\n{row.more[:2_000]}", code, texts)]
    if family is not None and family.name in DEPENDENCY:
        found += _required(row, family, texts)
    if family is not None and family.name == "error-unused-parameters":
        found += unused_layers.detect(code)
    if family is not None:
        found += _set(family, code, texts)
    seen: dict[tuple[str, str], Citation] = {}
    for place in found:
        if (place.source, place.locator) != (row.source, f"line {row.line}"):
            seen.setdefault((place.source, place.locator), place)
    return list(seen.values())


def _local(row: LogError, code: Sequence[CodeUnit]) -> Iterator[Citation]:
    """The function inside a function that could not be pickled."""
    for outer, inner in _LOCAL.findall(row.text):
        for unit in code:
            for node in all_nodes(unit.tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == outer:
                    line = _inside(node, inner)
                    if line:
                        yield _in_code(unit, line, f"`{inner}` is defined inside `{outer}`")


def _inside(owner: ast.AST, name: str) -> int:
    """The line of the function, class or lambda of this name in another; 0 where there is none."""
    for part in ast.walk(owner):
        named = getattr(part, "name", "<lambda>" if isinstance(part, ast.Lambda) else None)
        if part is not owner and named == name:
            return int(getattr(part, "lineno", 0))
    return 0


def names_in(message: str) -> list[str]:
    """What a message quotes, in its order: names and values, no sentences and no types."""
    told = [next(filter(None, groups)) for groups in _QUOTED.findall(message)]
    told += [found[1] for text in told if (found := _SUBJECT.match(text))]
    return [
        name
        for name in dict.fromkeys(text.strip() for text in told)
        if name.lower() not in _COMMON
        and "://" not in name
        and "-packages" not in name
        and re.search(r"[A-Za-z]{2}", name)
    ]


def named(message: str, code: Sequence[CodeUnit], texts: Sequence[Excerpt] = ()) -> list[Citation]:
    """The rare lines in which a quoted name stands: as a text of the program or a configuration, else as a word."""
    for name in names_in(message):
        claim = f"`{name[:60]}` is named here"
        spelt = [
            _in_code(unit, node.lineno, claim)
            for unit in code
            for node in all_nodes(unit.tree)
            if isinstance(node, ast.Constant) and node.value == name
        ]
        spelt += [
            _in_code(unit, node.value.lineno, claim)
            for unit in code
            for node in all_nodes(unit.tree)
            if isinstance(node, ast.keyword) and node.arg == name
        ]
        whole = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
        spelt += list(_lines(texts, whole, claim))
        distinct = {(place.source, place.locator): place for place in spelt}
        if 0 < len(distinct) <= RARE:
            return list(distinct.values())[:MOST_NAMED]
    return []


def _required(row: LogError, family: ErrorPattern, texts: Sequence[Excerpt]) -> list[Citation]:
    """The requirement behind an error of packages: what it names, else the package of the innermost frame."""
    named = (family.found_in(row.text) or {}).get("package", "")
    inside = [part for path, _ in reversed(row.frames) for part in _package_parts(path)]
    wanted = [_plain(name) for name in [named.partition(".")[0], *inside] if name]
    places: dict[str, Citation] = {}
    for text in texts:
        if not _REQUIREMENTS.search(text.source):
            continue
        for number, line in text.numbered():
            entry = _REQUIREMENT.match(line)
            if entry:
                claim = f"the version of `{entry[1]}` that is asked for"
                places.setdefault(_plain(entry[1]), cite_line(text.source, number, claim, quote_of(line)))
    return next(([places[name]] for name in wanted if name in places), [])


def _package_parts(path: str) -> tuple[str, ...]:
    """The folders of an installed package that a frame stands in, the innermost name last: `google`, `protobuf`."""
    inside = path.replace("\\", "/").partition("-packages/")[2]
    return PurePosixPath(inside).parts[:2] if inside else ()


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _set(family: ErrorPattern, code: Sequence[CodeUnit], texts: Sequence[Excerpt]) -> list[Citation]:
    """Lines of scripts and configurations that set what brings the error about; of programs where there is none."""
    claim = "a line that may bring it about"
    sources = [text for unit in code if (text := _of_unit(unit)) is not None]
    for pattern in family.set_in:
        wanted = re.compile(pattern, re.IGNORECASE)
        found = list(_lines(texts, wanted, claim)) or list(_lines(sources, wanted, claim))
        if found:
            return found[:MOST_SET]
    return []


def _of_unit(unit: CodeUnit) -> Excerpt | None:
    lines = tuple(unit.text.split("\n"))
    return None if unit.notebook is not None or not unit.text else Excerpt(unit.path, 1, len(lines), lines)


def _lines(texts: Iterable[Excerpt], wanted: re.Pattern[str], claim: str) -> Iterator[Citation]:
    for text in texts:
        for number, line in text.numbered():
            if len(line) <= 2_000 and wanted.search(line):
                yield cite_line(text.source, number, claim, quote_of(line))


def _in_code(unit: CodeUnit, line: int, claim: str) -> Citation:
    return cite_code(unit, line, claim)
