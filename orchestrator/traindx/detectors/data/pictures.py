"""Pictures without content: nearly all of them are the same file."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.readers.tables.pictures import Pictures

SIGNALS = {"pictures-identical": "nearly all pictures of the data are one and the same file"}
FEWEST = 16
MOST = 0.9
"""share of the pictures looked at: copies and empty tiles are common, a data set of nothing else is not"""


def detect(found: Pictures | None, written: Sequence[Citation]) -> list[Signal]:
    """Pictures of the same bytes; `written` are lines of the programs that may have emptied them."""
    if found is None or found.looked < FEWEST or found.same < MOST * found.looked:
        return []
    what = f"{found.same:,} of {found.looked:,} pictures looked at"
    classes = f", in {found.folders} folders" if found.folders > 1 else ""
    claim = f"{what} are byte for byte the same file as {found.first}{classes}"
    facts: dict[str, Fact] = {"same_pictures": found.same, "of_pictures": found.looked, "same_as": found.first}
    if written:
        facts["cast_place"] = f"{written[0].source}:{written[0].locator.removeprefix('line ')}"
    places = [*written, Citation(claim=claim, source=found.first, locator="contents", quote=found.fingerprint)]
    return [Signal(id="pictures-identical", claim=claim, citations=places, facts=facts)]
