"""Models of a handful of units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line, cite_setting
from traindx.detectors.settings.lookup import named
from traindx.readers.model import Excerpt, Setting
from traindx.readers.quoting import quote_of

SIGNALS = {"capacity-tiny": "the model has only a few units per layer"}

WIDTHS = (
    "hidden", "hidden_size", "hidden_dim", "n_hidden", "hidden_units", "units", "width", "d_model", "dim", "channels",
    "breite", "largeur", "ancho", "larghezza",
    "n_embd", "hidden_channels", "nhid", "hid", "ch", "base_channels", "num_hidden", "d_hidden", "filters",
)  # fmt: skip
NARROW = 8
BOTTLENECKS = ("latent_dim", "latent", "z_dim", "bottleneck", "code_dim", "latent_size", "nz", "rank")
NARROWEST = 2
FEW_PARAMETERS = 64
MOST_LINES = 200
"""lines of a log in which a model's parameters are counted"""
_COUNTED = re.compile(
    r"\bparam(?:eter)?s?\s{0,3}[:=]\s{0,3}(\d[\d,]{0,15})(?![\d.]|\s?[KMBkmb]\b)",
    re.IGNORECASE,
)


def detect(settings: Sequence[Setting], log_heads: Iterable[Excerpt]) -> list[Signal]:
    """A layer of a handful of units; or a model of a few dozen parameters, where the head of a log counts them."""
    counted = _parameters(log_heads)
    if counted:
        return counted
    width = named(settings, *WIDTHS)
    if width is None or not 1 <= float(width.value) <= NARROW:
        width = named(settings, *BOTTLENECKS)
        if width is None or not 1 <= float(width.value) <= NARROWEST:
            return []
    claim = f"`{width.key}` = {width.value:g} units"
    facts: dict[str, Fact] = {
        "capacity": width.value,
        "capacity_key": width.key,
        "capacity_place": f"{width.source}:{width.line}",
        "capacity_proposed": 8 * float(width.value),
    }
    return [Signal(id="capacity-tiny", claim=claim, citations=[cite_setting(width, claim)], facts=facts)]


def _parameters(log_heads: Iterable[Excerpt]) -> list[Signal]:
    """A model of a few dozen parameters in all, where a log or a summary counts them."""
    for head in log_heads:
        for number, text in head.numbered():
            found = _COUNTED.search(text)
            count = float(found[1].replace(",", "")) if found else 0.0
            if found is not None and 0 < count <= FEW_PARAMETERS:
                claim = f"the model has {count:g} parameters in total"
                facts: dict[str, Fact] = {
                    "capacity": int(count),
                    "capacity_key": "parameters",
                    "capacity_place": f"{head.source}:{number}",
                    "capacity_proposed": 8 * count,
                }
                place = cite_line(head.source, number, claim, quote_of(text))
                return [Signal(id="capacity-tiny", claim=claim, citations=[place], facts=facts)]
    return []
