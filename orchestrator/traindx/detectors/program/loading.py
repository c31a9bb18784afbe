"""How the program loads its training data: in which order, and what it mends on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation, Signal
from traindx.detectors.citing import cite_code, cite_setting
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Setting

SIGNALS = {
    "loader-unshuffled": "the loader of the training data keeps the order of the file",
    "loader-shuffles": "the training data is shuffled",
    "data-cleaned": "the program drops or fills values that are missing or not finite",
}

_SHUFFLING = {
    "randperm", "permutation", "shuffle", "RandomSampler", "DistributedSampler", "WeightedRandomSampler", "sample",
    "train_test_split", "RandomBatchGeometricGraphs", "choice", "randint", "integers",
}  # fmt: skip
_CLEANING = {"dropna", "fillna", "nan_to_num", "interpolate", "isfinite", "isnan", "isna", "notna", "SimpleImputer"}
_SAMPLERS = {"sampler", "batch_sampler"}
_OTHER_SPLITS = ("val", "test", "eval", "dev", "infer", "predict")


def detect(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Signal]:
    """Whether training data is shuffled, and whether gaps in it are mended."""
    found = []
    place = unshuffled(code, settings)
    if place is not None:
        found.append(Signal(id="loader-unshuffled", claim=place.claim, citations=[place]))
    else:
        shuffles = _shuffled(code, settings)
        if shuffles is not None:
            found.append(Signal(id="loader-shuffles", claim=shuffles.claim, citations=[shuffles]))
    cleaning = next(_calls(code, _CLEANING), None)
    if cleaning is not None:
        unit, call = cleaning
        claim = f"`{unit.quote(call.lineno)}` mends missing or non-finite values"
        citation = cite_code(unit, call.lineno, claim)
        found.append(Signal(id="data-cleaned", claim=claim, citations=[citation]))
    return found


def unshuffled(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> Citation | None:
    """The place that keeps the training data in the order of its file; None where something shuffles, or unseen."""
    configured = _configured(settings)
    if configured is not None:
        return cite_setting(configured, f"`{configured.key}` = {configured.value}") if not configured.value else None
    loaders = [(unit, call) for unit, call in _calls(code, {"DataLoader"}) if not _is_of_other_split(unit, call)]
    for _, call in loaders:
        shuffle = next((row.value for row in call.keywords if row.arg == "shuffle"), None)
        if any(row.arg in _SAMPLERS or row.arg is None for row in call.keywords) or len(call.args) > 2:
            return None
        if shuffle is not None and not (isinstance(shuffle, ast.Constant) and not shuffle.value):
            return None
    if loaders:
        unit, call = loaders[0]
        claim = "the loader of the training data does not shuffle"
        return cite_code(unit, call.lineno, claim)
    return _sliced(code)


def _sliced(code: Sequence[CodeUnit]) -> Citation | None:
    """Batches that are cut from the data one after another: `for i in range(0, len(x), batch_size)`."""
    if not any("training-loop" in unit.traits for unit in code) or next(_calls(code, _SHUFFLING), None) is not None:
        return None
    for unit in code:
        if "training-loop" not in unit.traits:
            continue
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and name_of(node.iter.func) == "range":
                learns = any(isinstance(part, ast.Call) and name_of(part.func) == "backward" for part in ast.walk(node))
                if len(node.iter.args) == 3 and learns:
                    claim = "batches are cut from the data in its order"
                    return cite_code(unit, node.lineno, claim)
    return None


def _shuffled(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> Citation | None:
    configured = _configured(settings)
    if configured is not None and configured.value:
        return cite_setting(configured, f"`{configured.key}` = {configured.value}")
    for unit, call in _calls(code, {"DataLoader", "fit"}):
        shuffle = next((row.value for row in call.keywords if row.arg == "shuffle"), None)
        if isinstance(shuffle, ast.Constant) and shuffle.value is True:
            claim = "the training data is shuffled"
            return cite_code(unit, call.lineno, claim)
    found = next(_calls(code, _SHUFFLING), None)
    if found is None:
        return None
    unit, call = found
    claim = "rows are drawn at random"
    return cite_code(unit, call.lineno, claim)


def _configured(settings: Sequence[Setting]) -> Setting | None:
    """The setting that says whether training data is shuffled."""
    for row in settings:
        last = row.key.lower().rsplit(".", 1)[-1].replace("_", "").replace("-", "")
        other = any(word in row.key.lower() for word in _OTHER_SPLITS)
        # `DataLoader.shuffle` is read from the code, where the loader itself tells more.
        if last in {"shuffle", "shuffletrain", "trainshuffle"} and not other and not row.coded:
            return row if isinstance(row.value, bool) else None
    return None


def _calls(code: Sequence[CodeUnit], names: set[str]) -> Iterator[tuple[CodeUnit, ast.Call]]:
    for unit in code:
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.Call) and name_of(node.func) in names:
                yield unit, node


def _is_of_other_split(unit: CodeUnit, call: ast.Call) -> bool:
    """Whether a loader is for validation, by what it is given and by what it is called."""
    given = ast.unparse(call.args[0]).lower() if call.args else ""
    line = unit.quote(call.lineno).lower().partition("dataloader")[0]
    inside = _function_around(unit.tree, call.lineno).lower()
    told = f"{given} {line} {inside}"
    return any(word in told for word in _OTHER_SPLITS) and "train" not in f"{given} {line}"


def _function_around(tree: ast.Module, line: int) -> str:
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno).name if around else ""
