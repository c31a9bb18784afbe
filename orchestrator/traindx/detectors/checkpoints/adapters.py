"""Adapters that were saved as they began: the second matrix of LoRA is zero until its first step."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Measure

SIGNALS = {
    "adapter-untouched": "the second LoRA matrix is zero in every layer after training: the adapter got no update",
    "adapter-trained": "the second LoRA matrices are not zero: the adapter was trained",
}
# peft, diffusers and kohya; `lora_B.default.weight`, `lora_up.weight`, `lora_linear_layer.up.weight`.
_SECOND = re.compile(r"lora_(?:B|up)(?:\.|$)|lora_embedding_B(?:\.|$)|lora_linear_layer\.up\.|\.lora\.up\.")
ENOUGH_STEPS = 10
"""a warmup from zero makes the first updates vanish in half precision"""


def detect(checkpoint: Checkpoint, measures: Sequence[Measure], steps: int | None) -> list[Signal]:
    """All second matrices of a file that was saved after training had begun."""
    second = [one for one in measures if one.tensor.part == "model" and _SECOND.search(one.tensor.name)]
    if not second:
        return []
    zero = [one for one in second if one.constant and one.highest == 0]
    if not zero:
        claim = f"the second LoRA matrices of `{checkpoint.path}` are not zero"
        place = cite_tensor(checkpoint, second[0].tensor, claim)
        return [Signal(id="adapter-trained", claim=claim, citations=[place])]
    if len(zero) < len(second) or steps is None or steps < ENOUGH_STEPS:
        return []
    claim = (
        f"all {len(second)} second LoRA matrices of `{checkpoint.path}` are exactly 0 after {steps:,} steps:"
        " the adapter adds nothing and never got an update"
    )
    facts: dict[str, Fact] = {
        "checkpoint": checkpoint.path,
        "adapter_tensor": zero[0].tensor.name,
        "adapter_steps": steps,
    }
    places = [cite_tensor(checkpoint, one.tensor, f"`{one.tensor.name}` is 0 throughout") for one in zero[:3]]
    return [Signal(id="adapter-untouched", claim=claim, citations=places, facts=facts)]
