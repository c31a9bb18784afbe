"""The learning rate and its neighbours, against the moment the loss broke."""

import difflib
import math
import re

import numpy as np

from traindx.artifacts import Run, Series, Setting
from traindx.contract import Fact, Signal
from traindx.curves import (
    cite,
    cite_setting,
    clip_threshold,
    main_loss,
    named,
    nearest_index,
    optimizer,
    rates,
    shape_of,
    stalled_from,
    warms_up,
    where,
)
from traindx.toolbelt import NoData, ToolInput, ToolOutput, tool

# A change below half again as much does not break a run that was stable; noise in logged rates stays far below.
RAISED = 1.5
# From fine-tuning recipes at the low end to small networks from scratch at the high end.
USUAL = {
    "adam": (1e-6, 1e-2),
    "adamw": (1e-6, 1e-2),
    "nadam": (1e-6, 1e-2),
    "radam": (1e-6, 1e-2),
    "rmsprop": (1e-6, 1e-2),
    "lion": (1e-7, 3e-3),
    "sgd": (1e-4, 0.5),
}
# names of the setting, fact, and the value that is already much
HEAVY = (
    (("weight_decay", "wd", "l2", "l2_lambda", "l2_reg"), "weight_decay", 0.3),
    (("dropout", "dropout_rate", "p_drop", "drop_rate", "hidden_dropout_prob"), "dropout", 0.6),
)
TINY_BATCH = 4


class Question(ToolInput):
    """Nothing to choose: every setting and the logged rate are looked at."""


class HyperparameterReport(ToolOutput):
    """What was found: rates as configured and as logged, clipping, the change at the break."""

    configured_rates: dict[str, float]
    logged_rate: str | None
    clipping: str | None


@tool(
    needs=["series", "settings"],
    emits={
        "lr-raised-at-onset": "the learning rate was raised at the very point where the loss broke",
        "lr-unchanged-at-onset": "the learning rate was the same before and after the loss broke",
        "lr-zero-before-end": "the learning rate is zero for a good part of the run",
        "lr-far-below-usual": "the configured learning rate is far below what the optimizer is usually given",
        "lr-far-above-usual": "the configured learning rate is far above what the optimizer is usually given",
        "no-warmup": "the learning rate starts at its peak",
        "regularised-heavily": "weight decay or dropout far above the usual",
        "batch-tiny": "the batch holds a handful of samples",
        "half-precision": "the run computes in fp16",
        "clipping-configured": "gradient clipping is configured",
        "clipping-absent": "no gradient clipping is configured anywhere in config or code",
    },
)
def check_hyperparameters(question: Question, run: Run) -> HyperparameterReport:  # noqa: ARG001 - every tool takes its input
    """Find learning rate, schedule and clipping in config, code and logs, and say which of them changed where the loss
    broke; names the line that sets the value and proposes another.
    """
    configured = {row.key: float(row.value) for row in rates(run.settings)}
    logged = _logged_rate(run)
    clip = clip_threshold(run.settings)
    if not configured and logged is None and clip is None:
        raise NoData("no learning rate and no clipping in any config, code or log of this run")
    return HyperparameterReport(
        configured_rates=configured,
        logged_rate=None if logged is None else f"{logged.source}: {logged.values[0]:.4g} .. {logged.values[-1]:.4g}",
        clipping=None if clip is None else f"{clip.source}:{clip.line} {clip.key} = {clip.value}",
        signals=[
            *_at_the_break(run, logged),
            *_stalled(run, logged),
            *_unusual_rate(run),
            *_regularisation(run),
            *_small_things(run, logged),
            *_clipping(run, clip),
        ],
    )


def _logged_rate(run: Run) -> Series | None:
    return max((row for row in run.series if row.name == "lr" and len(row) > 1), key=len, default=None)


