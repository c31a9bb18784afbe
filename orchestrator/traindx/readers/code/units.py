"""Python files of the run: parsed, and what each contains."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import BinaryIO

from traindx.readers.code.syntax import Nodes, name_of
from traindx.readers.logs.lines import blocks
from traindx.vocabulary.settings import RATE_SYMBOLS

LARGEST = 1 << 20
_PACKAGES = {
    "torch": "torch",
    "torchvision": "torch",
    "tensorflow": "tensorflow",
    "keras": "keras",
    "lightning": "lightning",
    "pytorch_lightning": "lightning",
    "transformers": "transformers",
    "jax": "jax",
    "flax": "jax",
    "sklearn": "sklearn",
    "deepspeed": "distributed",
    "accelerate": "distributed",
    "argparse": "entry-point",
}
_PARENTS = {
    "Module": "model",
    "LightningModule": "model",
    "Model": "model",
    "PreTrainedModel": "model",
    "Dataset": "dataset",
    "IterableDataset": "dataset",
    "LightningDataModule": "dataset",
}
OPTIMIZERS = frozenset(
    [
        "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Adafactor", "LBFGS",
        "Lion", "Muon", "Rprop", "ASGD", "SparseAdam",
    ]
)  # fmt: skip
_CALLS = {
    "backward": "training-loop",
    "GradientTape": "training-loop",
    "Trainer": "training-loop",
    "training_step": "training-loop",
    "fit": "training-loop",
    "DataLoader": "dataset",
    "autocast": "amp",
    "GradScaler": "amp",
    "LSTM": "recurrent",
    "GRU": "recurrent",
    "RNN": "recurrent",
    "LSTMCell": "recurrent",
    "GRUCell": "recurrent",
    "RNNCell": "recurrent",
    "init_process_group": "distributed",
    "DistributedDataParallel": "distributed",
    "Sequential": "model",
    "MultiheadAttention": "attention",
    "scaled_dot_product_attention": "attention",
    "clip_grad_norm_": "clipping",
    "clip_grad_value_": "clipping",
    "load_state_dict": "checkpoint",
    "CrossEntropyLoss": "cross-entropy",
    "cross_entropy": "cross-entropy",
    "MSELoss": "squared-error",
    "mse_loss": "squared-error",
    "TransformerEncoderLayer": "attention",
    "TransformerEncoder": "attention",
    "TransformerDecoderLayer": "attention",
    "Transformer": "attention",
    "half": "half-weights",
}
_RECURRENT = frozenset(["LSTM", "GRU", "RNN"])


class NotPython(ValueError):
    """A file that Python could not run either."""


def parse(handle: BinaryIO) -> ast.Module:
    """The syntax tree of a Python file; raises `NotPython` with the reason."""
    return parse_text("".join(text for _, text in blocks(handle, LARGEST + 1)))


def parse_text(text: str) -> ast.Module:
    """The syntax tree of Python code; raises `NotPython` with the reason."""
    if len(text) > LARGEST:
        raise NotPython(f"it is larger than {LARGEST >> 20} MB")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run's own escapes and `is` comparisons are not ours to judge
        try:
            return ast.parse(text)
        except SyntaxError as error:
            raise NotPython(f"a syntax error at line {error.lineno}: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise NotPython("it cannot be parsed") from None


def traits(tree: ast.Module) -> frozenset[str]:
    """What a file contains, e.g. `torch`, `model`, `training-loop`, `recurrent`, `gan`."""
    return traits_among(Nodes(tree))


def traits_among(nodes: Nodes) -> frozenset[str]:
    """The traits of a file whose nodes have been gathered already."""
    packages = [alias.name for node in nodes.of(ast.Import) for alias in node.names]
    packages += [node.module for node in nodes.of(ast.ImportFrom) if node.module]
    found = {trait for name in packages for trait in _package(name)}
    parents = {name_of(parent) for node in nodes.of(ast.ClassDef) for parent in node.bases}
    found |= {_PARENTS[name] for name in parents if name in _PARENTS}
    found |= {trait for name in {name_of(node.func) for node in nodes.of(ast.Call)} for trait in _called(name)}
    if any(node.name == "training_step" for node in nodes.of(ast.FunctionDef)):
        found.add("training-loop")
    if any(isinstance(node.op, ast.Sub) and _scales_by_rate(node.value) for node in nodes.of(ast.AugAssign)):
        found.add("optimizer-sgd")  # `W -= lr * gradient`, written out
    if any(type(node.value) is str and node.value in _RECURRENT for node in nodes.of(ast.Constant)):
        found.add("recurrent")  # as in getattr(nn, "GRU")
    if any(name_of(node.left) == "__name__" for node in nodes.of(ast.Compare)):
        found.add("entry-point")
    return frozenset(found) | _gan(nodes)


def _called(name: str) -> Iterator[str]:
    yield from _known(_CALLS, name)
    if name in OPTIMIZERS:
        yield f"optimizer-{name.lower()}"
    if name.endswith(("LR", "Scheduler", "Restarts")) and name != "LR":
        yield "scheduler"


def _scales_by_rate(node: ast.expr) -> bool:
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.MatMult)
    names = {part.id.lower() for part in ast.walk(node) if isinstance(part, ast.Name)}
    return product and bool(names & RATE_SYMBOLS)


def _package(module: str) -> Iterator[str]:
    yield from _known(_PACKAGES, module.partition(".")[0])
    if "lr_scheduler" in module:
        yield "scheduler"
    if module.startswith(("torch.distributed", "horovod")):
        yield "distributed"
    if ".amp" in module:
        yield "amp"
    if ".keras" in module:
        yield "keras"


def _known(table: dict[str, str], name: str) -> Iterator[str]:
    if name in table:
        yield table[name]


def _gan(nodes: Nodes) -> frozenset[str]:
    """A generator and a discriminator (or critic) in one file make a GAN; either word alone does not."""
    spelled = {node.name for node in nodes.of(ast.ClassDef)} | {node.name for node in nodes.of(ast.FunctionDef)}
    names = {name.lower() for name in spelled | {node.id for node in nodes.of(ast.Name)}}
    makes = any("generator" in name or name in {"g", "netg", "gen"} for name in names)
    judges = any("discriminator" in name or "critic" in name or name in {"d", "netd", "disc"} for name in names)
    told = any(len(name) > 3 and ("discriminator" in name or "netd" in name or "critic" in name) for name in names)
    paired = {"g", "d"} <= names and any(
        name.startswith(("opt_d", "optd", "d_loss", "d_opt", "loss_d")) for name in names
    )
    return frozenset({"gan"}) if (makes and judges and told) or paired else frozenset()
