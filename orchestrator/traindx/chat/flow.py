"""Markdown as it comes, written in lines that fit the page: a model's stream and our own answers alike."""

from __future__ import annotations

import re
from collections.abc import Callable

from traindx.definitions.visible import visible
from traindx.report.render import Page

_FENCE = re.compile(r"\s*(`{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])")
_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "added": "\x1b[32m", "removed": "\x1b[31m"}
_END = "\x1b[0m"


def fenced(text: str, language: str = "") -> str:
    """A code block that the text cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def unwrapped(markdown: str) -> str:
    """Paragraphs and list items in one line each, however their file breaks them; code stays as it is."""
    lines: list[str] = []
    inside = open_end = False
    for line in markdown.strip().split("\n"):
        fence = _FENCE.match(line) is not None
        begins = not line.strip() or line.startswith(("#", "|")) or _ITEM.fullmatch(line.split()[0]) is not None
        if open_end and not inside and not fence and not begins:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        inside ^= fence
        open_end = bool(line.strip()) and not line.startswith(("#", "|")) and not inside and not fence
    return "\n".join(lines)


class Flow:
    """Wraps words as they arrive; code blocks come line by line, indented and uncut; headings are bold."""

    def __init__(self, write: Callable[[str], None], page: Page) -> None:
        self._write, self._page = write, page
        self._line = ""
        """what has come of the line under way and is not written yet"""
        self._column = 0
        self._hang = 0
        self._fence = ""
        self._begun = False
        """whether the line under way has left its first word behind"""
        self.spoken = False
        """whether any words have come"""

    def feed(self, piece: str) -> None:
        """Write what can be written of the text so far."""
        self.spoken = self.spoken or bool(piece.strip())
        *whole, rest = (self._line + visible(piece.replace("\r\n", "\n")).expandtabs(4)).split("\n")
        for line in whole:
            self._end_of_line(line)
        self._line = rest
        if not self._verbatim(rest):
            ready, space, kept = rest.rpartition(" ")
            if space and ready.strip():
                self._words(ready)
                self._line = kept

    def end(self) -> None:
        """Write what is left and close the line."""
        if self._line:
            self._end_of_line(self._line)
            self._line = ""
        elif self._column:
            self._end_of_line("")

    def _verbatim(self, line: str) -> bool:
        """Whether the line has to be whole before it can be written."""
        whole = bool(self._fence) or line.lstrip()[:1] in {"`", "|"}
        return not self._begun and (whole or _ITEM.fullmatch(line.strip()) is not None or line.startswith("#"))

    def _end_of_line(self, line: str) -> None:
        fence = None if self._begun else _FENCE.match(line)
        if self._fence:
            if fence and len(fence[1]) >= len(self._fence) and not line.strip().strip("`"):
                self._fence = ""
            else:
                self._write(self._styled(f"  {line}".rstrip(), _code_style(line)) + "\n")
        elif fence:
            self._fence = fence[1]
        elif not self._begun and line.startswith("#"):
            self._write(self._styled(line.lstrip("#").strip(), "bold") + "\n")
        elif not self._begun and line.lstrip().startswith("|"):
            self._write(line.rstrip() + "\n")
        else:
            self._words(line)
            self._write("\n")
        self._column, self._hang, self._begun = 0, 0, False

    def _words(self, text: str) -> None:
        words = text.split()
        if not self._begun and words:
            indent = len(text) - len(text.lstrip())
            self._hang = indent + (len(words[0]) + 1 if _ITEM.fullmatch(words[0]) else 0)
            self._write(" " * indent)
            self._column = indent
        for word in words:
            if self._begun and self._column + 1 + len(word) > self._page.width:
                self._write("\n" + " " * self._hang)
                self._column = self._hang
            elif self._begun:
                self._write(" ")
                self._column += 1
            self._write(word)
            self._column += len(word)
            self._begun = True

    def _styled(self, text: str, style: str) -> str:
        return f"{_STYLES[style]}{text}{_END}" if self._page.color and text else text


def _code_style(line: str) -> str:
    return {"+": "added", "-": "removed"}.get(line[:1], "dim")
