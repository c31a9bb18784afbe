"""The three standard streams, which a caller may have closed or pointed at a full device."""

from __future__ import annotations

import contextlib
import os
import sys

from traindx.errors import UnwritableOutput

STDOUT = "standard output"


def settle() -> None:
    """Point descriptors that are closed at nothing, so that no pipe or file of ours gets their number.

    `sys.stdin` and `sys.stdout` stay `None` where they are closed: who needs them says so.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is the one that is closed: those below it are open by now.
            os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends


def check_stdout() -> None:
    """Refuse to work for a result that nobody can get."""
    if sys.stdout is None:
        raise UnwritableOutput(STDOUT, "it is closed")


def print_result(text: str) -> None:
    """Write a result to stdout, all of it; raises `UnwritableOutput` where that fails."""
    check_stdout()
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_stdout()
        raise UnwritableOutput(STDOUT, (error.strerror or str(error)).lower()) from None


def abandon_stdout() -> None:
    """Nothing more can be written: what is still in the buffer must not fail again when the interpreter exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """A line to the user on stderr; one that cannot be written is nobody's error."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
