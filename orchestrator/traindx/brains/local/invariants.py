"""What the project's own profile says about a number that an error names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from traindx.contract import Fact
from traindx.contract.context import ProjectProfile

WANTED = "layer_expects"
"""the fact that holds the size a layer was built for"""


def invariant(project: ProjectProfile | None, facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The entry of the profile that fixes the size which a layer expects: then the data is wrong, not the layer."""
    found = re.match(r"(\d+)", str(facts.get(WANTED, "")))
    if project is None or found is None:
        return {}
    expected = int(found[1])
    name = next((key for key, value in _numbers(project.facts) if value == expected), None)
    return {"invariant": f"{name}: {expected}"} if name is not None else {}


def _numbers(facts: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for key, value in facts.items():
        if isinstance(value, Mapping):
            yield from _numbers(value)
        elif type(value) is int and value > 1:
            yield key, value