def _at_the_break(run: Run, rate: Series | None) -> list[Signal]:
    loss = main_loss(run.series)
    onset = None if loss is None else shape_of(loss.values).broke
    if loss is None or onset is None or rate is None:
        return []
    rate = next(
        (row for row in run.series if row.name == "lr" and row.source == loss.source and row.axis == loss.axis),
        rate,
    )
    if rate.axis != loss.axis:
        return []
    at = nearest_index(rate, float(loss.at[onset]))
    # The change may be logged a little before the loss shows it: one point, or a twentieth of a densely logged run.
    first = max(0, at - max(1, len(rate) // 20))
    before, after = float(rate.values[first]), float(np.nanmax(rate.values[first : at + 1]))
    if not (math.isfinite(before) and math.isfinite(after)) or before <= 0 or at == 0:
        return []
    if after < RAISED * before:
        now = float(rate.values[at])
        claim = f"the learning rate was {before:.4g} before and {now:.4g} at the break ({where(rate, at)})"
        return [Signal(id="lr-unchanged-at-onset", claim=claim, citations=[cite(run, rate, at, claim)])]
    step = first + int(np.argmax(rate.values[first : at + 1] >= RAISED * before))
    return [_raised(run, loss, onset, rate, step)]


def _raised(run: Run, loss: Series, onset: int, rate: Series, step: int) -> Signal:
    before, after = float(rate.values[step - 1]), float(rate.values[step])
    claim = (
        f"the learning rate goes from {before:.4g} to {after:.4g} at {where(rate, step)},"
        f" and the loss breaks at {where(loss, onset)}"
    )
    places = [
        cite(run, rate, step - 1, f"the last stable learning rate: {before:.4g}"),
        cite(run, rate, step, f"the learning rate is raised to {after:.4g}"),
    ]
    facts: dict[str, Fact] = {
        "lr_before": before,
        "lr_after": after,
        "lr_ratio": after / before,
        "onset": where(loss, onset),
        "last_good": where(rate, step - 1),
    }
    setting = next((row for row in rates(run.settings) if math.isclose(float(row.value), after, rel_tol=0.02)), None)
    if setting is not None:
        places.append(cite_setting(run, setting, f"`{setting.key}` sets the rate that breaks the run"))
        facts |= {"lr_key": setting.key, "lr_place": f"{setting.source}:{setting.line}"}
        diff = _diff(run, setting, before)
        if diff:
            facts["diff"] = diff
    return Signal(id="lr-raised-at-onset", claim=claim, citations=places, facts=facts)


def _diff(run: Run, setting: Setting, proposed: float) -> str | None:
    """The change as a patch, when the value stands on its line exactly once."""
    with run.scope.open(setting.source) as file:
        old = file.read(1_000_000).decode("utf-8", "replace").splitlines(keepends=True)
    if len(old) < setting.line:
        return None
    line = old[setting.line - 1]
    spelled = re.finditer(r"(?<![\w.])[-+]?\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?(?![\w.])", line)
    same = [match for match in spelled if math.isclose(float(match.group().replace("_", "")), float(setting.value))]
    if len(same) != 1:
        return None
    new = old.copy()
    new[setting.line - 1] = line[: same[0].start()] + f"{proposed:g}" + line[same[0].end() :]
    return "".join(difflib.unified_diff(old, new, f"a/{setting.source}", f"b/{setting.source}", n=2))


def _stalled(run: Run, rate: Series | None) -> list[Signal]:
    loss = main_loss(run.series)
    if rate is None or loss is None or loss.axis != rate.axis:
        return []
    end = max(float(loss.at[-1]), float(rate.at[-1]))
    first = stalled_from(rate, end)
    if first is None:
        return []
    lost = (end - float(rate.at[first])) / (end - float(rate.at[0]))
    claim = f"the learning rate is {rate.values[first]:.3g} from {where(rate, first)} on: {lost:.0%} of the run"
    facts: dict[str, Fact] = {"zero_at": where(rate, first), "lost_share": lost, "loss_end": float(loss.values[-1])}
    place = cite(run, rate, first, claim)
    return [Signal(id="lr-zero-before-end", claim=claim, strength=min(1.0, lost / 0.3), citations=[place], facts=facts)]


def _unusual_rate(run: Run) -> list[Signal]:
    """The largest configured rate against the usual range of its optimizer; a decade outside is half a proof."""
    found = rates(run.settings)
    kind = optimizer(run.settings)
    if not found or kind not in USUAL:
        return []
    top = max(found, key=lambda row: float(row.value))
    value, (low, high) = float(top.value), USUAL[kind]
    facts: dict[str, Fact] = {
        "lr": value,
        "lr_key": top.key,
        "lr_place": f"{top.source}:{top.line}",
        "optimizer": kind,
        "lr_proposed": math.sqrt(low * high),
    }
    if low <= value <= high:
        return []
    name, outside = ("lr-far-below-usual", low / value) if value < low else ("lr-far-above-usual", value / high)
    claim = f"`{top.key}` = {value:g}, where {kind} is usually given {low:g} to {high:g}"
    place = cite_setting(run, top, claim)
    strength = min(1.0, math.log10(outside) / 2)
    return [Signal(id=name, claim=claim, strength=strength, citations=[place], facts=facts)]


def _regularisation(run: Run) -> list[Signal]:
    for names, key, usual in HEAVY:
        setting = named(run.settings, *names)
        if setting is not None and usual < float(setting.value):
            value = float(setting.value)
            claim = f"`{setting.key}` = {value:g}, where {usual:g} is already much"
            facts: dict[str, Fact] = {key: value, "decay_place": f"{setting.source}:{setting.line}"}
            strength = min(1.0, value / usual / 3)
            place = cite_setting(run, setting, claim)
            return [Signal(id="regularised-heavily", claim=claim, strength=strength, citations=[place], facts=facts)]
    return []


def _small_things(run: Run, rate: Series | None) -> list[Signal]:
    found = []
    batch = named(run.settings, "batch_size", "per_device_train_batch_size", "train_batch_size", "bs", "batch")
    if batch is not None and 0 < float(batch.value) <= TINY_BATCH:
        claim = f"`{batch.key}` = {batch.value:g}"
        facts: dict[str, Fact] = {"batch_size": batch.value, "batch_place": f"{batch.source}:{batch.line}"}
        found.append(Signal(id="batch-tiny", claim=claim, citations=[cite_setting(run, batch, claim)], facts=facts))
    half = next((row for row in run.settings if _is_half(row)), None)
    if half is not None:
        claim = f"`{half.key}` = {half.value}: the run computes in half precision"
        found.append(Signal(id="half-precision", claim=claim, citations=[cite_setting(run, half, claim)]))
    planned = named(run.settings, "warmup", "warmup_steps", "warmup_epochs", "warmup_ratio", "num_warmup_steps")
    if rate is not None and not warms_up(rate) and (planned is None or float(planned.value) == 0):
        found.append(Signal(id="no-warmup", claim="the learning rate starts at its peak: there is no warm-up"))
    return found


def _is_half(setting: Setting) -> bool:
    key, value = setting.key.lower(), str(setting.value).lower()
    if key.endswith("fp16") or key.endswith("half"):
        return value in {"true", "1"}
    return any(word in key for word in ("precision", "dtype", "amp")) and value in {
        "fp16",
        "16",
        "16-mixed",
        "float16",
        "half",
    }


def _clipping(run: Run, clip: Setting | None) -> list[Signal]:
    if clip is not None:
        claim = f"`{clip.key}` = {clip.value} in {clip.source}:{clip.line}"
        place = cite_setting(run, clip, claim)
        return [Signal(id="clipping-configured", claim=claim, citations=[place], facts={"clip": clip.value})]
    if any("training-loop" in file.traits for file in run.code):
        return [Signal(id="clipping-absent", claim="no gradient clipping in the config or in the training code")]
    return []
