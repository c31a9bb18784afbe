"""Much code is reviewed in shares, each in a worker of its own: on two cores that takes half the time."""

from __future__ import annotations

import os
from itertools import islice

from pydantic import Field

from traindx.runtime import Task, ToolInput
from traindx.runtime.scope import Scope

FAULTS = Task("faults")
MUCH = 1 << 20
"""bytes of code from which the second worker is worth its start; the shares do not depend on the machine"""
SHARES = 2
_MOST_ENTRIES = 50_000
_CODE = (".py", ".ipynb")


class Share(ToolInput):
    """Which of the programs to look at: share `number` of `of`."""

    number: int = Field(default=0, ge=0)
    of: int = Field(default=1, ge=1)


def shares_of(scope: Scope) -> list[Share]:
    """The shares in which the code of a scope is reviewed."""
    count = SHARES if _holds_much(scope) else 1
    return [Share(number=number, of=count) for number in range(count)]


def _holds_much(scope: Scope) -> bool:
    total = 0
    tops = [scope.root / part for part in scope.only] or [scope.root]
    for folder, _, names in islice((row for top in tops for row in os.walk(top)), _MOST_ENTRIES):
        for name in names:
            if name.endswith(_CODE):
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 as `os.walk` gives them
                if total > MUCH:
                    return True
    return False
