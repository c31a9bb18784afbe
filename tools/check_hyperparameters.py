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
    named,
    nearest_index,
    objective,
    optimizer,
    rates,
    stalled_from,
    warms_up,
    where,
)
from traindx.toolbelt import NoData, ToolInput, ToolOutput, tool

# A change below half again as much does not break a run that was stable; noise in logged rates stays far below.
RAISED = 1.5
# From fine-tuning recipes at the low end to the boldest that is usual for training from scratch.
USUAL = {
    "adam": (1e-5, 3e-3),
    "adamw": (1e-5, 3e-3),
    "nadam": (1e-5, 3e-3),
    "radam": (1e-5, 3e-3),
    "rmsprop": (1e-5, 3e-3),
    "lion": (1e-6, 1e-3),
    "sgd": (1e-4, 0.5),
}
# Momentum of 0.9 makes each gradient count ten times.
WITH_MOMENTUM = 0.4
DECAYS = (
    "weight_decay",
    "wd",
    "l2",
    "l2_lambda",
    "l2_reg",
    "l2_penalty",
    "decay_lambda",
    "l1",
    "l1_lambda",
    "lambda_l2",
)
DROPOUTS = (
    "dropout",
    "dropout_rate",
    "p_drop",
    "drop_rate",
    "hidden_dropout_prob",
    "drop",
    "p_dropout",
    "dropout_p",
    "p",
)
# Decoupled decay is multiplied by the learning rate; decay added to the gradient counts as it stands.
MUCH_DECAY = {"sgd": 0.01, "adam": 0.05, "rmsprop": 0.05, "adagrad": 0.05, "nadam": 0.05, "lion": 1.0}
MUCH_DECAY_DECOUPLED = 0.3
MUCH_DROPOUT = 0.6
TINY_BATCH = 4
WARMUPS = ("warmup", "warmup_steps", "warmup_epochs", "warmup_ratio", "num_warmup_steps", "warmup_iters", "warmup_frac")
ADAM_LIKE = {"adam", "adamw", "nadam", "adamax", "lion", "lamb"}
# Below this, attention layers start well without a warm-up.
BOLD = 1e-3
WIDTHS = (
    "hidden", "hidden_size", "hidden_dim", "n_hidden", "hidden_units", "units", "width", "d_model", "dim", "channels",
    "n_embd", "hidden_channels", "nhid", "hid", "ch", "base_channels", "num_hidden", "d_hidden", "filters",
)  # fmt: skip
NARROW = 8
FINE_TUNING = 1e-4
LOW_LOSS = 0.5
BOTTLENECKS = ("latent_dim", "latent", "z_dim", "bottleneck", "code_dim", "latent_size", "nz", "rank")
NARROWEST = 2


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
        "fine-tuning-rate": "a rate as for fine-tuning, and a loss that is low from the start",
        "lr-annealed": "the logged learning rate came down to its floor as the run ended",
        "lr-far-below-usual": "the configured learning rate is far below what the optimizer is usually given",
        "lr-far-above-usual": "the configured learning rate is far above what the optimizer is usually given",
        "no-warmup": "the learning rate starts at its peak",
        "transformer-without-warmup": "attention layers, a bold rate of Adam's kind, and no warm-up",
        "weights-in-half": "the weights themselves are fp16, with neither autocast nor a loss scaler",
        "regularised-heavily": "weight decay or dropout far above the usual",
        "batch-tiny": "the batch holds a handful of samples",
        "capacity-tiny": "the model has a handful of units per layer",
        "half-precision": "the run computes in fp16",
        "clipping-configured": "gradient clipping is configured",
        "recurrent-unclipped": "a recurrent network is trained without gradient clipping",
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
            *_fine_tuning(run, logged),
            *_capacity(run),
            *_small_things(run, logged),
            *_clipping(run, clip),
        ],
    )


def _logged_rate(run: Run) -> Series | None:
    return max((row for row in run.series if row.name == "lr" and len(row) > 1), key=len, default=None)


