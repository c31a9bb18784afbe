"""How many classes the model has, and whether rare ones are given more weight."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from traindx.contract import Signal
from traindx.detectors.citing import cite_code, cite_setting
from traindx.detectors.curves.chance import CLASS_COUNTS
from traindx.detectors.settings.lookup import named
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of, number_of
from traindx.readers.model import Setting

SIGNALS = {"classes-weighed": "rare classes are weighed or sampled more"}

_WEIGHING = {"WeightedRandomSampler", "compute_class_weight", "ImbalancedDatasetSampler", "SMOTE", "FocalLoss"}
_WEIGHTS = re.compile(r"class_?weights?|pos_?weight|balanced|focal|oversampl|weighted_sampler", re.IGNORECASE)
_HEADS = {"Linear": 1, "Dense": 0, "LazyLinear": 0}


def class_count(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> int | None:
    """The configured number of classes, or the width of the one head that the program builds for a cross-entropy."""
    configured = named(settings, *CLASS_COUNTS)
    if configured is not None:
        return int(configured.value) if 2 <= float(configured.value) <= 1e6 else None
    if not any("cross-entropy" in unit.traits for unit in code):
        return None
    widths = {width for unit in code for width in _last_widths(unit.tree)}
    return widths.pop() if len(widths) == 1 else None


def _last_widths(tree: ast.Module) -> set[int]:
    """The outputs of the last linear layer of every stack and every `__init__`."""
    found = set()
    for node in ast.walk(tree):
        stack = isinstance(node, ast.Call) and name_of(node.func) == "Sequential"
        if stack or (isinstance(node, ast.FunctionDef) and node.name == "__init__"):
            heads = [part for part in ast.walk(node) if isinstance(part, ast.Call) and name_of(part.func) in _HEADS]
            if heads:
                last = max(heads, key=lambda part: (part.lineno, part.col_offset))
                place = _HEADS[name_of(last.func)]
                width = number_of(last.args[place]) if len(last.args) > place else None
                if width is not None and width >= 2:
                    found.add(int(width))
    return found


def ignored_labels(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> frozenset[float]:
    """Labels that the loss leaves out: -100 by default, and what is given as `ignore_index`."""
    given = {float(row.value) for row in settings if row.key.endswith("ignore_index") and isinstance(row.value, int)}
    for unit in code:
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.keyword) and node.arg == "ignore_index":
                value = number_of(node.value)
                given |= set() if value is None else {value}
    return frozenset({-100.0, *given})


def weighed(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Signal]:
    """Class weights, a balanced sampler or a focal loss."""
    for row in settings:
        if not row.coded and _WEIGHTS.search(row.key) and row.value not in {False, "none", "None", ""}:
            claim = f"`{row.key}` = {row.value}"
            return [Signal(id="classes-weighed", claim=claim, citations=[cite_setting(row, claim)])]
    for unit in code:
        for node in ast.walk(unit.tree):
            if not isinstance(node, ast.Call | ast.keyword):
                continue
            called = isinstance(node, ast.Call) and name_of(node.func) in _WEIGHING
            if called or (isinstance(node, ast.keyword) and node.arg in {"weight", "pos_weight", "class_weight"}):
                line = node.lineno
                claim = f"`{unit.quote(line)}` gives rare classes more weight"
                place = cite_code(unit, line, claim)
                return [Signal(id="classes-weighed", claim=claim, citations=[place])]
    return []
