"""Whether the program brings its inputs to zero mean and unit scale."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code, cite_line
from traindx.detectors.settings.lookup import is_number
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of, number_of
from traindx.readers.model import Setting

SIGNALS = {
    "inputs-scaled": "the program scales its inputs",
    "pixels-unscaled-in-code": "bytes of pictures become floats and go to the model as they are",
}

_SCALING = {
    "StandardScaler", "MinMaxScaler", "RobustScaler", "Normalize", "normalize", "Normalization", "Rescaling",
    "ToTensor", "to_tensor", "PowerTransformer", "QuantileTransformer", "standardize", "standardise", "normalise",
    "preprocess_input", "AutoImageProcessor", "AutoFeatureExtractor", "ToDtype", "ConvertImageDtype", "ToFloat",
    "convert_image_dtype", "zscore", "scale", "VecNormalize", "NormalizeObservation", "log1p",
}  # fmt: skip
_NORMS_FIRST = {"BatchNorm1d", "BatchNorm2d", "BatchNormalization", "LayerNorm", "InstanceNorm1d", "InstanceNorm2d"}
_DIVISORS = {255.0, 256.0, 127.5, 127.0, 128.0}
_SPREADS = {"std", "sigma", "scale", "sd", "stdev", "std_", "norm", "max"}
_PICTURES = {"uint8", "imread", "PILToTensor", "pil_to_tensor", "read_image", "decode_jpeg", "decode_png"}


def scales(code: Sequence[CodeUnit]) -> bool | None:
    """Whether something in the program scales inputs; None where no training program was seen."""
    if not any("training-loop" in unit.traits for unit in code):
        return None
    return _scaling(code) is not None


def detect(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Signal]:
    """The place that scales the inputs; else the place where raw pixels become floats."""
    found = _scaling(code)
    if found is None and any(is_number(row) and row.key.lower().endswith((".mean", ".std")) for row in settings):
        return []
    if found is not None:
        unit, node = found
        claim = f"`{unit.quote(node.lineno)}` scales"
        place = cite_code(unit, node.lineno, claim)
        return [Signal(id="inputs-scaled", claim=claim, citations=[place])]
    for unit in code:
        names = {name_of(node) for node in ast.walk(unit.tree) if isinstance(node, ast.Attribute | ast.Name)}
        call = _cast(unit.tree) if names & _PICTURES else None
        if call is not None:
            quote, line = unit.quote(call.lineno), unit.file_line(call.lineno)
            claim = f"`{quote}` hands pixels on as they are: nothing in the program divides or normalizes them"
            facts: dict[str, Fact] = {"scale_what": "the pixels", "scale_place": unit.place(call.lineno)}
            facts["scale_high"] = 255
            place = cite_line(unit.path, line, claim, quote)
            return [Signal(id="pixels-unscaled-in-code", claim=claim, citations=[place], facts=facts)]
    return []


def _scaling(code: Sequence[CodeUnit]) -> tuple[CodeUnit, ast.expr] | None:
    for unit in code:
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.Call) and name_of(node.func) in _SCALING:
                return unit, node
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_spread(node.right):
                return unit, node
            if isinstance(node, ast.Call) and name_of(node.func) == "Sequential" and _begins_with_norm(node):
                return unit, node
        for statement in ast.walk(unit.tree):
            divides = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div)
            if divides and isinstance(statement, ast.AugAssign) and _is_spread(statement.value):
                return unit, statement.value
    return None


def _is_spread(node: ast.expr) -> bool:
    """255, `x.std(0)`, `std + 1e-8`, `self.scale`: what inputs are divided by."""
    if isinstance(node, ast.BinOp):
        return _is_spread(node.left) or _is_spread(node.right)
    if number_of(node) in _DIVISORS:
        return True
    name = name_of(node.func) if isinstance(node, ast.Call) else name_of(node)
    if isinstance(node, ast.Subscript):
        name = name_of(node.value)
    return any(name.lower() == word or name.lower().endswith(f"_{word}") for word in _SPREADS) or name.startswith("std")


def _begins_with_norm(node: ast.Call) -> bool:
    first = next((part for part in node.args if not _is_flatten(part)), None)
    return isinstance(first, ast.Call) and name_of(first.func) in _NORMS_FIRST


def _is_flatten(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in {"Flatten", "Input", "InputLayer"}


def _cast(tree: ast.Module) -> ast.Call | None:
    """Where a sample becomes floats: in `__getitem__` or a collate function first, else anywhere."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    near = [node for node in functions if node.name == "__getitem__" or "collate" in node.name]
    for scope in [*near, tree]:
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and name_of(node.func) in {"float", "FloatTensor"} and _of_pixels(node):
                return node
    return None


def _of_pixels(node: ast.Call) -> bool:
    """`img.float()` of something; `float(x)` of a number is Python's."""
    text = ast.unparse(node).lower()
    told = any(word in text for word in ("img", "image", "uint8", "pixel", "pic", "x[", "x.", "data", "frame"))
    return told and isinstance(node.func, ast.Attribute)
