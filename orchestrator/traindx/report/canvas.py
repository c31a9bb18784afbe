"""A rich console that writes into a string, with the few strokes our pages are drawn with."""

from __future__ import annotations

import io
import re

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from traindx.definitions.visible import visible
from traindx.report.render import Page

# The indent of a line with the mark of a list, a quote or a diff; DOTALL because a file name may hold anything.
_MARKED = re.compile(r"(\s*(?:(?:[-+*>]|\d{1,3}\.)\s+)?)(.*)", re.DOTALL)
_NARROWEST = 12
"""columns; below that, hanging text is harder to read than text that starts at the margin"""


class Canvas:
    """Draws headings, paragraphs, labelled rows and quotes; the words carry the meaning, colour only helps."""

    def __init__(self, page: Page) -> None:
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=max(40, page.width),
            force_terminal=page.color,
            no_color=not page.color,
            color_system="standard" if page.color else None,
            highlight=False,
            legacy_windows=False,
        )

    def text(self, words: str, style: str = "", indent: int = 0) -> None:
        """A paragraph, or several lines; a line that wraps goes on below its first word, not below its mark."""
        for line in visible(words).split("\n"):
            self._line(line, style, indent)

    def heading(self, words: str) -> None:
        """A heading with air above it."""
        self._console.print()
        self.text(words, style="bold")

    def rows(self, rows: list[tuple[str, str]], indent: int = 0, style: str = "dim") -> None:
        """Labels on the left, text wrapped on the right; below them where they leave it less than a third."""
        if max((cell_len(visible(label)) for label, _ in rows), default=0) * 3 > self._console.width * 2:
            for label, words in rows:
                self.text(label, indent=indent, style=style)
                self.text(words, indent=indent + 4)
            return
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style=style)
        table.add_column(overflow="fold")
        for label, words in rows:
            table.add_row(Text(visible(label)), Text(visible(words)))
        self._console.print(Padding(table, (0, 0, 0, indent)))

    def verbatim(self, words: str, indent: int = 0, style: str = "dim") -> None:
        """Lines as they are: what is too long goes on below itself, so that nothing of it is lost."""
        for line in words.splitlines():
            self._line(visible(line).expandtabs(4), style, indent)

    def unwrapped(self, words: str, indent: int = 0, style: str = "") -> None:
        """Lines to be copied: never wrapped, tabs kept."""
        for line in words.splitlines():
            shown = " " * indent + visible(line)
            if "\t" in shown:
                self._out.write(f"{shown}\n")  # rich would turn tabs into blanks
            else:
                self._console.print(Text(shown, style=style), soft_wrap=True)

    def _line(self, line: str, style: str, indent: int) -> None:
        mark, rest = _MARKED.fullmatch(line).groups()  # type: ignore[union-attr]
        start = indent + cell_len(mark)
        room = self._console.width - start
        if cell_len(rest) <= room or room < _NARROWEST:
            whole = Text(" " * indent + line, style=style)
            self._console.print(whole, overflow="fold")
            return
        pieces = Text(rest, style=style).wrap(self._console, room, overflow="fold")
        for number, piece in enumerate(pieces):
            piece.rstrip()
            before = " " * indent + mark if number == 0 else " " * start
            self._console.print(Text(before, style=style).append_text(piece), soft_wrap=True)

    def exactly(self, words: str) -> None:
        """A text to the letter: neither wrapped nor cut."""
        self._out.write("".join(f"{visible(line)}\n" for line in words.split("\n")))

    def markdown(self, words: str, indent: int = 0) -> None:
        """A Markdown text, its headings bold and its code as it is."""
        from rich.markdown import Markdown

        self._console.print(Padding(Markdown(visible(words), code_theme="ansi_dark"), (0, 0, 0, indent)))

    def gap(self) -> None:
        """An empty line."""
        self._console.print()

    def drawn(self) -> str:
        """Everything so far, without trailing spaces."""
        return "\n".join(line.rstrip() for line in self._out.getvalue().splitlines()) + "\n"
