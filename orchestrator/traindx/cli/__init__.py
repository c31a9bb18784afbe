"""The `traindx` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from traindx.errors import TraindxError

OK, FOUND, BAD_USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; stdout carries only its result, stderr everything else."""
    from traindx.cli.parser import parse

    verbose = False
    try:
        chosen = parse(sys.argv[1:] if arguments is None else list(arguments))
        verbose = bool(chosen.verbose)
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except TraindxError as error:
        _say(error)
        return BAD_USAGE
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`traindx … | head`): there is nobody left to tell, not even at interpreter exit.
        _close_stdout()
        return OK
    except Exception as error:
        if verbose:
            raise
        what = f"{type(error).__name__}: {error}"
        _say(f"internal error: {what}; run again with -v for the traceback, and please report it")
        return INTERNAL
    return status


def _say(what: object) -> None:
    from traindx.report.canvas import visible

    sys.stderr.write(f"traindx: {visible(str(what))}\n")


def _close_stdout() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
