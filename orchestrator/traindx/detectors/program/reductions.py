"""Where a reconstruction is averaged over every element while the KL term beside it is summed over the latents."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_code
from traindx.program.meanings import is_negative_kl
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_FUNCTIONS = {
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "gaussian_nll_loss", "poisson_nll_loss",
}  # fmt: skip
_CLASSES = {"MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss", "GaussianNLLLoss"}
_DIVERGENCES = {"kl_divergence", "kl_div"}


def cited(code: Sequence[CodeUnit]) -> list[Citation]:
    """The two lines: the reconstruction first; none where they are not written in one file, or not so."""
    for unit in code:
        if unit.names.isdisjoint(_FUNCTIONS | _CLASSES | {"pow", "square", "mean"}):
            continue
        around = {id(child): node for node in all_nodes(unit.tree) for child in ast.iter_child_nodes(node)}
        summed = next(
            (node for node in all_nodes(unit.tree) if _is_divergence(node) and _is_summed(node, around)), None
        )
        if summed is None:
            continue
        here = _function(summed, around)
        averaged = [node for node in all_nodes(unit.tree) if _is_averaged(node, around)]
        close = [node for node in averaged if _function(node, around) is here] or (
            averaged if len(averaged) == 1 else []
        )
        if close:
            rows = [
                (close[0], "the reconstruction is averaged over every element of the input"),
                (summed, "the KL term is summed over the latents"),
            ]
            return [cite_code(unit, _line(node), claim) for node, claim in rows]
    return []


def _is_divergence(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return name_of(node.func) in _DIVERGENCES
    return isinstance(node, ast.BinOp) and is_negative_kl(node)


def _is_summed(node: ast.AST, around: dict[int, ast.AST]) -> bool:
    """Whether the first reduction around a term adds up: over its latents, before anything is averaged."""
    for one in _outwards(node, around):
        if isinstance(one, ast.Call) and name_of(one.func) in {"sum", "mean", "reduce_sum", "reduce_mean"}:
            return name_of(one.func).endswith("sum")
    return False


def _is_averaged(node: ast.AST, around: dict[int, ast.AST]) -> bool:
    """Whether a loss is averaged over everything, and what stands around it does not scale that up again."""
    if not isinstance(node, ast.Call) or name_of(node.func) not in _FUNCTIONS | _CLASSES:
        return False
    told = next((row.value for row in node.keywords if row.arg == "reduction"), None)
    mean = told is None or (isinstance(told, ast.Constant) and told.value == "mean")
    old = any(row.arg in {"size_average", "reduce", None} for row in node.keywords)
    scaled = any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) for one in _outwards(node, around))
    return mean and not old and not scaled


def _outwards(node: ast.AST, around: dict[int, ast.AST]) -> Iterator[ast.AST]:
    """What stands around an expression, up to its statement."""
    found = around.get(id(node))
    while found is not None and not isinstance(found, ast.stmt):
        yield found
        found = around.get(id(found))


def _function(node: ast.AST, around: dict[int, ast.AST]) -> ast.AST | None:
    found = around.get(id(node))
    while found is not None and not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
        found = around.get(id(found))
    return found


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)
