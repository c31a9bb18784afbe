"""Validation on training data: one loader, one file or one curve for both."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line, cite_setting
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Series, Setting

SIGNALS = {
    "validates-on-train": "the program validates with its training data",
    "one-file-for-both": "training and validation are configured with the same path",
    "val-is-train": "the validation curve is the training curve, digit by digit",
}

_VAL = re.compile(r"(?:^|[._])(?:val|valid|validation|eval|dev|test)(?:[._]|$|loader|set|data)", re.IGNORECASE)
_TRAIN = re.compile(r"(?:^|[._])(?:train|training|trn)(?:[._]|$|loader|set|data)", re.IGNORECASE)
_GIVEN = {"validation_data", "eval_dataset", "val_dataloaders", "eval_set", "valid_sets"}
_PATH = re.compile(r"path|file|dir|data|root|split|set|csv|json|folder|tokens|bin", re.IGNORECASE)
FEWEST = 5


def detect(code: Sequence[CodeUnit], settings: Sequence[Setting], series: Sequence[Series]) -> list[Signal]:
    """Every sign that what is called validation is the training data."""
    return [*_in_code(code), *_in_settings(settings), *_in_curves(series)]


def _in_code(code: Sequence[CodeUnit]) -> list[Signal]:
    for unit in code:
        for node in ast.walk(unit.tree):
            line = _line_of_mix(node)
            if line:
                quote = unit.quote(line)
                claim = f"`{quote}` makes the validation data of the training data"
                place = cite_line(unit.path, unit.file_line(line), claim, quote)
                facts: dict[str, Fact] = {"validation_place": unit.place(line)}
                return [Signal(id="validates-on-train", claim=claim, citations=[place], facts=facts)]
    return []


def _line_of_mix(node: ast.AST) -> int:
    """The line of `val_loader = DataLoader(train_set)`, `validation_data=(x_train, y_train)` and their like."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = name_of(node.targets[0]), node.value
        if isinstance(value, ast.Call) and name_of(value.func) == "DataLoader" and value.args:
            value = value.args[0]
        is_name = isinstance(value, ast.Name | ast.Attribute)
        if is_name and _VAL.search(target) and _TRAIN.search(name_of(value)):
            return node.lineno
    if isinstance(node, ast.keyword) and node.arg in _GIVEN:
        names = [name_of(part) for part in ast.walk(node.value) if isinstance(part, ast.Name | ast.Attribute)]
        if names and all(_is_train_name(name) for name in names):
            return node.value.lineno
    if isinstance(node, ast.FunctionDef) and node.name == "val_dataloader":
        names = [name_of(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
        if any(_TRAIN.search(name) for name in names) and not any(_VAL.search(name) for name in names):
            return next((part.lineno for part in ast.walk(node) if isinstance(part, ast.Return)), node.lineno)
    return 0


def _is_train_name(name: str) -> bool:
    return _TRAIN.search(name) is not None or re.fullmatch(r"[xy]_?(?:tr|train)", name, re.IGNORECASE) is not None


def _in_settings(settings: Sequence[Setting]) -> list[Signal]:
    # A share that is held out of one file makes two of it.
    if any("split" in row.key.lower() and isinstance(row.value, float) and 0 < row.value < 1 for row in settings):
        return []
    paths = [row for row in settings if isinstance(row.value, str) and _PATH.search(row.key) and _is_path(row.value)]
    for train in paths:
        if not _TRAIN.search(train.key):
            continue
        for val in paths:
            like = _VAL.sub(".", val.key).strip("._") == _TRAIN.sub(".", train.key).strip("._")
            if like and val.source == train.source and _VAL.search(val.key) and val.value == train.value:
                claim = f"`{train.key}` and `{val.key}` are both {train.value}"
                facts: dict[str, Fact] = {"validation_place": f"{val.source}:{val.line}", "validation_path": val.value}
                places = [cite_setting(val, claim), cite_setting(train, "the training data")]
                return [Signal(id="one-file-for-both", claim=claim, citations=places, facts=facts)]
    return []


def _is_path(value: str) -> bool:
    """Whether a value names data by itself: a root that holds all splits does not."""
    name = value.rstrip("/").rpartition("/")[2]
    return "." in name or _TRAIN.search(name) is not None


def _in_curves(series: Sequence[Series]) -> list[Signal]:
    held = {(row.name.partition("/")[2], row.source): row for row in series if row.phase == "val"}
    for row in series:
        other = held.get((row.name.partition("/")[2], row.source)) if row.phase == "train" else None
        if other is None or len(other) != len(row) or len(row) < FEWEST or len(np.unique(row.values)) < FEWEST:
            continue
        if np.array_equal(row.values, other.values) and other.original != row.original:
            claim = f"`{other.original}` is `{row.original}` at every one of {len(row)} points"
            places = [cite(other, len(other) - 1, claim), cite(row, len(row) - 1, claim)]
            return [Signal(id="val-is-train", claim=claim, citations=places)]
    return []
