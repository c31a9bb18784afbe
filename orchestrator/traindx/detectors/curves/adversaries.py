"""A discriminator and a generator: in balance, or one of them has won."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Signal
from traindx.detectors.citing import cite, cite_setting
from traindx.detectors.curves.metric_names import ends
from traindx.detectors.curves.objective import adversaries
from traindx.detectors.settings.lookup import is_number
from traindx.readers.model import Series, Setting

SIGNALS = {
    "adversaries-balanced": "discriminator and generator stay in balance to the end",
    "discriminator-wins": "the discriminator's loss goes to zero while the generator's rises",
}

FOR_ONE_SIDE = re.compile(
    r"(?:lr|steps?|iters?|rate)_?(?:d|disc)(?:$|_)|(?:^|[._])(?:d|disc|critic)_?(?:lr|steps?|iters?)", re.I
)


def detect(series: Sequence[Series], settings: Sequence[Setting]) -> list[Signal]:
    """How the two losses of a GAN end."""
    pair = adversaries(series)
    if pair is None:
        return []
    discriminator, generator = pair
    (d_start, d_end), (g_start, g_end) = ends(discriminator), ends(generator)
    # ln 4 (or ln 2 per half) is the balance of the original game; a tenth of it is a discriminator that knows.
    risen = g_end >= 1.5 * max(g_start, 0.7)
    d_first, g_first = float(discriminator.values[0]), float(generator.values[0])
    lost = g_end >= 4 * max(g_first, 0.7) and 0 <= d_end < 0.35 * max(d_first, 0.7)
    # With a generator's loss that saturates there is nothing to rise: a discriminator that is never wrong is enough.
    if not lost and not 0 <= d_end < (0.1 if risen else 0.02) * max(d_start, 0.5):
        return _balance(discriminator, generator)
    claim = (
        f"`{discriminator.original}` fell to {d_end:.3g} while `{generator.original}` rose from {g_start:.3g}"
        f" to {g_end:.3g}"
    )
    places = [
        cite(discriminator, len(discriminator) - 1, "the discriminator's loss at the end"),
        cite(generator, len(generator) - 1, "the generator's loss at the end"),
    ]
    faster = [row for row in settings if is_number(row) and FOR_ONE_SIDE.search(row.key)]
    places += [cite_setting(row, f"`{row.key}` sets the balance between the two") for row in faster[:3]]
    return [Signal(id="discriminator-wins", claim=claim, citations=places, facts={"d_end": d_end, "g_end": g_end})]


def _balance(discriminator: Series, generator: Series) -> list[Signal]:
    """Neither loss runs away or dies over the second half of the run."""
    halves = [row.values[len(row) // 2 :] for row in (discriminator, generator)]
    if any(float(np.ptp(half)) > 4 * max(abs(float(np.median(half))), 0.5) for half in halves):
        return []
    levels = f"({np.median(halves[0]):.3g} and {np.median(halves[1]):.3g})"
    claim = f"`{discriminator.original}` and `{generator.original}` {levels} stay in balance over the second half"
    place = cite(generator, len(generator) - 1, claim)
    return [Signal(id="adversaries-balanced", claim=claim, citations=[place])]
