"""Citing a part of a checkpoint; its text is what a second look compares."""

from __future__ import annotations

from traindx.contract import Citation
from traindx.readers.checkpoints import Checkpoint, TensorInfo


def cite_tensor(checkpoint: Checkpoint, tensor: TensorInfo, claim: str) -> Citation:
    """A tensor, by its name and shape."""
    return Citation(claim=_one(claim), source=checkpoint.path, locator=f"tensor {tensor.path}", quote=str(tensor.shape))


def cite_key(checkpoint: Checkpoint, key: str, claim: str) -> Citation:
    """A value that is saved beside the tensors."""
    quote = str(checkpoint.scalars[key])
    return Citation(claim=_one(claim), source=checkpoint.path, locator=f"key {key}", quote=quote)


def cite_file(checkpoint: Checkpoint, claim: str, quote: str) -> Citation:
    """What is wrong with the file as a whole."""
    return Citation(claim=_one(claim), source=checkpoint.path, locator="whole file", quote=quote)


def cite_global(checkpoint: Checkpoint, claim: str, quote: str) -> Citation:
    """A name that loading would import, or a call that it would make."""
    return Citation(claim=_one(claim), source=checkpoint.path, locator="global", quote=quote)


def _one(claim: str) -> str:
    """A claim in one piece: a semicolon separates claims where several are joined."""
    return claim.replace("; ", ", ")
