"""A rich console that writes into a string, with the few strokes our pages are drawn with."""

from __future__ import annotations

import io

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from traindx.definitions.visible import visible
from traindx.report.render import Page


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
        """A paragraph."""
        self._console.print(Padding(Text(visible(words), style=style), (0, 0, 0, indent)))

    def heading(self, words: str) -> None:
        """A heading with air above it."""
        self._console.print()
        self._console.print(Text(visible(words), style="bold"))

    def rows(self, rows: list[tuple[str, str]], indent: int = 0, style: str = "dim") -> None:
        """Labels on the left, text wrapped on the right."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style=style)
        table.add_column(overflow="fold")
        for label, words in rows:
            table.add_row(Text(visible(label)), Text(visible(words)))
        self._console.print(Padding(table, (0, 0, 0, indent)))

    def verbatim(self, words: str, indent: int = 0, style: str = "dim") -> None:
        """Lines as they are, cut at the margin rather than wrapped."""
        for line in words.splitlines():
            shown = Text(" " * indent + visible(line).expandtabs(4), style=style, no_wrap=True, overflow="ellipsis")
            self._console.print(shown, crop=True)

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
