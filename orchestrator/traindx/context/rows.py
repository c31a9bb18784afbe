"""Checkpoints, data, code and commit, each in one row of the context package."""

from __future__ import annotations

from traindx.artifacts import Run
from traindx.artifacts.tables.arrays import ArrayInfo
from traindx.artifacts.tables.datatables import TableInfo
from traindx.contract import CheckpointSummary, CodeState, CodeSummary, DataSummary
from traindx.contract.context import ClusterSummary

MOST = 50


def checkpoint_rows(run: Run) -> list[CheckpointSummary]:
    """Every checkpoint."""
    weights = run.weights
    return [
        CheckpointSummary(
            path=row.path,
            format=row.format,
            size=row.size,
            tensors=len(row.tensors),
            parameters=row.parameters,
            scalars=dict(list(row.scalars.items())[:20]),
            unsafe=list(row.unsafe),
            problems=[*row.problems, *weights[row.path].problems] if row.path in weights else list(row.problems),
            not_finite=[str(spoilt) for spoilt in weights[row.path].spoilt[:20]] if row.path in weights else [],
        )
        for row in run.checkpoints[:MOST]
    ]


def data_rows(run: Run) -> list[DataSummary]:
    """Every array and table of samples."""
    arrays = [DataSummary(path=_member(row), what=_array(row), not_finite=row.not_finite) for row in run.arrays]
    tables = [
        DataSummary(path=row.path, what=_table(row), not_finite=sum(column.missing for column in row.columns))
        for row in run.tables
    ]
    return [*arrays, *tables][:MOST]


def code_rows(run: Run) -> list[CodeSummary]:
    """Every code file, what it is for, and whether the entry point reaches it."""
    return [CodeSummary(path=row.path, roles=sorted(row.roles), reached=row.reached) for row in run.code[: 4 * MOST]]


def cluster_rows(run: Run) -> list[ClusterSummary]:
    """Every log that tells of ranks, a job or a launcher."""
    return [
        ClusterSummary(
            path=row.path,
            rank=row.rank.number if row.rank else None,
            kind=row.rank.kind if row.rank else "",
            ranks=list(row.ranks),
            job=row.job,
            launchers=list(row.launchers),
        )
        for row in run.cluster[:MOST]
    ]


def git_rows(run: Run) -> list[CodeState]:
    """Every commit the folder tells of."""
    return [
        CodeState(commit=row.commit, branch=row.branch, dirty=row.dirty, source=row.source) for row in run.git[:MOST]
    ]


def _member(row: ArrayInfo) -> str:
    return f"{row.path}[{row.member}]" if row.member else row.path


def _array(row: ArrayInfo) -> str:
    if row.problem:
        return row.problem
    shape = "x".join(map(str, row.shape)) or "scalar"
    between = "" if row.low is None or row.high is None else f", {row.low:.4g} to {row.high:.4g}, mean {row.mean:.4g}"
    bad = f", {row.not_finite} not finite" if row.not_finite else ""
    return f"{shape} {row.dtype}{between}{bad}"


def _table(row: TableInfo) -> str:
    missing = [f"{column.name}: {column.missing} missing" for column in row.columns if column.missing]
    names = ", ".join(column.name for column in row.columns[:8])
    more = f" and {len(row.columns) - 8} more" if len(row.columns) > 8 else ""
    rows = f"{row.rows:,} rows" if row.whole else f"the first {row.rows:,} rows"
    return "; ".join([f"{rows} of {names}{more}", *missing[:4]])
