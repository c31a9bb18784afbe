"""Progress on stderr, only where somebody watches."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator

from traindx.contract import Event, Listener, unheard
from traindx.report.plain import visible


@contextlib.contextmanager
def progress(args: argparse.Namespace) -> Iterator[Listener]:
    """A listener that keeps one status line up to date; with `-v` every event stays on its own line."""
    if args.quiet or not sys.stderr.isatty():
        yield unheard
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
