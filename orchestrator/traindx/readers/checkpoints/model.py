"""What a checkpoint holds, as far as it can be told without loading a tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from traindx.contract import Fact
from traindx.readers.checkpoints.names import runs_commands
from traindx.readers.configs.values import Path

Format = Literal[
    "torch-zip", "torchscript", "torch-legacy", "torch-tar", "pickle", "safetensors", "sharded", "hdf5", "keras",
    "gguf", "not-weights", "empty", "unknown",
]  # fmt: skip
Part = Literal["model", "optimizer", "other"]
"""whose tensor it is: `other` is random state, schedulers and so on"""
Layout = Literal["rows", "dense", "strided"]
"""row after row; in one piece but in another order; with gaps or repetitions"""
Holds = Literal["training-state", "model", "optimizer", "tensors", "object", "nothing"]

_OPTIMIZER = re.compile(r"optim|(?:^|_)opts?(?:$|_)")
_BOOKKEEPING = re.compile(r"(?:^|_)(?:rngs?|random|scheduler|sched|scaler|loader|sampler|callbacks|loops)(?:_|$)")
_PARAM_GROUPS = re.compile(r"(.*?\.?)param_groups\[")
_BUFFER = re.compile(r"(?:^|\.)(?:running_mean|running_var|num_batches_tracked|inv_freq|position_ids)$")
_WRAPPERS = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")
# Which optimizer keeps which buffers; torch.optim and the packages that follow it.
_OPTIMIZER_BUFFERS = (
    ({"mu_product", "exp_avg"}, "NAdam"),
    ({"exp_avg", "exp_avg_sq"}, "Adam"),
    ({"exp_avg", "exp_inf"}, "Adamax"),
    ({"square_avg", "acc_delta"}, "Adadelta"),
    ({"square_avg"}, "RMSprop"),
    ({"exp_avg_sq_row"}, "Adafactor"),
    ({"exp_avg"}, "Lion"),
    ({"momentum_buffer"}, "SGD"),
    ({"sum"}, "Adagrad"),
)


class Damage(str):
    """A problem for which the file cannot be loaded."""

    __slots__ = ()


@dataclass(frozen=True)
class TensorInfo:
    """A tensor: `group` is the way to the state dict it belongs to (empty at the top), `name` its key in there."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    group: str = ""
    size: int = 0
    """bytes of its own elements"""
    storage: str = ""
    """the record (or file) that holds them; tensors that share memory share it"""
    trainable: bool | None = None
    """`requires_grad` where the file says it"""
    part: Part = "model"
    offset: int = 0
    """elements of its storage before its first"""
    layout: Layout = "rows"

    @property
    def elements(self) -> int:
        """Number of values."""
        return prod(self.shape)

    @property
    def path(self) -> str:
        """The whole way to the tensor."""
        return f"{self.group}.{self.name}" if self.group and self.name else self.group or self.name


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint file, or one set of shards, described without executing or loading anything."""

    path: str
    format: Format
    size: int
    keys: tuple[str, ...] = ()
    """the keys of the outermost mapping"""
    tensors: tuple[TensorInfo, ...] = field(default=(), repr=False)
    scalars: dict[str, Fact] = field(default_factory=dict)
    """epoch, step, losses, hyper-parameters: dotted keys, without secrets"""
    globals: tuple[str, ...] = ()
    """every Python name that loading would import"""
    unsafe: tuple[str, ...] = ()
    """those that run commands or code: `builtins.eval`, `os.system`"""
    foreign: tuple[str, ...] = ()
    """those that `torch.load(weights_only=True)` refuses, without being dangerous by name: classes of the project"""
    calls: tuple[str, ...] = ()
    """names outside the safe set that loading would call, with their arguments"""
    objects: tuple[str, ...] = ()
    """classes whose pickled instances the file holds: whole modules, configurations"""
    problems: tuple[str, ...] = ()
    """what is to be said about the file: cut off, not weights at all, records missing, not read"""

    @property
    def damage(self) -> tuple[str, ...]:
        """The problems for which no program can load it."""
        return tuple(problem for problem in self.problems if isinstance(problem, Damage))

    @property
    def commands(self) -> tuple[str, ...]:
        """The calls that can only be there to run commands or code."""
        return tuple(call for call in self.calls if runs_commands(call.partition("(")[0]))

    @property
    def model_groups(self) -> tuple[str, ...]:
        """The state dicts that are a model's, in the order of the file."""
        return tuple(self._by_group())

    @property
    def parameters(self) -> int:
        """Parameters of the models; a copy (an average beside the model) and tied weights count once, buffers never."""
        counted: set[tuple[str, tuple[int, ...], int, bool]] = set()
        shapes: set[frozenset[tuple[str, tuple[int, ...]]]] = set()
        for own in self._by_group().values():
            trained = [tensor for tensor in own if not _BUFFER.search(tensor.name)]
            shape = frozenset((bare(tensor.name), tensor.shape) for tensor in trained)
            if shape not in shapes:
                shapes.add(shape)
                counted |= {
                    (tensor.storage or tensor.path, tensor.shape, tensor.elements, bool(tensor.storage))
                    for tensor in trained
                }
        return sum(elements for _, _, elements, _ in counted)

    @property
    def wrappers(self) -> tuple[str, ...]:
        """What DataParallel, `torch.compile` or FSDP put into the names: `module.`, `_orig_mod.`."""
        parts = {part for tensor in self.tensors if tensor.part == "model" for part in tensor.name.split(".")[:-1]}
        return tuple(f"{wrapper}." for wrapper in _WRAPPERS if wrapper in parts)

    @property
    def prefixes(self) -> dict[str, str]:
        """The first parts that all names of a state dict have in common, e.g. `{"model": "module."}`."""
        return {group: common for group, own in self._by_group().items() if (common := _common_prefix(own))}

    @property
    def optimizers(self) -> dict[str, str]:
        """What each optimizer state was written by, as far as its buffers and groups tell."""
        groups = dict.fromkeys(tensor.group for tensor in self.tensors if tensor.part == "optimizer")
        groups |= dict.fromkeys(found[1].rstrip(".") for key in self.scalars if (found := _PARAM_GROUPS.match(key)))
        return {group: kind for group in groups if (kind := self._optimizer(group))}

    @property
    def holds(self) -> Holds:
        """What the file is for."""
        if not self.tensors:
            return "object" if self.keys or self.scalars or self.objects else "nothing"
        optimizing = any(tensor.part == "optimizer" for tensor in self.tensors) or bool(self.optimizers)
        if optimizing:
            return "training-state" if self.model_groups else "optimizer"
        if self.objects:
            return "model"
        # Names with a dot (`conv1.weight`) are a model's; a lone tensor or a dict of `x` and `y` is data.
        return (
            "model"
            if any("." in tensor.name or tensor.name in {"weight", "bias"} for tensor in self.tensors)
            else "tensors"
        )

    def _by_group(self) -> dict[str, list[TensorInfo]]:
        groups: dict[str, list[TensorInfo]] = {}
        for tensor in self.tensors:
            if tensor.part == "model":
                groups.setdefault(tensor.group, []).append(tensor)
        return groups

    def _optimizer(self, group: str) -> str:
        buffers = {tensor.name.rpartition(".")[2] for tensor in self.tensors if tensor.group == group}
        first = f"{group}.param_groups[0]." if group else "param_groups[0]."
        asked = {key.removeprefix(first).partition("[")[0] for key in self.scalars if key.startswith(first)}
        for wanted, kind in _OPTIMIZER_BUFFERS:
            if wanted <= buffers:
                decoupled = self.scalars.get(f"{first}decoupled_weight_decay") is True
                return "AdamW" if kind == "Adam" and decoupled else kind
        if {"nesterov", "dampening"} <= asked:
            return "SGD"
        return "Adam" if "betas" in asked else ""


def _common_prefix(own: list[TensorInfo]) -> str:
    names = [tensor.name.split(".")[:-1] for tensor in own]
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)
    shared = 0
    while shared < min(len(low), len(high)) and low[shared] == high[shared]:
        shared += 1
    return "".join(f"{part}." for part in low[:shared])


def part_of(path: Path) -> Part:
    """Whose a tensor is, by the keys on the way to it."""
    words = [part.lower() for part in path if isinstance(part, str)]
    if any(_OPTIMIZER.search(word) for word in words[:-1]):
        return "optimizer"
    return "other" if any(_BOOKKEEPING.search(word) for word in words[:2]) else "model"


def is_buffer(tensor: TensorInfo) -> bool:
    """Whether a tensor of a model is no parameter, as far as its name tells."""
    return _BUFFER.search(tensor.name) is not None


def bare(name: str) -> str:
    """A tensor's name without what wrappers put into it."""
    return ".".join(part for part in name.split(".") if part not in _WRAPPERS)
