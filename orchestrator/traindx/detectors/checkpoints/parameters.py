"""The parameters of the model in a checkpoint, tied ones with the one they share their memory with."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.detectors.checkpoints.balance import Parameter
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint
from traindx.readers.checkpoints.model import bare, is_buffer


def largest(checkpoints: Sequence[Checkpoint]) -> Checkpoint | None:
    """The checkpoint with the most parameters; of those alike the last."""
    found = [row for row in checkpoints if row.parameters and row.model_groups]
    return max(found, key=lambda row: row.parameters) if found else None


def parameters_of(checkpoint: Checkpoint) -> list[Parameter]:
    """The parameters of its largest model, in the order of the file."""
    groups = checkpoint.model_groups
    if not groups:
        return []
    sizes = dict.fromkeys(groups, 0)
    for tensor in checkpoint.tensors:
        if tensor.part == "model":
            sizes[tensor.group] += tensor.elements
    group = max(groups, key=lambda one: sizes[one])
    owners: dict[tuple[str, int, int], str] = {}
    found = []
    for tensor in checkpoint.tensors:
        if tensor.part != "model" or tensor.group != group or is_buffer(tensor):
            continue
        name = bare(tensor.name)
        memory = (tensor.storage, tensor.offset, tensor.elements)
        owner = owners.setdefault(memory, name) if tensor.storage else name
        shape = f"`{tensor.name}` has the shape {tensor.shape}"
        found.append(
            Parameter(name, tensor.shape, cite_tensor(checkpoint, tensor, shape), owner if owner != name else "")
        )
    return found