def _at_the_break(run: Run, rate: Series | None) -> list[Signal]:
    goal = objective(run)
    onset = None if goal is None else goal.shape.broke
    if goal is None or onset is None or rate is None:
        return []
    loss = goal.series
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
    goal = objective(run)
    if rate is None or goal is None or goal.series.axis != rate.axis:
        return []
    loss = goal.series
    end = max(float(loss.at[-1]), float(rate.at[-1]))
    first = stalled_from(rate, end)
    if first is None:
        return _annealed(run, rate)
    lost = (end - float(rate.at[first])) / (end - float(rate.at[0]))
    claim = f"the learning rate is {rate.values[first]:.3g} from {where(rate, first)} on: {lost:.0%} of the run"
    facts: dict[str, Fact] = {"zero_at": where(rate, first), "lost_share": lost, "loss_end": float(loss.values[-1])}
    place = cite(run, rate, first, claim)
    return [Signal(id="lr-zero-before-end", claim=claim, strength=min(1.0, lost / 0.3), citations=[place], facts=facts)]


def _annealed(run: Run, rate: Series) -> list[Signal]:
    """A schedule that ends where the run ends: it trained for as long as was planned."""
    finite = rate.values[np.isfinite(rate.values)]
    if len(finite) < 5 or float(finite[-1]) > 0.15 * float(finite.max()):
        return []
    claim = f"the learning rate came down from {finite.max():.3g} to {finite[-1]:.3g} as the run ended"
    return [Signal(id="lr-annealed", claim=claim, citations=[cite(run, rate, len(rate) - 1, claim)])]


def _unusual_rate(run: Run) -> list[Signal]:
    """The largest configured rate against the usual range of its optimizer; a decade outside is half a proof."""
    found = rates(run.settings)
    kind = optimizer(run)
    if not found or kind not in USUAL:
        return []
    # What ran is in the config, or printed; the defaults in the code come last and only count where there is no other.
    top = max(_in_force(found), key=lambda row: float(row.value))
    value, (low, high) = float(top.value), USUAL[kind]
    momentum = named(run.settings, "momentum")
    if kind == "sgd" and momentum is not None and float(momentum.value) >= 0.8:
        high *= WITH_MOMENTUM
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
    # A decade outside is as clear as it gets.
    strength = min(1.0, math.log10(outside))
    return [Signal(id=name, claim=claim, strength=strength, citations=[place], facts=facts)]


def _in_force(found: list[Setting]) -> list[Setting]:
    configured = [row for row in found if not row.source.endswith((".py", ".ipynb"))]
    return configured or found


def _regularisation(run: Run) -> list[Signal]:
    decay = named(run.settings, *DECAYS)
    much = MUCH_DECAY.get(optimizer(run) or "", MUCH_DECAY_DECOUPLED)
    if decay is not None and float(decay.value) > much:
        # From much to ten times as much: by then the penalty is the objective.
        strength = min(1.0, 0.3 + 0.7 * math.log10(float(decay.value) / much))
        return [_heavy(run, decay, "weight_decay", much, strength)]
    dropout = named(run.settings, *DROPOUTS)
    if dropout is not None and MUCH_DROPOUT < float(dropout.value) < 1 and "drop" in dropout.key.lower():
        strength = 0.4 + 0.6 * (float(dropout.value) - MUCH_DROPOUT) / (0.9 - MUCH_DROPOUT)
        return [_heavy(run, dropout, "dropout", MUCH_DROPOUT, min(1.0, strength))]
    return []


def _heavy(run: Run, setting: Setting, fact: str, much: float, strength: float) -> Signal:
    claim = f"`{setting.key}` = {setting.value:g}, where {much:g} is already much"
    facts: dict[str, Fact] = {fact: setting.value, "decay_place": f"{setting.source}:{setting.line}"}
    place = cite_setting(run, setting, claim)
    return Signal(id="regularised-heavily", claim=claim, strength=strength, citations=[place], facts=facts)


def _fine_tuning(run: Run, rate: Series | None) -> list[Signal]:
    """A low, flat loss at a rate for fine-tuning: the model knew the task when it started."""
    goal, peak = objective(run), _peak(run, rate)
    if goal is None or goal.rewarded or peak is None or peak > FINE_TUNING or not 0 < goal.shape.start < LOW_LOSS:
        return []
    claim = (
        f"a rate of {peak:g} at most, and a loss of {goal.shape.start:.4g} from the start: the task was known already"
    )
    return [Signal(id="fine-tuning-rate", claim=claim, citations=[cite(run, goal.series, 0, claim)])]


