"""`traindx replay CASE`: a recorded investigation, offline."""

from __future__ import annotations

import argparse
from pathlib import Path

from traindx.cli.arguments import target
from traindx.cli.diagnose import Commands


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        parents=[shared],
        help="show a recorded investigation, offline",
        description="Renders a transcript: the diagnosis, and with -v every turn and every tool call that led to it."
        " Only CASE is read, and nothing is sent.",
    )
    parser.add_argument("case", metavar="CASE", type=Path, help="a transcript (JSON lines)")
    parser.add_argument(
        "--format", choices=("terminal", "markdown", "json"), default="terminal", help="how to print the result"
    )
    parser.add_argument("--output", type=target, metavar="FILE", help="write the result to FILE instead of stdout")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Render the record."""
    from traindx.cli.output import page_for, write
    from traindx.pipeline.transcript import read_transcript
    from traindx.report import render
    from traindx.report.transcript import as_text

    record = read_transcript(args.case)
    diagnosis = record.diagnosis
    page = page_for(args)
    form = "json" if args.json else args.format
    asked = record.request.get("message") or ""
    title = f"traindx replay {args.case}" + (f': "{asked}"' if asked else "")
    text = ""
    if form == "terminal" and (args.verbose or diagnosis is None):
        text = as_text(record, page)
    if diagnosis is not None:
        text += render(diagnosis, form, page, title)
    elif form == "json":
        text = '{"status": "interrupted"}\n'
    write(text, args.output)
    return 0
