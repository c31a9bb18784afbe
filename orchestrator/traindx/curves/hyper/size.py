"""Models and batches of a handful."""

from __future__ import annotations

from traindx.artifacts import Run
from traindx.contract import Fact, Signal
from traindx.curves.settings import cite_setting, named

WIDTHS = (
    "hidden", "hidden_size", "hidden_dim", "n_hidden", "hidden_units", "units", "width", "d_model", "dim", "channels",
    "breite", "largeur", "ancho", "larghezza",
    "n_embd", "hidden_channels", "nhid", "hid", "ch", "base_channels", "num_hidden", "d_hidden", "filters",
)  # fmt: skip
NARROW = 8
BOTTLENECKS = ("latent_dim", "latent", "z_dim", "bottleneck", "code_dim", "latent_size", "nz", "rank")
NARROWEST = 2
TINY_BATCH = 4


def capacity(run: Run) -> list[Signal]:
    """A layer of a handful of units."""
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


def batch(run: Run) -> list[Signal]:
    """A batch of a handful of samples."""
    found = []
    batch = named(run.settings, "batch_size", "per_device_train_batch_size", "train_batch_size", "bs", "batch")
    if batch is not None and 0 < float(batch.value) <= TINY_BATCH:
        claim = f"`{batch.key}` = {batch.value:g}"
        facts: dict[str, Fact] = {"batch_size": batch.value, "batch_place": f"{batch.source}:{batch.line}"}
        found.append(Signal(id="batch-tiny", claim=claim, citations=[cite_setting(run, batch, claim)], facts=facts))
    return found
