"""Settings that stand in the code itself: argparse defaults, constants, and the literals given to optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.contract import Fact
from traindx.readers.code.units import OPTIMIZERS
from traindx.readers.configs.values import dotted, flat, is_secret
from traindx.readers.model import Setting

_TELLING_ENDINGS = ("LR", "Scheduler", "Restarts", "GradScaler", "DataLoader", "Trainer", "TrainingArguments", "Config")
_TELLING_CALLS = frozenset(
    [
        "clip_grad_norm_",
        "clip_grad_value_",
        "LSTM",
        "GRU",
        "RNN",
        "Dropout",
        "BatchNorm1d",
        "BatchNorm2d",
        "autocast",
        "set_epoch",
        "manual_seed",
        "get_linear_schedule_with_warmup",
        "get_cosine_schedule_with_warmup",
        "EarlyStopping",
        "ExponentialDecay",
        "compile",
        "fit",
    ]
)
_MAPPINGS = frozenset({"dict", "SimpleNamespace", "Namespace", "EasyDict", "edict", "ConfigDict", "Munch", "Box"})
_DTYPES = frozenset({"float16", "half", "bfloat16", "float32", "float64"})
_MOST = 2_000
# The first arguments of these are named in torch, but people give them by position.
POSITIONAL = {
    "clip_grad_norm_": ("parameters", "max_norm"),
    "clip_grad_value_": ("parameters", "clip_value"),
    "OneCycleLR": ("optimizer", "max_lr", "total_steps"),
    "StepLR": ("optimizer", "step_size", "gamma"),
    "MultiStepLR": ("optimizer", "milestones", "gamma"),
    "ExponentialLR": ("optimizer", "gamma"),
    "CosineAnnealingLR": ("optimizer", "T_max", "eta_min"),
    "CosineAnnealingWarmRestarts": ("optimizer", "T_0", "T_mult"),
    "DataLoader": ("dataset", "batch_size", "shuffle"),
    "Dropout": ("p",),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), ("input_size", "hidden_size", "num_layers")),
    **dict.fromkeys(OPTIMIZERS, ("params", "lr")),
}


def code_settings(tree: ast.Module, source: str) -> list[Setting]:
    """The settings of one parsed file, in the order of its lines."""
    found: list[Setting] = []
    for key, value, line in _found(tree):
        if len(found) >= _MOST:
            break
        for path, leaf in flat(value, (key,)):
            if is_secret(dotted(path), leaf):
                continue
            told = leaf if not isinstance(leaf, str) else leaf[:200]
            found.append(Setting(dotted(path), told, source, line, coded=True))
    return sorted(found, key=lambda setting: setting.line)


def _found(tree: ast.Module) -> Iterator[tuple[str, object, int]]:
    for statement in tree.body:
        yield from _constants(statement)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _call(node)
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                yield from _fields(statement)


def _constants(statement: ast.stmt) -> Iterator[tuple[str, object, int]]:
    if not isinstance(statement, ast.Assign):
        yield from _fields(statement)
        return
    value = statement.value
    for target in statement.targets:
        if isinstance(target, ast.Name):
            yield from _literal(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, part in zip(target.elts, value.elts, strict=False):
                if isinstance(name, ast.Name):
                    yield from _literal(name.id, part)


def _fields(statement: ast.stmt) -> Iterator[tuple[str, object, int]]:
    """An annotated default, as dataclasses and configuration classes have them."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        yield from _literal(statement.target.id, statement.value)


def _call(node: ast.Call) -> Iterator[tuple[str, object, int]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "add_argument":
        yield from _argument(node)
        return
    telling = name in OPTIMIZERS or name in _TELLING_CALLS or (name[:1].isupper() and name.endswith(_TELLING_ENDINGS))
    if not telling:
        return
    for argument, keyword in zip(node.args, POSITIONAL.get(name, ()), strict=False):
        yield from _literal(f"{name}.{keyword}", argument)
    for given in node.keywords:
        if given.arg:
            yield from _literal(f"{name}.{given.arg}", given.value)


def _argument(node: ast.Call) -> Iterator[tuple[str, object, int]]:
    flags = [flag.value for flag in node.args if isinstance(flag, ast.Constant) and isinstance(flag.value, str)]
    name = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    default = next((keyword.value for keyword in node.keywords if keyword.arg == "default"), None)
    if name and default is not None:
        yield from _literal(name.lstrip("-").replace("-", "_"), default)


def _literal(key: str, node: ast.expr) -> Iterator[tuple[str, object, int]]:
    parts = list(_parts(node))
    for name, part in parts:
        yield from _literal(f"{key}.{name}", part)
    value = None if parts else _value(node)
    if value is not None:
        yield key, value, node.lineno


def _parts(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What a mapping holds, each on its own line: `{"lr": 0.1}`, `dict(lr=0.1)`, `[dict(type="StepLR")]`."""
    if isinstance(node, ast.Dict):
        for name, part in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and isinstance(name.value, str | int):
                yield str(name.value), part
    elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _MAPPINGS:
        for given in node.keywords:
            if given.arg:
                yield given.arg, given.value
    elif isinstance(node, ast.List | ast.Tuple) and any(isinstance(item, ast.Call | ast.Dict) for item in node.elts):
        yield from ((str(place), item) for place, item in enumerate(node.elts))


def _value(node: ast.expr) -> object:
    """The value of a literal, also of `1 / 255`, `2 ** 16` or `torch.float16`; None where it has to be computed."""
    if isinstance(node, ast.Attribute) and node.attr in _DTYPES:
        return node.attr
    try:
        return _arithmetic(node) if isinstance(node, ast.BinOp) else ast.literal_eval(node)
    except (ValueError, TypeError, ArithmeticError, RecursionError, MemoryError):
        return None


def _arithmetic(node: ast.BinOp) -> Fact | None:
    left, right = ast.literal_eval(node.left), ast.literal_eval(node.right)
    if not all(isinstance(side, (int, float)) and abs(side) < 1e9 for side in (left, right)):
        return None
    if isinstance(node.op, ast.Pow):
        return float(left) ** float(right) if abs(right) <= 64 else None
    if isinstance(node.op, ast.Div):
        return float(left / right)
    if isinstance(node.op, ast.Mult):
        return left * right  # type: ignore[no-any-return]
    return None
