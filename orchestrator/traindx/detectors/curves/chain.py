"""One curve out of the files of several jobs: each begins about where the one before it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from traindx.readers.model import Series

# A resumed job may repeat the steps since the last checkpoint.
OVERLAP = 0.1
FEWEST = 3


def chained(chosen: Series, series: Sequence[Series]) -> Series:
    """The chosen series with the parts before and after it that other files hold; the seams are among its restarts."""
    same = [
        row
        for row in series
        if row is chosen
        or (
            row.name == chosen.name
            and row.axis == chosen.axis
            and row.place == chosen.place
            and row.source != chosen.source
            and not row.duplicate_of
            and len(row) >= FEWEST
        )
    ]
    same.sort(key=lambda row: (float(row.at[0]), row.source))
    links: list[Series] = []
    for row in same:
        if not links or _follows(links[-1], row):
            links.append(row)
        elif chosen in links:
            break
        else:
            links = [row]
    return _joined(chosen, links) if len(links) > 1 and chosen in links else chosen


def _follows(before: Series, after: Series) -> bool:
    span = float(before.at[-1] - before.at[0])
    # Rows of two files count from one each: only steps and epochs go on.
    return (
        before.axis != "row"
        and span > 0
        and abs(float(after.at[0] - before.at[-1])) <= OVERLAP * span
        and float(after.at[-1]) > float(before.at[-1])
    )


def _joined(chosen: Series, links: Sequence[Series]) -> Series:
    starts = np.cumsum([0, *(len(link) for link in links)])[:-1].tolist()
    restarts = set(starts[1:]) | {
        start + place for start, link in zip(starts, links, strict=True) for place in link.restarts
    }
    return replace(
        chosen,
        source=links[0].source,
        at=np.concatenate([link.at for link in links]),
        values=np.concatenate([link.values for link in links]),
        lines=np.concatenate([link.lines for link in links]),
        texts=tuple(text for link in links for text in link.texts) if all(link.texts for link in links) else (),
        steps=None,
        epochs=None,
        clock=None,
        restarts=tuple(sorted(restarts)),
        parts=tuple((start, link.source) for start, link in zip(starts, links, strict=True)),
    )
