"""The command line: one file per command beside this one, each with `add` and `run`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from typing import NoReturn

from traindx import __version__
from traindx.cli import (
    agents,
    chat,
    completion,
    demo,
    diagnose,
    eval,
    explain,
    gather,
    mcp,
    probe,
    replay,
    review,
    run,
    schema,
    setup,
    tool,
    tools,
    verify,
    watch,
)
from traindx.errors import UsageError, did_you_mean

COMMANDS = (
    diagnose,
    run,
    watch,
    review,
    gather,
    chat,
    replay,
    agents,
    tools,
    tool,
    explain,
    probe,
    verify,
    mcp,
    setup,
    demo,
    eval,
    schema,
    completion,
)

HANDING_ON = ("probe", "verify")
"""commands that hand on what stands after `--`, which argparse would take for their own words"""

CONFIGURED = ("diagnose", "gather", "chat")
"""commands that take defaults from the project's settings; the others behave the same everywhere"""


class Parser(argparse.ArgumentParser):
    """Complaints are errors like any other: one sentence on stderr, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The chosen command and its options; `--help` and `--version` print and exit."""
    parser = Parser(
        prog="traindx",
        description="Finds out why a machine-learning training run went wrong.",
        epilog='Start with: traindx diagnose PATH -m "what you see"',
    )
    parser.add_argument("--version", action="version", version=f"traindx {__version__}")
    shared = _shared()
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.add(commands, shared)
    _check_command(arguments, commands.choices)
    if not arguments:
        parser.print_help(sys.stdout)
        raise SystemExit(0)
    own, handed_on = _split(arguments)
    chosen = parser.parse_args(own)
    if chosen.command in HANDING_ON:
        chosen.arguments = handed_on
    if chosen.command not in CONFIGURED:
        return chosen
    from traindx.cli.settings import load_settings

    defaults = load_settings(chosen.path, vars(chosen))
    if not defaults:
        return chosen
    commands.choices[chosen.command].set_defaults(**defaults)
    return parser.parse_args(arguments)


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    if arguments[0] not in HANDING_ON or "--" not in arguments:
        return arguments, []
    place = list(arguments).index("--")
    return arguments[:place], list(arguments[place + 1 :])


def _check_command(arguments: Sequence[str], known: Collection[str]) -> None:
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first is not None and arguments[0] == first and first not in known:
        hint = did_you_mean(first, known) or f" Commands: {', '.join(known)}."
        raise UsageError(f"there is no command `{first}`.{hint}")


def _shared() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print JSON (the same as --format json)")
    shared.add_argument("--no-color", action="store_true", help="plain text, no colors")
    shared.add_argument("-q", "--quiet", action="store_true", help="show no progress on stderr")
    shared.add_argument("-v", "--verbose", action="store_true", help="every detail, and tracebacks of internal errors")
    return shared
