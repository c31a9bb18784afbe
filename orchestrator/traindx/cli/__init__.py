"""The `traindx` command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from traindx.cli.signals import Ended, ended_by_signals
from traindx.cli.streams import abandon_stdout, check_stdout, say, settle
from traindx.errors import InternalFault, TraindxError

OK, FOUND, BAD_USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
"""`docs/cli.md` says what they mean; a signal that ended the command is 128 and its number"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; stdout carries only its result, stderr everything else."""
    # A plugin of the user's own environment has no business in a command, and looking for one takes time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    settle()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with ended_by_signals():
            return _carried_out(words)
    except Ended as ended:
        return ended.status
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED


def _carried_out(words: list[str]) -> int:
    from traindx.cli.parser import parse

    verbose = False
    try:
        chosen = parse(words)
        verbose = bool(chosen.verbose)
        if getattr(chosen, "output", None) is None:
            check_stdout()
        status: int = chosen.run(chosen)
    except InternalFault as error:
        _complain(error)
        return INTERNAL
    except TraindxError as error:
        _complain(error)
        return BAD_USAGE
    except BrokenPipeError:
        # The reader has gone (`traindx … | head`): there is nobody left to tell, not even at interpreter exit.
        abandon_stdout()
        return OK
    except Exception as error:  # noqa: BLE001 - the process boundary
        _explain(error, verbose)
        return INTERNAL
    return status


def _explain(error: Exception, verbose: bool) -> None:
    if verbose:
        import traceback

        say(traceback.format_exc().rstrip())
    elif isinstance(error, OSError) and error.strerror:
        # An event loop that got only half of its descriptors complains once more when it is thrown away.
        sys.unraisablehook = lambda _: None
        where = f" (`{error.filename}`)" if error.filename else ""
        _complain(f"the system refused what was needed: {error.strerror.lower()}{where}")
    else:
        what = f"{type(error).__name__}: {error}"
        _complain(f"internal error: {what}; run again with -v for the traceback, and please report it")


def _complain(what: object) -> None:
    from traindx.definitions.visible import visible

    say(f"traindx: {visible(str(what))}")
