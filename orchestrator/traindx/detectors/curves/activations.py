"""Shares of saturated and dead units, where they were logged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.objective import words_of
from traindx.readers.model import Series

SIGNALS = {
    "activations-saturated": "half or more of the activations are pinned at their limits",
    "units-dead": "half or more of the units never fire",
    "activations-alive": "the logged shares of saturated or dead units stay low",
}

_SATURATED = {"sat", "saturated", "saturation", "satfrac", "pinned"}
_ACTIVE = {"active", "alive", "firing", "activefrac", "activeunits"}
_DEAD = {"dead", "inactive", "deadrelu", "deadfrac", "deadunits"}
_NEAR_LIMIT = re.compile(r"(?:>|gt|above|over|beyond)[_ ]{0,2}(?:0?[._]9\d*|1(?:\.0)?-)(?:\D|$)|saturat|pinned")
_SILENT = re.compile(
    r"\b(?:dead|inactive|silent)\b|never[-_ ](?:fir|activ|positiv)|zero%?[_( ]{0,2}relu|zero[_ ]act"
    r"|act\w{0,8}[_ ]zero|relu[_ ]zero"
)
_LAYER = re.compile(r"(?:h|l|a|act|layer|hidden|fc)_?\d{1,3}")
# Half of a layer pinned or dead is where published detectors draw the line.
MOST = 0.5
Share = tuple[Series, float]
"""a series, and the share that it ends at"""


def named_like_layers(series: Sequence[Series]) -> list[Series]:
    """Series that are called `h1` or `layer_2`: what they measure stands before the name, in the line itself."""
    return [row for row in series if row.place == "line" and _LAYER.fullmatch(row.original)]


def saturated_shares(series: Sequence[Series], lines: Mapping[Series, str]) -> list[Share]:
    """Logged shares of units at their limits; `lines` holds the last line of those `named_like_layers`."""
    return [*_shares(series, _SATURATED), *_under_heading(series, lines, _NEAR_LIMIT)]


def dead_shares(series: Sequence[Series], lines: Mapping[Series, str]) -> list[Share]:
    """Logged shares of units that never fire; `lines` as for `saturated_shares`."""
    dead = [*_shares(series, _DEAD), *_under_heading(series, lines, _SILENT)]
    # The active units of a latent space are those that carry information: that is said of a VAE, not of a ReLU.
    latent = any(words_of(row) & {"kl", "kld"} for row in series)
    return dead + [(row, 1 - s) for row, s in _shares(series, _ACTIVE) if not words_of(row) & _DEAD and not latent]


def detect(saturated: Sequence[Share], dead: Sequence[Share]) -> list[Signal]:
    """Whether most units of some layer are pinned or dead, or none are."""
    return [
        *_pinned(saturated, "activations-saturated", "saturated"),
        *_pinned(dead, "units-dead", "dead"),
        *_alive([*saturated, *dead]),
    ]


def _shares(series: Sequence[Series], words: set[str]) -> list[Share]:
    found = []
    for row in series:
        own = words_of(row) | {"".join(sorted(words_of(row)))}
        if own & words and (share := _late_share(row)) is not None:
            found.append((row, share))
    return found


def _under_heading(series: Sequence[Series], lines: Mapping[Series, str], heading: re.Pattern[str]) -> list[Share]:
    """Shares whose own name says what they are, or the text before the names of layers in their line."""
    found = []
    for row in series:
        said = heading.search(row.original.lower())
        if said is None and row in lines:
            said = heading.search(re.split(rf"\b{re.escape(row.original)}\b", lines[row].lower(), maxsplit=1)[0])
        if said is not None and (share := _late_share(row)) is not None:
            found.append((row, share))
    return found


def _late_share(row: Series) -> float | None:
    """The share that a series ends at; None for one that counts, or measures something else."""
    finite = row.values[np.isfinite(row.values)]
    if not len(finite) or float(finite.min()) < 0:
        return None
    share, most = float(np.median(finite[-max(1, len(finite) // 4) :])), float(finite.max())
    percent = row.unit == "%" or bool(words_of(row) & {"pct", "percent", "perc"})
    if most <= 1.0:
        return share / 100 if row.unit == "%" else share
    whole_numbers = bool((finite == np.round(finite)).all())
    return share / 100 if most <= 100.0 and (percent or not whole_numbers) else None


def _pinned(shares: Sequence[Share], name: str, what: str) -> list[Signal]:
    worst = max(shares, key=lambda pair: pair[1], default=None)
    if worst is None or worst[1] < MOST:
        return []
    row, share = worst
    claim = f"`{row.original}` ends at {share:.0%}: most units of that layer are {what}"
    facts: dict[str, Fact] = {f"{what}_series": row.original, f"{what}_share": f"{share:.0%}"}
    place = cite(row, len(row) - 1, claim)
    return [Signal(id=name, claim=claim, strength=min(1.0, 0.5 + share / 2), citations=[place], facts=facts)]


def _alive(shares: Sequence[Share]) -> list[Signal]:
    worst = max(shares, key=lambda pair: pair[1], default=None)
    if worst is None or worst[1] > 0.2:
        return []
    claim = f"`{worst[0].original}` stays at {worst[1]:.0%}"
    return [Signal(id="activations-alive", claim=claim, citations=[cite(worst[0], len(worst[0]) - 1, claim)])]
