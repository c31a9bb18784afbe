"""Writing the patch, in the worker: the file is read, the change is made in memory and read back before it is shown."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes import rewritings
from traindx.diagnosis.changes.spelling import respelled
from traindx.diagnosis.changes.unified import LARGEST, in_notebook, unified
from traindx.diagnosis.changes.wanted import NewValue, Patched, Wanted
from traindx.errors import TraindxError
from traindx.program.families import relatives
from traindx.readers import Run
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.literals import code_settings
from traindx.readers.code.notebooks import read_notebook
from traindx.readers.code.units import NotPython, parse_text
from traindx.readers.configs.pairs import launch_options
from traindx.readers.configs.settings import read_configuration
from traindx.readers.model import is_program, is_shell
from traindx.runtime import tool


class _Impossible(ValueError):
    """Why a change cannot be written."""


@tool(timeout=20.0)
def patch(wanted: Wanted, run: Run) -> Patched:
    """Make a change in memory and give it as a unified diff; nothing is written."""
    try:
        if wanted.code:
            return _rewritten(wanted, run)
        return Patched(diff=_with_values(wanted.values, run), places=[_place(row, run) for row in wanted.values])
    except (_Impossible, rewritings.Unfit) as error:
        return Patched(why_not=str(error))


def _place(row: NewValue, run: Run) -> str:
    plain = f"{row.source}:{row.line}"
    unit = next((unit for unit in run.code if unit.path == row.source and unit.notebook), None)
    return next((unit.place(line) for line in unit.lines_called(plain)), plain) if unit is not None else plain


def _with_values(values: Sequence[NewValue], run: Run) -> str:
    texts = {row.source: _text(run, row.source) for row in values}
    changed = dict(texts)
    for row in values:
        changed[row.source] = _with_value(changed[row.source], row)
    diffs = []
    for path, text in texts.items():
        old, new = text.split("\n"), changed[path].split("\n")
        lines = {number: [line.rstrip("\r")] for number, line in enumerate(new, 1) if line != old[number - 1]}
        diffs.append(unified(path, text, lines))
        if not diffs[-1]:
            raise _Impossible(f"the line of `{path}` that sets it is too long to show")
    return "".join(diffs)


def _with_value(text: str, row: NewValue) -> str:
    """The text with one new value; every other setting of the file reads as before."""
    lines = text.split("\n")
    if not 0 < row.line <= len(lines):
        raise _Impossible(f"`{row.source}` has no line {row.line}")
    before = _settings(row.source, text)
    if before[row.key, row.old] == 0:
        before = Counter({(row.key, row.old): 1})  # a reader knows it that this one is not: the number alone decides
    for line in respelled(lines[row.line - 1], row.key, row.old, row.new, row.source):
        tried = "\n".join([*lines[: row.line - 1], line, *lines[row.line :]])
        after = _settings(row.source, tried)
        lost, gained = before - after, after - before
        if lost == Counter([(row.key, row.old)]) and len(gained) == 1 and next(iter(gained))[0] == row.key:
            return tried
    raise _Impossible(f"`{row.key}` at {row.source}:{row.line} is not written as a plain value")


def _settings(path: str, text: str) -> Counter[tuple[str, Fact]]:
    """Every setting of a file, however it spells them."""
    try:
        if is_shell(path):
            return Counter((key, value) for key, value, _ in launch_options(text))
        if path.endswith(".ipynb"):
            text = read_notebook(io.BytesIO(text.encode()), path)[0].code
        if is_program(path):
            return Counter((row.key, row.value) for row in code_settings(parse_text(text), path))
    except NotPython:
        return Counter()
    return Counter((row.key, row.value) for row in read_configuration(io.BytesIO(text.encode()), path)[0])


def _rewritten(wanted: Wanted, run: Run) -> Patched:
    made = rewritings.rewrite(wanted.code, _concerned(run, wanted.facts), wanted.facts)
    text, unit = _text(run, made.unit.path), made.unit
    source = unit.notebook.code if unit.notebook else text
    lines = source.split("\n")
    rows = [row for number, line in enumerate(lines, 1) for row in made.lines.get(number, [line])]
    try:
        parse_text("\n".join(rows))
    except NotPython as error:
        raise _Impossible(f"the change would leave `{unit.path}` with {error}") from None
    new = made.lines
    if unit.notebook:
        found = in_notebook(text, lines, [place.file_line for place in unit.notebook.places], new)
        if found is None:
            raise _Impossible(f"the lines of `{unit.path}` do not stand apart in the file")
        new = found
    elif text.count("\r\n"):
        new = {number: [row.rstrip("\r") for row in rows] for number, rows in new.items()}
    diff = unified(unit.path, text, new)
    return Patched(diff=diff, did=made.did) if diff else Patched(why_not=f"a line of `{unit.path}` is too long to show")


def _concerned(run: Run, facts: Mapping[str, Fact]) -> Sequence[CodeUnit]:
    """The files that belong to the places that facts name, `model.py:12`; all of them where no fact names any."""
    known = run.kept("relatives", lambda: relatives(run.code))
    named = (str(value).partition(":")[0].partition(",")[0] for value in facts.values())
    return next((known[path] for path in named if path in known), run.code)


def _text(run: Run, path: str) -> str:
    try:
        with run.scope.open(path) as handle:
            data = handle.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise _Impossible(f"`{path}` is too large for a diff")
        return data.decode()
    except UnicodeDecodeError:
        raise _Impossible(f"`{path}` is not written in UTF-8") from None
    except (TraindxError, OSError) as error:
        raise _Impossible(str(error)) from None
