"""What can go wrong and be said in one sentence.

TraindxError            the root; `str(error)` is the sentence a person reads
├── UsageError          the request cannot be carried out as typed
│   ├── UnknownName     a name that is not in the list, with the nearest ones that are
│   ├── UnreadableInput a path that is missing, forbidden or not what it should be
│   └── UnwritableOutput a file that cannot be written as asked
├── DefinitionError     an agent, tool, failure-mode or settings file is wrong; knows the file and the line
└── InternalFault       traindx itself could not do its work: no answer, and not the user's doing
    └── WorkerUnavailable the process that reads the run cannot be started
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean …?` ready to append to a sentence, or nothing."""
    close = nearest(name, known)
    return f" Did you mean `{close}`?" if close else ""


class TraindxError(Exception):
    """Root of every error that reaches a person as one sentence."""


class UsageError(TraindxError):
    """The request cannot be carried out as typed."""


class UnknownName(UsageError):
    """A name that is not in the list."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        hint = did_you_mean(name, self.known) or f" Known: {', '.join(self.known)}."
        super().__init__(f"there is no {kind} `{name}`.{hint}")


class UnreadableInput(UsageError):
    """A path that is missing, forbidden or not what it should be."""

    def __init__(self, path: Path | str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"cannot read `{path}`: {why}")


class UnwritableOutput(UsageError):
    """A file that cannot be written as asked."""

    def __init__(self, path: Path | str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"cannot write `{path}`: {why}")


class InternalFault(TraindxError):
    """traindx itself could not do its work; what was asked for has no answer."""


class WorkerUnavailable(InternalFault):
    """The process that reads the run cannot be started."""


class DefinitionError(TraindxError):
    """A definition file is wrong; the message starts with `file:line`."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        self.path, self.line, self.problem = path, line, problem
        super().__init__(f"{path}:{line}: {problem}")
