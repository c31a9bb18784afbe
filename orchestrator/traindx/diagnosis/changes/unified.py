"""Files with some of their lines replaced, as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence

from traindx.redaction import Redactor

LARGEST = 2_000_000
"""bytes of a file for which a diff is written"""
LONGEST = 4_000
"""characters of a line that a diff may show"""
CONTEXT = 3
NewLines = Mapping[int, Sequence[str]]
"""line (from 1) -> what stands there instead, one string a line without its end"""
_ELEMENT = re.compile(r'(?P<indent>\s*)(?P<text>"(?:[^"\\]|\\.)*")(?P<comma>,?)\s*$')


def unified(path: str, text: str, new: NewLines) -> str:
    """The diff of a file; empty where a line is too long to show or holds a secret, or nothing changes."""
    old = text.splitlines(keepends=True) if "\r" in text.replace("\r\n", "") else _split(text)
    changed: list[str] = []
    for number, line in enumerate(old, 1):
        body = line.rstrip("\r\n")
        ending = line[len(body) :]
        rows = new.get(number, [body])
        # The last line of a file may have no end: only what comes before the new last line gets one.
        changed += [row + (ending or "\n") for row in rows[:-1]] + [row + ending for row in rows[-1:]]
    redactor = Redactor()
    # A report is passed on: where a key or a password stands near, fewer lines are shown around the change.
    for context in range(CONTEXT, 0, -1):
        rows = list(difflib.unified_diff(old, changed, f"a/{path}", f"b/{path}", n=context))
        shown = "".join(rows)
        if redactor.clean(shown) == shown:
            break
    else:
        return ""
    if not rows or any(len(row) > LONGEST for row in rows):
        return ""
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _split(text: str) -> list[str]:
    """Lines as git counts them: at line feeds alone."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def in_notebook(text: str, code: Sequence[str], file_lines: Sequence[int], new: NewLines) -> NewLines | None:
    """New lines of a notebook's code as lines of its .ipynb file; None where a line does not stand alone in it."""
    rows = _split(text)
    found: dict[int, list[str]] = {}
    for number, lines in new.items():
        at = file_lines[number - 1]
        element = _ELEMENT.fullmatch(rows[at - 1].rstrip("\r\n")) if at <= len(rows) else None
        if element is None:
            return None
        held = str(json.loads(element["text"]))
        if held.rstrip("\n") != code[number - 1]:
            return None
        ends = ["\n"] * (len(lines) - 1) + ["\n" if held.endswith("\n") else ""]
        commas = [","] * (len(lines) - 1) + [element["comma"]]
        ascii_only = rows[at - 1].isascii()
        found[at] = [
            element["indent"] + json.dumps(line + end, ensure_ascii=ascii_only) + comma
            for line, end, comma in zip(lines, ends, commas, strict=True)
        ]
    return found
