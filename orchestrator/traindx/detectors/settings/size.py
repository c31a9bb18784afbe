"""Models and batches of a handful."""

from __future__ import annotations

import re

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.settings.lookup import cite_setting, named
from traindx.readers import Run

WIDTHS = (
    "hidden", "hidden_size", "hidden_dim", "n_hidden", "hidden_units", "units", "width", "d_model", "dim", "channels",
    "breite", "largeur", "ancho", "larghezza",
    "n_embd", "hidden_channels", "nhid", "hid", "ch", "base_channels", "num_hidden", "d_hidden", "filters",
)  # fmt: skip
NARROW = 8
BOTTLENECKS = ("latent_dim", "latent", "z_dim", "bottleneck", "code_dim", "latent_size", "nz", "rank")
NARROWEST = 2
TINY_BATCH = 4
FEW_PARAMETERS = 64
MOST_LINES = 200
_COUNTED = re.compile(
    r"\bparam(?:eter)?s?\s{0,3}[:=]\s{0,3}(\d[\d,]{0,15})(?![\d.]|\s?[KMBkmb]\b)",
    re.IGNORECASE,
)


def capacity(run: Run) -> list[Signal]:
    """A layer of a handful of units."""
    counted = _parameters(run)
    if counted:
        return counted
    width = named(run.settings, *WIDTHS)
    if width is None or not 1 <= float(width.value) <= NARROW:
        width = named(run.settings, *BOTTLENECKS)
        if width is None or not 1 <= float(width.value) <= NARROWEST:
            return []
    claim = f"`{width.key}` = {width.value:g} units"
    facts: dict[str, Fact] = {
        "capacity": width.value,
        "capacity_key": width.key,
        "capacity_place": f"{width.source}:{width.line}",
        "capacity_proposed": 8 * float(width.value),
    }
    return [Signal(id="capacity-tiny", claim=claim, citations=[cite_setting(run, width, claim)], facts=facts)]


def _parameters(run: Run) -> list[Signal]:
    """A model of a few dozen parameters in all, where a log or a summary counts them."""
    for file in run.files:
        if file.role != "log":
            continue
        for number, text in enumerate(run.lines(file.path, 1, MOST_LINES), 1):
            found = _COUNTED.search(text)
            count = float(found[1].replace(",", "")) if found else 0.0
            if found is not None and 0 < count <= FEW_PARAMETERS:
                claim = f"the model has {count:g} parameters in all"
                facts: dict[str, Fact] = {
                    "capacity": int(count),
                    "capacity_key": "parameters",
                    "capacity_place": f"{file.path}:{number}",
                    "capacity_proposed": 8 * count,
                }
                place = Citation(claim=claim, source=file.path, locator=f"line {number}", quote=text.strip()[:240])
                return [Signal(id="capacity-tiny", claim=claim, citations=[place], facts=facts)]
    return []


def batch(run: Run) -> list[Signal]:
    """A batch of a handful of samples."""
    found = []
    batch = named(run.settings, "batch_size", "per_device_train_batch_size", "train_batch_size", "bs", "batch")
    if batch is not None and 0 < float(batch.value) <= TINY_BATCH:
        claim = f"`{batch.key}` = {batch.value:g}"
        facts: dict[str, Fact] = {"batch_size": batch.value, "batch_place": f"{batch.source}:{batch.line}"}
        found.append(Signal(id="batch-tiny", claim=claim, citations=[cite_setting(run, batch, claim)], facts=facts))
    return found
