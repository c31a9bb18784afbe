"""Files of predictions: what was predicted, and the target beside it, as columns of texts; read in bounded memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.readers.run import Run

MOST_ROWS = 20_000
MOST_BYTES = 16 << 20
LONGEST = 2_000
_PREDICTED = (
    "prediction", "predictions", "predicted", "pred", "preds", "y_pred", "y_hat", "yhat", "pred_label",
    "predicted_label", "pred_class", "output", "outputs", "generated", "generation", "generated_text", "completion",
    "sample", "samples", "hypothesis", "hyp", "answer", "response", "translation", "decoded", "caption", "summary",
    "transcript", "transcription", "reply", "rollout", "score", "prob", "text", "label",
)  # fmt: skip
_WANTED = (
    "target", "targets", "label", "labels", "y_true", "true", "truth", "true_label", "reference", "references", "ref",
    "gold", "expected", "actual", "y", "ground_truth", "class",
)  # fmt: skip
_GIVEN = (
    "input", "inputs", "prompt", "question", "query", "image", "audio", "video", "source", "src", "document", "context",
    "instruction", "file", "filename", "path", "url", "id", "name", "key", "split", "model", "task", "time",
)  # fmt: skip
"""what a model is asked, and what only names the row"""


@dataclass(frozen=True)
class Predictions:
    """The predictions of one file, row by row."""

    path: str
    column: str
    predicted: tuple[str, ...]
    wanted: tuple[str, ...]
    """as many as there are predictions, or none"""
    lines: tuple[int, ...]
    """line of each row; empty where the file has none"""


def read_predictions(run: Run, path: str) -> Predictions | None:
    """The predictions in a table or in JSON; None where the file holds none."""
    with run.scope.open(path) as handle:
        text = handle.read(MOST_BYTES).decode("utf-8", "replace")
    lower = path.lower()
    if lower.endswith((".jsonl", ".ndjson")):
        return _columns(path, list(json_lines(text)))
    if lower.endswith(".json"):
        return _columns(path, list(_json_list(text)))
    if lower.endswith((".csv", ".tsv")):
        return _columns(path, list(table_rows(text)))
    return None


def read_records(run: Run, path: str) -> list[tuple[int, dict[str, object]]]:
    """The JSON objects of a file with one per line, each with its line."""
    with run.scope.open(path) as handle:
        text = handle.read(MOST_BYTES).decode("utf-8", "replace")
    return [(number, dict(row)) for number, row in json_lines(text)]


def json_lines(text: str) -> Iterable[tuple[int, Mapping[str, object]]]:
    """The JSON objects of a text with one per line, each with its line."""
    for number, line in enumerate(text.splitlines()[:MOST_ROWS], 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield number, row


def _json_list(text: str) -> Iterable[tuple[int, Mapping[str, object]]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        lists = {key: value for key, value in found.items() if isinstance(value, list)}
        named = next((lists[name] for name in _PREDICTED if name in lists), None)
        wanted = next((lists[name] for name in _WANTED if name in lists), [])
        if named is not None:
            for place, value in enumerate(named[:MOST_ROWS]):
                yield 0, {"prediction": value, **({"target": wanted[place]} if place < len(wanted) else {})}
            return
        found = next((value for value in lists.values() if value and isinstance(value[0], dict)), [])
    for row in found[:MOST_ROWS] if isinstance(found, list) else ():
        if isinstance(row, dict):
            yield 0, row


def table_rows(text: str) -> Iterable[tuple[int, Mapping[str, object]]]:
    """The rows of a separated table by column, each with its line."""
    first = text.partition("\n")[0]
    separator = max("\t;,|", key=first.count)
    try:
        reader = csv.DictReader(io.StringIO(text), delimiter=separator)
        for place, row in enumerate(reader):
            if place >= MOST_ROWS:
                return
            yield reader.line_num, {str(key).strip().lower(): value for key, value in row.items() if key}
    except csv.Error:
        return


def _columns(path: str, rows: list[tuple[int, Mapping[str, object]]]) -> Predictions | None:
    if not rows:
        return None
    keys = {str(key).lower(): str(key) for key in rows[0][1]}
    column = next((keys[name] for name in _PREDICTED if name in keys), None) or _beside_reference(rows[0][1])
    if column is None:
        return None
    beside = next((keys[name] for name in _WANTED if name in keys and keys[name] != column), None)
    kept = [(number, row) for number, row in rows if isinstance(row.get(column), str | int | float)]
    predicted = tuple(_text(row[column]) for _, row in kept)
    wanted = tuple(_text(row.get(beside)) for _, row in kept) if beside else ()
    lines = tuple(number for number, _ in kept) if kept and kept[0][0] else ()
    return Predictions(path, column, predicted, wanted, lines) if predicted else None


def _beside_reference(row: Mapping[str, object]) -> str | None:
    """The one column of texts beside a reference that is neither a question nor a name: what the model said to it."""
    texts = [str(key) for key, value in row.items() if isinstance(value, str)]
    said = [key for key in texts if key.lower() not in _WANTED and key.lower() not in _GIVEN]
    return said[0] if len(said) == 1 and any(key.lower() in _WANTED for key in texts) else None


def _text(value: object) -> str:
    return "" if value is None else str(value)[:LONGEST]
