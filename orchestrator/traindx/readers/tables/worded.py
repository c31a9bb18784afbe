"""Texts with a label beside each: in separated tables, in JSON lines, in a list of JSON objects; in bounded memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from traindx.readers.tables.predictions import json_lines, table_rows
from traindx.vocabulary.data_names import is_label

if TYPE_CHECKING:
    from traindx.readers.run import Run

MOST_ROWS = 20_000
MOST_BYTES = 16 << 20
MOST_FILES = 24
MOST_CLASSES = 100
FEWEST_ROWS = 60
_ROLES = {"data", "config", "other", "metrics"}
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


@dataclass(frozen=True)
class Worded:
    """The texts of one file, each with its label."""

    path: str
    text: str
    label: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    lines: tuple[int, ...]
    """line of each row; empty where the file has none"""


def read_worded(run: Run, targets: Collection[str] = ()) -> list[Worded]:
    """Every file that has a column of texts beside a column of classes; `targets` are labels by other names."""
    found: list[Worded] = []
    files = [file for file in run.files if file.role in _ROLES and file.path.lower().endswith(_ENDINGS)]
    for file in [file for file in files if file.size <= MOST_BYTES][:MOST_FILES]:
        with run.scope.open(file.path) as handle:
            text = handle.read(MOST_BYTES).decode("utf-8", "replace")
        rows = _rows(PurePosixPath(file.path).suffix.lower(), text)
        told = _worded(file.path, rows, targets) if len(rows) >= FEWEST_ROWS else None
        told = replace(told, lines=_lines_of(told.texts, text)) if told is not None and not told.lines else told
        found += [told] if told is not None else []
    return found


def _rows(ending: str, text: str) -> list[tuple[int, Mapping[str, object]]]:
    if ending in {".csv", ".tsv"}:
        return list(table_rows(text))
    if ending != ".json":
        return list(json_lines(text))
    if text.lstrip()[:1] != "[":
        return []
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [(0, row) for row in listed[:MOST_ROWS] if isinstance(row, dict)]


def _worded(path: str, rows: list[tuple[int, Mapping[str, object]]], targets: Collection[str]) -> Worded | None:
    names = [str(name) for name in rows[0][1]]
    columns = {name: [row.get(name) for _, row in rows] for name in names}
    label = next((name for name in names if (is_label(name) or name in targets) and _is_classes(columns[name])), None)
    text = next((name for name in names if name != label and _is_text(columns[name])), None)
    if label is None or text is None:
        return None
    lines = tuple(number for number, _ in rows) if rows[0][0] else ()
    return Worded(path, text, label, tuple(map(str, columns[text])), tuple(map(str, columns[label])), lines)


def _lines_of(texts: tuple[str, ...], raw: str) -> tuple[int, ...]:
    """The lines in which texts stand that follow each other in a list of JSON objects; none where one is not found."""
    found: list[int] = []
    line, after = 1, 0
    for text in texts:
        spelled = (raw.find(json.dumps(text, ensure_ascii=ascii_only), after) for ascii_only in (True, False))
        at = next((place for place in spelled if place >= 0), -1)
        if at < 0:
            return ()
        line += raw.count("\n", after, at)
        found.append(line)
        after = at
    return tuple(found)


def _is_classes(values: list[object]) -> bool:
    return all(isinstance(value, str | int) for value in values) and 2 <= len(set(values)) <= MOST_CLASSES


def _is_text(values: list[object]) -> bool:
    """Whether most values are different texts of several words."""
    if not all(isinstance(value, str) for value in values):
        return False
    words = sorted(len(str(value).split()) for value in values)
    return words[len(words) // 2] >= 3 and Counter(values).most_common(1)[0][1] < 0.1 * len(values)
