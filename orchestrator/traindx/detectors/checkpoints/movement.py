"""What moved between two checkpoints of a run, and what did not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Measure
from traindx.readers.checkpoints.model import bare, is_buffer

SIGNALS = {
    "weights-never-moved": "two checkpoints of different steps hold exactly the same weights",
    "parameters-unmoved": "some layers are exactly the same in two checkpoints while others moved",
}
# Tables that are computed, not learned, and copies of another model.
_FIXED = re.compile(
    r"mask|inv_freq|position_ids|rotary|sinusoid|(?:^|[._])pe$|anchor|(?:^|\.)(?:teacher|target|ema|reference|ref)"
    r"(?:[._]|$)|_table$|window|mel_|freqs|scale_factor|zero_point",
    re.IGNORECASE,
)
_ON_PURPOSE = re.compile(r"freez|frozen|requires_grad_?\W{1,3}false|lora|adapter|peft|linear_prob|feature_extract")


@dataclass(frozen=True)
class Saved:
    """A checkpoint, what its numbers are like, and how many steps are behind it."""

    checkpoint: Checkpoint
    measures: Sequence[Measure]
    steps: int | None


@dataclass(frozen=True)
class Movement:
    """Layers that two checkpoints have in common, by whether their numbers differ."""

    first: Saved
    last: Saved
    moved: tuple[Measure, ...]
    unmoved: tuple[Measure, ...]


def between(first: Saved, last: Saved) -> Movement | None:
    """Compare two checkpoints of the same model; None where they are not, or where one of them was only sampled."""
    before = {bare(one.tensor.name): one for one in first.measures if _is_learned(one)}
    after = {bare(one.tensor.name): one for one in last.measures if _is_learned(one)}
    both = [name for name in before if name in after and before[name].tensor.shape == after[name].tensor.shape]
    if len(both) < 2 or len(both) < 0.9 * max(len(before), len(after)):
        return None
    if any(one.looked != one.tensor.elements for name in both for one in (before[name], after[name])):
        return None
    if any(before[name].tensor.dtype != after[name].tensor.dtype for name in both):
        return None
    same = [name for name in both if before[name].same_as(after[name])]
    moved = tuple(after[name] for name in both if name not in set(same))
    return Movement(first, last, moved, tuple(after[name] for name in same))


def _is_learned(one: Measure) -> bool:
    tensor = one.tensor
    return tensor.part == "model" and not is_buffer(tensor) and not _FIXED.search(tensor.name)


def detect(movement: Movement | None, freezes: bool) -> list[Signal]:
    """Nothing moved at all; or some weight matrices did not, where neither code nor settings speak of freezing."""
    if movement is None or movement.first.steps is None or movement.last.steps is None:
        return []
    first, last = movement.first, movement.last
    if first.steps == last.steps:
        return []
    span = f"from `{first.checkpoint.path}` to `{last.checkpoint.path}`"
    matrices = [one for one in movement.unmoved if len(one.tensor.shape) > 1 and not one.constant]
    facts: dict[str, Fact] = {"from_checkpoint": first.checkpoint.path, "to_checkpoint": last.checkpoint.path}
    if not movement.moved and matrices:
        claim = f"not one of {len(movement.unmoved)} parameters changed {span}"
        place = cite_tensor(last.checkpoint, matrices[0].tensor, f"`{matrices[0].tensor.name}` is the same in both")
        return [Signal(id="weights-never-moved", claim=claim, citations=[place], facts=facts)]
    if not matrices or freezes:
        return []
    still = sum(one.tensor.elements for one in movement.unmoved)
    share = still / max(1, still + sum(one.tensor.elements for one in movement.moved))
    names = ", ".join(f"`{one.tensor.name}`" for one in matrices[:3])
    claim = f"{len(matrices)} weight matrices ({share:.0%} of the parameters) did not change {span}: {names}"
    facts |= {"unmoved": matrices[0].tensor.name, "unmoved_count": len(matrices), "unmoved_share": f"{share:.0%}"}
    places = [
        cite_tensor(last.checkpoint, one.tensor, f"`{one.tensor.name}` is the same in both files")
        for one in matrices[:3]
    ]
    return [Signal(id="parameters-unmoved", claim=claim, citations=places, facts=facts)]


def speaks_of_freezing(texts: Sequence[str]) -> bool:
    """Whether names of settings or code say that parts are not to be trained."""
    return any(_ON_PURPOSE.search(text.lower()) for text in texts)
