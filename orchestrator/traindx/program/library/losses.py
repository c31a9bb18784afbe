"""Loss functions, and what goes into them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.library.precision import is_half
from traindx.program.values import Function, Items, Layer, Library, LossTerm, Made, Plain, Tensor, Value, text
from traindx.readers.code.syntax import name_of

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

CLASSES = {
    "CrossEntropyLoss": "cross_entropy", "BCELoss": "bce", "BCEWithLogitsLoss": "bce_logits", "NLLLoss": "nll",
    "MSELoss": "mse", "L1Loss": "l1", "SmoothL1Loss": "smooth_l1", "HuberLoss": "smooth_l1", "KLDivLoss": "kl",
    "CTCLoss": "ctc", "MultiLabelSoftMarginLoss": "bce_logits", "TripletMarginLoss": "triplet",
    "CosineEmbeddingLoss": "cosine", "MarginRankingLoss": "ranking", "HingeEmbeddingLoss": "hinge",
    "MultiMarginLoss": "multi_margin", "GaussianNLLLoss": "gaussian", "PoissonNLLLoss": "poisson",
    "SoftMarginLoss": "soft_margin", "TripletMarginWithDistanceLoss": "triplet",
}  # fmt: skip
FUNCTIONS = {
    "cross_entropy": "cross_entropy", "binary_cross_entropy": "bce", "binary_cross_entropy_with_logits": "bce_logits",
    "nll_loss": "nll", "mse_loss": "mse", "l1_loss": "l1", "smooth_l1_loss": "smooth_l1", "huber_loss": "smooth_l1",
    "kl_div": "kl", "ctc_loss": "ctc", "triplet_margin_loss": "triplet",
    "triplet_margin_with_distance_loss": "triplet", "cosine_embedding_loss": "cosine",
    "gaussian_nll_loss": "gaussian", "poisson_nll_loss": "poisson", "multi_margin_loss": "multi_margin",
    "sigmoid_focal_loss": "bce_logits",
}  # fmt: skip


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A loss of torch: an object that is called later, or the function itself."""
    if not full.startswith("torch"):
        return None
    if last in CLASSES:
        return Made(
            kind=f"loss {CLASSES[last]}", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node)
        )
    if last in FUNCTIONS:
        made = Made(kind=f"loss {FUNCTIONS[last]}", keywords=call.keywords, place=m.place(call.node))
        return apply(m, made, call)
    return None


def apply(m: Machine, made: Made, call: Call) -> Value:
    """The loss of a prediction against a target."""
    prediction = call.argument(0, "input")
    target = call.argument(1, "target")
    kind = made.kind.partition(" ")[2]
    parts = [part for part in (prediction, target) if isinstance(part, Tensor)]
    parts += [part for part in call.tensors if part not in parts]
    graph, sure, deps = m.attached(parts)
    reduction = text(made.keywords.get("reduction"))
    shape = () if reduction != "none" else (prediction.shape if isinstance(prediction, Tensor) else None)
    term = LossTerm(kind, m.place(call.node), prediction or Plain(None), target or Plain(None))
    near = made.keywords.get("distance_function")
    if near is not None and measures_likeness(near):
        m.event("likeness-as-distance", made.place.node if made.place is not None else call.node, made, function=near)
        m.trace.events[-1].place = made.place or m.place(call.node)
    m.event("loss", call.node, made, kind=kind, prediction=prediction, target=target, reduction=reduction)
    cut = next((part.cut for part in parts if part.cut), None) if not graph else None
    marks = frozenset({"summed"}) if reduction == "sum" else frozenset[str]()
    if any(is_half(context) for context in m.autocast):
        marks |= {"half"}
    return Tensor(graph=graph, sure=sure, deps=deps, shape=shape, loss=term, cut=cut, marks=marks)


def measures_likeness(function: Value) -> bool:
    """Whether a function grows with how alike two things are: cosine similarity, as it is or behind a lambda."""
    if isinstance(function, Library):
        return function.name.rpartition(".")[2] == "cosine_similarity"
    if isinstance(function, Layer):
        return function.kind == "CosineSimilarity"
    if isinstance(function, Function):
        body = function.node.body
        last = body if isinstance(body, ast.expr) else body[-1].value if isinstance(body[-1], ast.Return) else None
        return isinstance(last, ast.Call) and name_of(last.func) == "cosine_similarity"
    return False


def is_loss(value: Value) -> bool:
    """Whether a value came out of a loss function."""
    if isinstance(value, Items):
        return any(is_loss(part) for part in value.items)
    return isinstance(value, Tensor) and value.loss is not None
