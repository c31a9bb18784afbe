"""Reading one file of a role: which reader fits its content, and what it remarks."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import PurePosixPath
from typing import BinaryIO

from traindx.readers import checkpoints
from traindx.readers.checkpoints import Checkpoint
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.configs.pairs import launch_options
from traindx.readers.configs.values import is_secret
from traindx.readers.faults import Remarks
from traindx.readers.folder.recognise import recognise
from traindx.readers.ledger import Ledger
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.logsettings import read_log_settings
from traindx.readers.logs.textlog import read_log
from traindx.readers.model import LogError, RunFile, Series, Setting, is_shell
from traindx.readers.tables import arrays, datatables, table
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.datatables import TableInfo
from traindx.readers.tables.jsontable import read_json_table
from traindx.readers.tables.parquet import read_parquet
from traindx.readers.tables.parquettable import read_parquet_table
from traindx.runtime.scope import Scope

_HEAD = 16 << 10
_LARGEST_SHELL = 256 << 10
_PICKLES = frozenset({".pkl", ".pickle", ".p", ".joblib"})
_TABLES = {
    ".csv": datatables.read_data_table,
    ".tsv": datatables.read_data_table,
    ".jsonl": read_json_table,
    ".ndjson": read_json_table,
    ".parquet": read_parquet_table,
}
FIRST_RECORDS = 3
"""records of a history in which a run may print its settings"""


def table_series(handle: BinaryIO, file: RunFile, remark: Remarks, ledger: Ledger) -> list[Series]:
    """The series of a table or history, whatever form it has."""
    content = recognise(handle.read(_HEAD))
    handle.seek(0)
    allowance = ledger.bytes_of(file, "series")
    if content == "jsonl":
        return table.read_jsonl(handle, file.path, remark, allowance)
    if content != "json":
        return read_csv(handle, file.path, remark, allowance=allowance)
    series, trouble = table.read_json(handle, file.path)
    if trouble:
        remark(f"`{file.path}`: {trouble}")
    return series


def parquet_series(handle: BinaryIO, file: RunFile, remark: Remarks) -> list[Series]:
    """The series of a history in Parquet."""
    return remark.said(read_parquet(handle, file.path)) if file.path.lower().endswith(".parquet") else []


def notebook_series(unit: CodeUnit, remark: Remarks) -> list[Series]:
    """The series that the cells of a notebook printed."""
    import numpy as np

    if unit.notebook is None:
        return []
    text, places = unit.notebook.log()
    found = remark.said(read_log(io.BytesIO(text), unit.path))
    return [replace(row, lines=np.array([places[line - 1] for line in row.lines], np.int64)) for row in found]


def notebook_errors(unit: CodeUnit) -> list[LogError]:
    """The errors that the cells of a notebook printed."""
    if unit.notebook is None:
        return []
    text, places = unit.notebook.log()
    return [
        replace(
            row,
            line=places[row.line - 1],
            follows=places[row.follows - 1] if row.follows else 0,
            last_line=row.last_line and places[row.last_line - 1],
        )
        for row in read_errors(io.BytesIO(text), unit.path)
    ]


def first_settings(handle: BinaryIO, file: RunFile) -> list[Setting]:
    """Settings in the first records of a history with one JSON object per line."""
    if not file.path.endswith((".jsonl", ".ndjson")):
        return []
    return [row for row in read_log_settings(handle, file.path) if row.line <= FIRST_RECORDS]


def launch_settings(scope: Scope, file: RunFile) -> list[Setting]:
    """The options that a launch script gives: `srun python train.py --lr 0.2`."""
    if file.role != "code" or not is_shell(file.path) or file.size > _LARGEST_SHELL:
        return []
    with scope.open(file.path) as handle:
        text = handle.read(_LARGEST_SHELL).decode("utf-8", "replace")
    return [
        Setting(key, value, file.path, line) for key, value, line in launch_options(text) if not is_secret(key, value)
    ]


def checkpoint(scope: Scope, handle: BinaryIO, file: RunFile, remark: Remarks) -> list[Checkpoint]:
    """The description of a checkpoint, or of all parts of one that is split."""
    head = handle.read(_HEAD)
    handle.seek(0)
    if checkpoints.is_index(file.path, head):
        found, remarks = checkpoints.read_sharded(scope, file.path)
    else:
        found, remarks = checkpoints.read_checkpoint(handle, file.path)
    return remark.said(([found], remarks))


def array_ranges(handle: BinaryIO, file: RunFile, remark: Remarks, ledger: Ledger) -> list[ArrayInfo]:
    """The arrays of a file of NumPy's; of a pickle only what would be dangerous to load."""
    ending = PurePosixPath(file.path).suffix.lower()
    if ending in _PICKLES:
        return remark.said(([], checkpoints.dangers(handle, file.path)))
    read = {".npy": arrays.read_npy, ".npz": arrays.read_npz}.get(ending)
    allowance = ledger.allowance("data", "arrays", "values", file.path)
    return remark.said(read(handle, file.path, allowance)) if read else []


def pickled_data(handle: BinaryIO, file: RunFile) -> list[Checkpoint]:
    """What a pickle among the data would build."""
    if PurePosixPath(file.path).suffix.lower() not in _PICKLES:
        return []
    return [checkpoints.read_checkpoint(handle, file.path)[0]]


def sample_table(handle: BinaryIO, file: RunFile, remark: Remarks, ledger: Ledger) -> list[TableInfo]:
    """The columns of a table of samples."""
    read = _TABLES.get(PurePosixPath(file.path).suffix.lower())
    if read is None:
        return []
    allowance = ledger.allowance("data", "data tables", "rows", file.path)
    found, remarks = read(handle, file.path, allowance)
    return remark.said(([found] if found else [], remarks))
