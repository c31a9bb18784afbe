"""Where it stands: citations, opened in their files with the lines around them."""

from __future__ import annotations

import re

from traindx.chat.flow import fenced
from traindx.chat.session import ChatSession
from traindx.contract import Evidence, RootCause
from traindx.diagnosis.catalog import FailureMode

_LINE = re.compile(r"line (\d+)")
AROUND = 2


def of_cause(cause: RootCause) -> str:
    """The evidence in one line each."""
    return "\n".join(f"- {_claim(piece)}" for piece in cause.evidence)


async def opened(session: ChatSession, cause: RootCause, most: int | None = None) -> str:
    """Every piece with the place it cites, read from the file this very moment."""
    parts = [f"Evidence for `{cause.name}` (confidence {cause.confidence:.2f}):"]
    for piece in cause.evidence[:most]:
        parts.append(f"- {_claim(piece)}\n{await _window(session, piece)}")
    left = len(cause.evidence) - len(cause.evidence[:most])
    return "\n".join([*parts, f"and {left} more: `/evidence`"] if left else parts)


async def _window(session: ChatSession, piece: Evidence) -> str:
    """The cited line among its neighbours, or the quote where there are no lines to show."""
    match = _LINE.match(piece.locator)
    if match is None:
        return fenced(piece.quote) if piece.quote else ""
    line = int(match[1])
    given = {"path": piece.source, "start_line": max(1, line - AROUND), "max_lines": 2 * AROUND + 1}
    result = await session.call("Read", given)
    if result.status != "ok":
        return f"  (cannot be opened now: {result.reason})"
    rows = [row.partition("\t") for row in str(result.output["text"]).split("\n")]
    width = max(len(number) for number, _, _ in rows)
    return fenced(
        "\n".join(f"{'>' if number == str(line) else ' '} {number:>{width}}  {text}" for number, _, text in rows)
    )


def _claim(piece: Evidence) -> str:
    mark = "verified" if piece.verified else "NOT VERIFIED"
    where = f"{piece.source}, {piece.locator}" if piece.locator else piece.source
    return f"{piece.claim} ({piece.kind}, {mark}; {where})"


def first_paragraph(mode: FailureMode, heading: str) -> str:
    """The opening of a section, as one line of prose."""
    match = re.search(rf"^## {re.escape(heading)}\s*$\s*(.*?)(?=\n\s*\n|^## |\Z)", mode.body, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def sentences_about(mode: FailureMode, headings: tuple[str, ...], subject: re.Pattern[str]) -> list[str]:
    """The sentences under these headings that speak of something; code is left out."""
    found: list[str] = []
    for heading in headings:
        match = re.search(rf"^## {re.escape(heading)}\s*$(.*?)(?=^## |\Z)", mode.body, re.MULTILINE | re.DOTALL)
        prose = re.sub(r"```.*?```", "\n\n", match[1] if match else "", flags=re.DOTALL)
        for block in re.split(r"\n\s*\n|^\s*- ", prose, flags=re.MULTILINE):
            whole = " ".join(block.split())
            found += [row for row in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", whole) if subject.search(row)]
    return list(dict.fromkeys(found))