def _capacity(run: Run) -> list[Signal]:
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
    if half is not None or any("half-weights" in unit.traits for unit in run.code):
        found.extend(_weights_in_half(run, half))
    return [*found, *_warmup(run, rate)]


def _weights_in_half(run: Run, half: Setting | None) -> list[Signal]:
    """fp16 everywhere: small updates are rounded away. Autocast and a scaler keep the weights in single precision."""
    code = [unit for unit in run.code if "training-loop" in unit.traits]
    if not code or any("amp" in unit.traits or "distributed" in unit.traits for unit in run.code):
        return []
    if any(unit.traits & {"transformers", "lightning", "keras"} for unit in code):
        return []
    if any(word in row.key.lower() for row in run.settings for word in ("scale", "master")):
        return []
    claim = f"`{half.key}` = {half.value}" if half is not None else "`.half()` is called on the model"
    claim += ", and the code has neither autocast nor a loss scaler: the weights themselves are fp16"
    places = [cite_setting(run, half, claim)] if half is not None else []
    return [Signal(id="weights-in-half", claim=claim, citations=places)]


def _warmup(run: Run, rate: Series | None) -> list[Signal]:
    planned = named(run.settings, *WARMUPS)
    if planned is not None and float(planned.value) > 0:
        return []
    if rate is not None and warms_up(rate):
        return []
    found = []
    if rate is not None:
        found.append(Signal(id="no-warmup", claim="the learning rate starts at its peak: there is no warm-up"))
    peak = _peak(run, rate)
    if peak is None or optimizer(run) not in ADAM_LIKE or peak < BOLD or not _has_attention(run):
        return found
    if rate is None and (planned is None and not any("training-loop" in unit.traits for unit in run.code)):
        return found
    if any("warmup" in row.key.lower() or "onecycle" in row.key.lower() for row in run.settings if row is not planned):
        return found
    claim = f"a transformer starts at its full rate of {peak:g} under {optimizer(run)}: there is no warm-up"
    places = (
        [cite(run, rate, 0, f"the first logged rate: {rate.values[0]:.4g}")] if rate is not None and len(rate) else []
    )
    places += [cite_setting(run, planned, "warm-up is set to zero")] if planned is not None else []
    source = next((row for row in rates(run.settings) if math.isclose(float(row.value), peak, rel_tol=0.01)), None)
    places += [cite_setting(run, source, f"the rate: {peak:g}")] if source is not None else []
    strength = float(np.clip(0.6 + 0.4 * math.log10(peak / BOLD) / 0.6, 0.6, 1.0))
    facts: dict[str, Fact] = {"lr": peak}
    return [
        *found,
        Signal(id="transformer-without-warmup", claim=claim, strength=strength, citations=places, facts=facts),
    ]


def _peak(run: Run, rate: Series | None) -> float | None:
    if rate is not None:
        finite = rate.values[np.isfinite(rate.values)]
        return float(finite.max()) if len(finite) else None
    found = _in_force(rates(run.settings))
    return max((float(row.value) for row in found), default=None)


def _has_attention(run: Run) -> bool:
    if any("attention" in unit.traits for unit in run.code):
        return True
    if named(run.settings, "n_heads", "num_heads", "nhead", "n_head", "heads", "num_attention_heads") is not None:
        return True
    words = ("transformer", "gpt", "bert", "vit", "attention", "post_ln", "postnorm", "encoder_layer")
    return any(isinstance(row.value, str) and any(word in row.value.lower() for word in words) for row in run.settings)


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
    if not any("training-loop" in file.traits for file in run.code):
        return []
    absent = Signal(id="clipping-absent", claim="no gradient clipping in the config or in the training code")
    recurrent = any("recurrent" in file.traits for file in run.code)
    claim = "a recurrent network, and no gradient clipping in config or code"
    return [absent, Signal(id="recurrent-unclipped", claim=claim)] if recurrent else [absent]
