"""Where results go and how the reader sees them."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from traindx.cli.streams import print_result
from traindx.contract import Event, Listener, null_listener
from traindx.definitions.visible import visible
from traindx.pipeline.outputs import write_file
from traindx.report.render import Page


def page_for(args: argparse.Namespace) -> Page:
    """The reader's page: the terminal's width and colours, or 80 plain columns in a pipe or a file."""
    return page_on(sys.stdout if getattr(args, "output", None) is None else None, args)


def page_on(stream: TextIO | None, args: argparse.Namespace) -> Page:
    """The page that a stream is read on."""
    to_terminal = stream is not None and stream.isatty()
    width = min(shutil.get_terminal_size((80, 24)).columns, 110) if to_terminal else 80
    # https://no-color.org: any non-empty value switches colours off.
    color = to_terminal and not args.no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Page(width=width, color=color, verbose=args.verbose)


def write(text: str, output: Path | None = None) -> None:
    """To stdout, or into a file that is either complete or untouched."""
    if output is None:
        print_result(text)
    else:
        write_file(output, text)


@contextlib.contextmanager
def progress(args: argparse.Namespace) -> Iterator[Listener]:
    """A listener that keeps one status line up to date; with `-v` every event stays on its own line."""
    if args.quiet or not sys.stderr.isatty():
        yield null_listener
        return
    from rich.console import Console

    console = Console(stderr=True, no_color=args.no_color, highlight=False)
    with console.status("starting", spinner="dots") as status:

        def tell(event: Event) -> None:
            words = visible(event.text).replace("[", "\\[")
            if event.kind == "text":
                if args.verbose:
                    console.print(words, style="dim", end="")
            elif args.verbose:
                console.print(f"{event.kind}: {words}", style="dim")
            elif event.kind in {"stage", "tool_started"}:
                status.update(words)

        yield tell
