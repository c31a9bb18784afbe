"""Labels against the names of the files they stand beside: `wren_062.wav` labelled `blackcap`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data import alignment
from traindx.readers.tables.filenames import Listed

SIGNALS = {"labels-misaligned": alignment.SIGNALS["labels-misaligned"]}
FEWEST_ROWS = 40
NAMED = 0.9
"""share of the files whose name holds exactly one of the labels: from here on names tell the class"""
SPARED = 0.25
"""of the way from chance to agreement: below it labels and names have nothing to do with each other"""
_WORD = re.compile(r"[^a-z0-9]+")


def detect(listed: Sequence[Listed]) -> list[Signal]:
    """Files whose names tell a class, and labels that agree with it no more than chance would."""
    for row in listed:
        signal = _against_names(row)
        if signal is not None:
            return [signal]
    return []


def _against_names(row: Listed) -> Signal | None:
    if len(row.names) < FEWEST_ROWS:
        return None
    classes = {_plain(label): label for label in set(row.labels)}
    if len(classes) < 2 or any(len(name) < 2 or name.isdecimal() for name in classes):
        return None
    told = [
        (_told(name, classes), _plain(label), line)
        for name, label, line in zip(row.names, row.labels, row.lines, strict=True)
    ]
    named = [(found, label, line) for found, label, line in told if found]
    if len(named) < NAMED * len(told):
        return None
    by_name, by_label = Counter(found for found, _, _ in named), Counter(label for _, label, _ in named)
    chance = sum(by_name[one] * by_label[one] for one in classes) / len(named) ** 2
    agree = sum(found == label for found, label, _ in named) / len(named)
    # Where one class is nearly all of it, chance agrees as well as knowledge.
    if chance > 0.8 or agree > chance + SPARED * (1 - chance):
        return None
    others = [(row.lines.index(line), line) for found, label, line in named if found != label][:2]
    first = row.names[others[0][0]]
    how = f"`{first}` is labelled `{row.labels[others[0][0]]}`"
    claim = (
        f"`{row.column}` names the class in {len(named):,} of {len(told):,} rows of {row.path}, and `{row.label}`"
        f" agrees with it in {agree:.0%}, no more than chance ({chance:.0%}): {how}"
    )
    places = [
        cite_line(row.path, line, f"`{row.names[place]}` is labelled `{row.labels[place]}`") for place, line in others
    ]
    facts: dict[str, Fact] = {"align_what": row.path, "align_how": how}
    return Signal(id="labels-misaligned", claim=claim, citations=places, facts=facts)


def _plain(text: str) -> str:
    return _WORD.sub(" ", text.lower()).strip()


def _told(name: str, classes: dict[str, str]) -> str:
    """The one class that a name holds as a word; empty where it holds none, or several."""
    words = f" {_plain(name)} "
    found = [one for one in classes if f" {one} " in words]
    longest = max(found, key=len, default="")
    # `great tit` holds `tit`: the longer one is meant.
    return longest if all(one in longest for one in found) else ""
