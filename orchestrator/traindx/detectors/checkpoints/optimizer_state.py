"""What the saved optimizer holds: fewer parameters than the model, and the state of its loss scaler."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_key, cite_tensor
from traindx.readers.checkpoints import Checkpoint, TensorInfo
from traindx.readers.checkpoints.model import is_buffer

SIGNALS = {
    "optimizer-lacks-parameters": "the saved optimizer holds fewer parameters than the model saved beside it",
    "loss-scale-at-floor": "the scale of mixed-precision training has halved to its floor",
}
FLOOR = 1.0


def held(checkpoint: Checkpoint) -> dict[str, int]:
    """How many parameters each saved optimizer holds, by the way to its state."""
    counts: dict[str, int] = {}
    for key, value in checkpoint.scalars.items():
        group, found, rest = key.partition("param_groups[")
        if found and rest.endswith("].params.length") and isinstance(value, int):
            counts[group.rstrip(".")] = counts.get(group.rstrip("."), 0) + value
    return counts


def parameters(checkpoint: Checkpoint) -> list[TensorInfo]:
    """The parameters of the only model in a checkpoint; tied ones once. Nothing where there are several models."""
    groups = checkpoint.model_groups
    if len(groups) != 1:
        return []
    own: dict[tuple[str, int, int], TensorInfo] = {}
    for tensor in checkpoint.tensors:
        if tensor.part == "model" and tensor.group == groups[0] and not is_buffer(tensor):
            own.setdefault((tensor.storage, tensor.offset, tensor.elements), tensor)
    return list(own.values())


def detect(checkpoint: Checkpoint, freezes: bool) -> list[Signal]:
    """A single optimizer against a single model, unless parts are frozen on purpose; and the loss scale."""
    return [*_missing(checkpoint, freezes), *_scale(checkpoint)]


def _missing(checkpoint: Checkpoint, freezes: bool) -> list[Signal]:
    counts, own = held(checkpoint), parameters(checkpoint)
    matrices = [one for one in own if len(one.shape) > 1]
    if len(counts) != 1 or not own or freezes or checkpoint.foreign:
        return []
    (group, count), names = next(iter(counts.items())), [one.name for one in own]
    # A buffer that the model keeps under a name of its own looks like a parameter: a single one proves nothing.
    if count >= len(own) - 1 or count > 0.95 * len(own) or not matrices:
        return []
    state = {one.shape for one in checkpoint.tensors if one.part == "optimizer" and len(one.shape) > 1}
    lacking = [one for one in matrices if one.shape not in state]
    shown = lacking[0] if lacking and state else matrices[-1]
    claim = f"the optimizer of `{checkpoint.path}` holds {count:,} parameters, the model {len(names):,}"
    if lacking and state:
        claim += f", no state has the shape of `{shown.name}`"
    facts: dict[str, Fact] = {
        "checkpoint": checkpoint.path,
        "optimizer_parameters": count,
        "model_parameters": len(own),
        "lacking": shown.name if lacking and state else "",
    }
    key = f"{group}.param_groups[0].params.length" if group else "param_groups[0].params.length"
    places = [cite_key(checkpoint, key, claim)] if key in checkpoint.scalars else []
    places.append(cite_tensor(checkpoint, shown, f"`{shown.name}` is a parameter of the model"))
    strength = 1.0 if lacking and state else 0.6
    return [Signal(id="optimizer-lacks-parameters", claim=claim, strength=strength, citations=places, facts=facts)]


def _scale(checkpoint: Checkpoint) -> list[Signal]:
    """The state of torch's GradScaler: `scale`, `growth_factor`, `backoff_factor` side by side."""
    for key, value in checkpoint.scalars.items():
        home, _, last = key.rpartition(".")
        beside = {f"{home}.{name}" if home else name for name in ("growth_factor", "backoff_factor")}
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if last == "scale" and beside <= checkpoint.scalars.keys() and number and 0 <= float(value) <= FLOOR:
            claim = f"the saved loss scale `{key}` is {value:g} (it starts at 65536 and halves at every overflow)"
            facts: dict[str, Fact] = {"scale_end": float(value), "checkpoint": checkpoint.path}
            place = cite_key(checkpoint, key, claim)
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=[place], facts=facts)]
    return []


def schedulers(checkpoint: Checkpoint) -> Sequence[str]:
    """What the saved state of a learning-rate schedule says: where it stands, and the last rate."""
    told = []
    for key, value in checkpoint.scalars.items():
        home, _, last = key.rpartition(".")
        if last == "last_epoch" and ("sched" in home.lower() or f"{home}._step_count" in checkpoint.scalars):
            rate = next(
                (checkpoint.scalars[one] for one in (f"{home}._last_lr[0]",) if one in checkpoint.scalars), None
            )
            told.append(
                f"{home or 'scheduler'}: step {value}" + (f", rate {rate:.4g}" if isinstance(rate, float) else "")
            )
    return told
