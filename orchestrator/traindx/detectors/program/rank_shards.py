"""Where a program gives each rank its own share of the data: shares of different length end at different steps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

MOST = 2
_RANK = re.compile(r"(?:^|_)rank(?:$|_)|process_index|replica_id")
_SHARING = {"split_dataset_by_node", "shard", "split_by_node", "nodesplitter", "islice"}


def detect(code: Sequence[CodeUnit]) -> list[Citation]:
    """The lines that share the data out by rank, however it is written."""
    claim = "each rank gets its own share of the data here"
    return [cite_code(unit, line, claim) for unit in code for line in _lines(unit.tree)][:MOST]


def _lines(tree: ast.Module) -> Iterator[int]:
    for node in all_nodes(tree):
        strided = isinstance(node, ast.Slice) and node.lower is not None and node.step is not None
        shared = isinstance(node, ast.Call) and name_of(node.func) in _SHARING
        dealt = isinstance(node, ast.Compare) and any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(node)
        )
        if (strided or shared or dealt) and _speaks_of_rank(node):
            yield node.lineno  # type: ignore[attr-defined]


def _speaks_of_rank(node: ast.AST) -> bool:
    return any(_RANK.search(name_of(part).lower()) for part in ast.walk(node))
