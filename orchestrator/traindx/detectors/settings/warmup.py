"""Whether the run starts at its full rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_setting, where
from traindx.detectors.settings.logged_rate import warms_up
from traindx.detectors.settings.lookup import is_number, named, peak_rate, rates
from traindx.detectors.settings.scheduler_settings import Plan
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Series, Setting

SIGNALS = {
    "warmup-zero": "warm-up is explicitly set to zero, at a high learning rate",
    "no-warmup": "the learning rate starts at its peak",
    "ended-in-warmup": "the last logged learning rate is still warming up, far below its peak",
    "transformer-without-warmup": "attention layers, a high rate with an Adam-like optimizer, and no warm-up",
}

WARMUPS = (
    "warmup",
    "warmup_updates",
    "lr_warmup",
    "warmup_steps",
    "warmup_epochs",
    "warmup_ratio",
    "num_warmup_steps",
    "warmup_iters",
    "warmup_frac",
)
ADAM_LIKE = {"adam", "adamw", "nadam", "adamax", "lion", "lamb"}
# Below this, attention layers start well without a warm-up.
BOLD = 1e-3
FEWEST = 5
"""logged rates that show a climb"""
REACHED = 0.5
"""of the planned peak: a run that ends below that has never trained at its rate"""
NEARLY = 0.9  # the first logged rate of a decaying schedule lies a little below its peak
LONGEST_WARMUP = 20_000
"""counts within which a warm-up is looked for"""
FULL = {**dict.fromkeys(ADAM_LIKE, BOLD), "sgd": 0.1}
"""rates from which on the first steps of any deep network are bold"""


def detect(
    settings: Sequence[Setting],
    rate: Series | None,
    optimizer: str | None,
    code: Sequence[CodeUnit],
    plan: Plan | None = None,
) -> list[Signal]:
    """Whether the rate starts at its peak, and whether that is bold for what is trained; `plan` is what the program
    computes itself.
    """
    planned = named(settings, *WARMUPS) or next(
        (row for row in settings if is_number(row) and row.key.rsplit(".", 1)[-1].lower().startswith("warmup")),
        None,
    )
    if planned is not None and float(planned.value) > 0:
        return _never_over(settings, rate, planned)
    if rate is not None and warms_up(rate):
        return []
    if rate is None and plan is not None and _climbs(plan):
        return []
    found = []
    if rate is not None:
        found.append(Signal(id="no-warmup", claim="the learning rate starts at its peak: there is no warm-up"))
    peak = peak_rate(settings, rate)
    if planned is not None and peak is not None and peak >= NEARLY * FULL.get(optimizer or "", FULL["sgd"]):
        claim = f"`{planned.key}` = 0: the run starts at its full rate of {peak:g}"
        found.append(Signal(id="warmup-zero", claim=claim, citations=[cite_setting(planned, claim)]))
    if peak is None or optimizer not in ADAM_LIKE or peak < BOLD or not _has_attention(settings, code):
        return found
    if rate is None and (planned is None and not any("training-loop" in unit.traits for unit in code)):
        return found
    if any(_warms(row) for row in settings if row is not planned):
        return found
    claim = f"a transformer starts at its full rate of {peak:g} under {optimizer}: there is no warm-up"
    places = [cite(rate, 0, f"the first logged rate: {rate.values[0]:.4g}")] if rate is not None and len(rate) else []
    places += [cite_setting(planned, "warm-up is set to zero")] if planned is not None else []
    source = next((row for row in rates(settings) if math.isclose(float(row.value), peak, rel_tol=0.01)), None)
    places += [cite_setting(source, f"the rate: {peak:g}")] if source is not None else []
    strength = float(np.clip(0.6 + 0.4 * math.log10(peak / BOLD) / 0.6, 0.6, 1.0))
    facts: dict[str, Fact] = {"lr": peak}
    return [
        *found,
        Signal(id="transformer-without-warmup", claim=claim, strength=strength, citations=places, facts=facts),
    ]


def _never_over(settings: Sequence[Setting], rate: Series | None, planned: Setting) -> list[Signal]:
    """A warm-up that is longer than the run: the logged rate climbs to the last point and stays far below its peak."""
    peak = next((row for row in rates(settings) if not row.coded), None) or next(iter(rates(settings)), None)
    if rate is None or peak is None or len(rate) < FEWEST or not np.isfinite(rate.values).all():
        return []
    last = float(rate.values[-1])
    climbs = bool(np.all(np.diff(rate.values) >= 0)) and last > float(rate.values[0])
    if not climbs or not 0 < last < REACHED * float(peak.value):
        return []
    claim = f"the log ends in the warm-up: the learning rate has come to {last:.3g} of {float(peak.value):g}"
    facts: dict[str, Fact] = {
        "lr": last,
        "lr_peak": float(peak.value),
        "warmup_key": planned.key,
        "warmup_value": planned.value if isinstance(planned.value, int | float) else float(planned.value),
        "warmup_place": f"{planned.source}:{planned.line}",
        "run_end": where(rate, len(rate) - 1),
    }
    places = [
        cite(rate, len(rate) - 1, f"the last learning rate: {last:.3g}"),
        cite_setting(planned, f"`{planned.key}` = {planned.value} is longer than the run"),
        cite_setting(peak, f"the peak that was never reached: {float(peak.value):g}"),
    ]
    return [Signal(id="ended-in-warmup", claim=claim, citations=places, facts=facts)]


def _climbs(plan: Plan) -> bool:
    """Whether the planned rate begins at less than half of what it comes to."""
    rates = plan.at(np.unique(np.geomspace(1, LONGEST_WARMUP, 200).astype(int)) - 1.0)
    return bool(np.isfinite(rates).all()) and rates[0] < 0.5 * float(rates.max())


def _warms(row: Setting) -> bool:
    """Whether a setting speaks of a warm-up, under whatever name, and does not set it to nothing."""
    named_so = any(word in f"{row.key} {row.value}".lower() for word in ("warmup", "onecycle", "linearlr"))
    return named_so and row.value not in (0, 0.0, False, None, "")


def _has_attention(settings: Sequence[Setting], code: Sequence[CodeUnit]) -> bool:
    if any("attention" in unit.traits for unit in code):
        return True
    if named(settings, "n_heads", "num_heads", "nhead", "n_head", "heads", "num_attention_heads") is not None:
        return True
    words = ("transformer", "gpt", "bert", "vit", "attention", "post_ln", "postnorm", "encoder_layer")
    return any(isinstance(row.value, str) and any(word in row.value.lower() for word in words) for row in settings)
