"""`traindx setup`: enters the server and the skill into the agent hosts of this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.cli.diagnose import Commands
from traindx.cli.mcp import INSTALL
from traindx.cli.streams import say
from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.hosts.setup import Planned


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "setup",
        parents=[shared],
        help="enter the tools into the agent hosts of this machine",
        description="Finds the agent hosts on this machine (Claude Code, Codex, Cursor, Gemini CLI, VS Code), shows"
        " what it would change, and asks. What was there is kept beside it; --remove undoes everything.",
    )
    parser.add_argument("--host", metavar="NAME", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--remove", action="store_true", help="take everything out again")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show, ask, change."""
    from importlib.util import find_spec

    from traindx.cli.output import write
    from traindx.hosts.machine import Machine
    from traindx.hosts.setup import plan
    from traindx.hosts.steps import carry_out

    if not args.remove and find_spec("mcp") is None:
        raise UsageError(INSTALL)
    rows = plan(Machine(), args.host, remove=args.remove)
    write(_shown(rows, remove=args.remove))
    steps = [step for row in rows for step in row.steps]
    problems = [f"{row.title}: {row.problem}" for row in rows if row.problem]
    if steps and not args.dry_run:
        if not args.yes and not _agreed(len(steps)):
            say("traindx: nothing was changed")
            return 0
        carry_out(steps)
        write("Done.\n" if args.remove else "Done. Restart the hosts that are open.\n")
    if problems:
        raise UsageError("; ".join(problems))
    return 0


def _shown(rows: Sequence[Planned], *, remove: bool) -> str:
    from traindx.hosts.steps import summary

    parts = []
    for row in rows:
        if row.problem:
            parts.append(f"{row.title} ({row.where}): left alone")
        elif not row.where:
            parts.append(f"{row.title}: {'nothing to remove' if remove else 'not found on this machine'}")
        elif not row.steps:
            parts.append(f"{row.title} ({row.where}): {'nothing to remove' if remove else 'set up already'}")
        else:
            shown = "\n".join(summary(row.steps)).replace("\n", "\n  ")
            parts.append(f"{row.title} ({row.where}):\n  {shown}")
    return "\n".join(parts) + "\n"


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nothing was changed: there is nobody to ask; give --yes to agree, --dry-run to look only")
    sys.stderr.write(f"Make {'this change' if count == 1 else f'these {count} changes'}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
