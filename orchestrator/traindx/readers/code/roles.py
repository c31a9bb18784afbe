"""What part of a training program a file is: the model, the loop, the data, the entry point, the configuration."""

from __future__ import annotations

import ast
import re
from typing import Literal

from traindx.readers.code.syntax import Nodes, name_of

CodeRole = Literal["model", "training-loop", "data-pipeline", "entry-point", "config", "evaluation", "test", "utility"]

_BY_TRAIT: dict[str, CodeRole] = {
    "model": "model",
    "training-loop": "training-loop",
    "dataset": "data-pipeline",
    "entry-point": "entry-point",
}
_DATA_CALLS = {
    "load_dataset", "ImageFolder", "TensorDataset", "read_csv", "from_tensor_slices", "random_split", "TFRecordDataset",
    "WebDataset", "ImageDataGenerator", "image_dataset_from_directory", "memmap", "pad_sequence", "default_collate",
}  # fmt: skip
_DATA_NAMES = re.compile(r"collate|data_?loaders?|get_batch|make_dataset|load_data|augment", re.IGNORECASE)
_MODEL_METHODS = {"forward", "call", "__call__"}
_CONFIG_CLASS = re.compile(r"(?:Config|Args|Arguments|Params|HParams|Settings|Options)$")
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.BinOp)
_EVALUATION = re.compile(r"^(?:evaluate|validate|eval_|test_epoch|compute_metrics)")
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_CONFIG_PATH = re.compile(
    r"(?:^|/)(?:configs?|settings|hparams|options|arguments)(?:/[^/]+)?\.py$|(?:^|/)configs?/[^/]+\.py$"
)


def code_roles(path: str, tree: ast.Module, nodes: Nodes, traits: frozenset[str]) -> frozenset[CodeRole]:
    """The parts of a training program that a file holds; one that holds none is a utility."""
    if _TEST_PATH.search(path):
        return frozenset({"test"})
    roles: set[CodeRole] = {_BY_TRAIT[trait] for trait in traits if trait in _BY_TRAIT}
    if any(name_of(node.func) in _DATA_CALLS for node in nodes.of(ast.Call)):
        roles.add("data-pipeline")
    functions = [node.name for node in nodes.of(ast.FunctionDef)]
    for name in [*functions, *(node.name for node in nodes.of(ast.AsyncFunctionDef))]:
        if _DATA_NAMES.search(name):
            roles.add("data-pipeline")
        elif _EVALUATION.match(name):
            roles.add("evaluation")
    for node in nodes.of(ast.ClassDef):
        roles |= _class(node)
    if _CONFIG_PATH.search(path) or _mostly_constants(tree):
        roles.add("config")
    return frozenset(roles or {"utility"})


def acts(tree: ast.Module) -> bool:
    """Whether running the file does something: it loops or calls at its top level, not only defines."""
    return any(
        isinstance(part, (ast.For, ast.While, ast.With))
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Call))
        for part in tree.body
    )


def _class(node: ast.ClassDef) -> set[CodeRole]:
    methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    if _CONFIG_CLASS.search(node.name) and not methods & _MODEL_METHODS:
        return {"config"}
    if {"__getitem__", "__len__"} <= methods:
        return {"data-pipeline"}
    # A subclass of the project's own base class is a model by what it does.
    return {"model"} if "forward" in methods and ("__init__" in methods or node.bases) else set()


def _mostly_constants(tree: ast.Module) -> bool:
    told = [part for part in tree.body if not isinstance(part, (ast.Import, ast.ImportFrom, ast.Expr))]
    plain = [
        part for part in told if isinstance(part, (ast.Assign, ast.AnnAssign)) and isinstance(part.value, _LITERALS)
    ]
    return len(plain) >= 3 and len(plain) >= 0.8 * len(told)
