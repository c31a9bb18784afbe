"""Operations on tensors: what becomes of their graph, their shape and their meaning."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.program import contractions
from traindx.program.library import dropping, permutations, shapes
from traindx.program.library.creation import JOINED, LIKE, MADE, created, joined, rebuilt
from traindx.program.library.graphs import backward, clears_gradient, mixed
from traindx.program.library.initialising import initialised, nothing_times
from traindx.program.library.tables import KEEPING
from traindx.program.operators import broadcast, product
from traindx.program.ranges import ANY, after_act
from traindx.program.values import (
    LEAF,
    NOTHING,
    Cut,
    Guess,
    Items,
    Library,
    LossTerm,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
    number,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

ACTIVATIONS = {
    "softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "logsigmoid": "log_sigmoid",
    "tanh": "tanh", "relu": "relu", "relu_": "relu", "relu6": "relu", "leaky_relu": "leaky", "gelu": "gelu",
    "elu": "elu", "silu": "silu", "selu": "elu", "softplus": "softplus", "hardtanh": "tanh", "mish": "silu",
    "sigmoid_": "sigmoid", "tanh_": "tanh", "hardsigmoid": "sigmoid", "gumbel_softmax": "softmax", "glu": "glu",
    "prelu": "leaky", "celu": "elu", "logsumexp": "",
}  # fmt: skip
_ODD = frozenset({"relu", "leaky", "tanh", "gelu", "silu", "elu"})
"""activations that make zeros of zeros"""
SQUASHING = frozenset({"sigmoid", "tanh"})
"""activations with next to no gradient on both sides"""
SAME = frozenset(
    [
        "contiguous", "float", "double", "half", "bfloat16", "to", "cuda", "cpu", "clone", "type", "type_as", "int",
        "long", "bool", "requires_grad_", "pin_memory", "retain_grad", "flip", "roll", "byte", "register_hook",
        "masked_fill", "masked_fill_", "index_select", "expand", "expand_as", "sort",
        "as_tensor", "from_numpy", "asarray", "array", "ascontiguousarray", "tensor_split", "nan_to_num", "chunk",
        "split", "unbind", "astype", "copy", "narrow", "index_fill", "rearrange", "dropout", "FloatTensor", "triu",
        "tril", "toarray", "todense", "tocsr", "broadcast_to", "set_", "share_memory_", "checkpoint",
    ]
)  # fmt: skip
GATHERING = frozenset({"gather", "take_along_dim", "take_along_axis"})
ENDS_IN_ONE = "ends-in-one"
"""the mark of a tensor of at least two dimensions, whose last is 1, where the shape is not known"""
FLAT = "flat"
"""the mark of one value for each row, and of what it was combined with element by element"""
_CUTS = {"detach": "`.detach()`", "item": "`.item()`", "numpy": "`.numpy()`", "tolist": "`.tolist()`",
         "argmax": "`argmax`", "argmin": "`argmin`", "round": "`round`", "detach_": "`.detach_()`", "sign": "`sign`",
         "multinomial": "sampling", "sample": "`.sample()`", "topk": "", "ge": "", "floor": "`floor`",
         "ceil": "`ceil`"}  # fmt: skip
_REDUCED = frozenset(["mean", "sum", "max", "min", "norm", "std", "var", "median", "prod", "nanmean", "logsumexp",
                      "amax", "amin", "all", "any", "cumsum", "average", "nansum"])  # fmt: skip
_POINTWISE = frozenset(["log", "log1p", "log2", "log10", "exp", "pow", "sqrt", "abs", "square", "clamp", "clip", "neg",
                        "clamp_min", "clamp_max", "sin", "cos", "tan", "arctan", "atan", "arcsin", "arccos", "sinh",
                        "cosh", "expm1", "exp2", "rsqrt", "reciprocal", "erf", "absolute", "power", "fabs", "deg2rad",
                        "radians", "negative", "nan_to_num_"])  # fmt: skip


def method(m: Machine, owner: Tensor, name: str, call: Call) -> Value | None:
    """`tensor.name(…)`."""
    if name == "backward":
        return backward(m, owner, call)
    if name == "sample" and "table" in owner.marks:
        return permutations.of_table(m, owner, call)
    if name in KEEPING and "table" in owner.marks and name not in SAME and name not in _POINTWISE:
        return owner
    return _operation(m, name, owner, call.args, call)


def function(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """`torch.name(tensor, …)`, `F.name(…)`, `np.name(…)`."""
    root = full.partition(".")[0]
    if root not in {"torch", "numpy", "einops", "jax", "tensorflow", "math", "torchvision"}:
        return None
    if root == "math":
        return None
    if full.startswith("numpy.random."):
        return permutations.numpy_random(m, last, call, Library(full))
    if last == "backward" and call.tensors:
        if full.endswith("distributed.autograd.backward"):
            m.event("zero", call.node, Parameters(NOTHING, False))  # each context has gradients of its own
        return backward(m, call.tensors[0], call)
    if last in MADE or last in LIKE:
        return created(last, call).but(made=m.place(call.node), origin=frozenset({id(call.node)}))
    if last in {"arange", "linspace"}:
        length = whole(call.args[0]) if len(call.args) == 1 else None
        return Tensor(shape=(length,), marks=frozenset({"sorted"}), origin=frozenset({id(call.node)}))
    if last == "meshgrid" and call.tensors:
        sizes = tuple(part.shape[0] if part.shape else None for part in call.tensors)
        return Items([Tensor(shape=sizes if len(set(sizes)) == 1 else (None,) * len(sizes)) for _ in sizes])
    if last in {"eye", "randperm"}:
        if last == "randperm":
            return permutations.drawn(m, call)
        return Tensor(shape=(None, None))
    if last in {"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "asarray", "array", "Tensor"}:
        return rebuilt(m, last, call)
    if last in JOINED:
        return joined(m, last, call)
    if last in {"bernoulli", "load", "normal", "rand"} and not call.tensors:
        return Guess("")
    owner = call.args[0] if call.args else call.keywords.get("input")
    if isinstance(owner, Tensor):
        return _operation(m, last, owner, call.args[1:], call)
    if last == "einsum" and call.tensors:
        return mixed(m, call.tensors, None, contractions.einsum(m, call))
    if call.tensors and last in {"where", "matmul", "bmm", "maximum", "minimum"}:
        shape = next((part.shape for part in call.tensors if part.shape), None)
        return mixed(m, call.tensors, shape if last in {"where", "maximum", "minimum"} else None)
    if isinstance(owner, Guess) and (last in ACTIVATIONS or last in SAME):
        return _operation(m, last, Tensor(), call.args[1:], call)
    return None


def _operation(m: Machine, name: str, owner: Tensor, args: list[Value], call: Call) -> Value | None:
    if _CUTS.get(name):
        return _cut(m, name, owner, args, call)
    if name in ACTIVATIONS and name != "logsumexp":
        return activated(m, ACTIVATIONS[name], owner, call, args)
    if name in SAME:
        return _same(m, name, owner, call)
    if name in GATHERING:
        return _gathered(m, owner, args, call)
    if name in shapes.RESHAPING:
        graph, sure, deps = m.attached([owner])
        shape = shapes.reshaped(name, owner.shape, args, call)
        turned = contractions.flat(owner) if shapes.swaps_two(name, args) else owner.marks
        marks = turned if shapes.keeps_first(name, args, call) else turned - {"batched"}
        marks -= {ENDS_IN_ONE, FLAT, "listed"} | ({"one-out"} if name != "unsqueeze" else NOTHING)
        marks |= {contractions.THREE_AXES} if shapes.has_three_axes(name, args) else NOTHING
        marks |= {ENDS_IN_ONE} if shapes.ends_in_one(name, args, call) else NOTHING
        return owner.but(graph=graph, sure=sure, deps=deps, shape=shape, marks=marks, act_dim=None)
    if name in {"max", "min"} and args and isinstance(args[0], Tensor):
        return mixed(m, [owner, *call.tensors], broadcast(owner, args[0]))
    if name in _REDUCED:
        return _reduced(m, name, owner, args, call)
    if name in {"size", "dim", "numel", "nelement", "stride", "ndimension"}:
        at = whole(args[0]) if args else None
        if name == "size" and not args and owner.shape:
            return Items([Plain(size, "constant" if size is not None else "varies") for size in owner.shape])
        known = (
            owner.shape[at] if owner.shape and at is not None and -len(owner.shape) <= at < len(owner.shape) else None
        )
        return Plain(known, "constant" if known is not None and name == "size" else "varies")
    if name in _POINTWISE:
        return _pointwise(m, name, owner, args, call)
    if name == "linear" and len(args) == 1 and isinstance(args[0], Tensor):
        return mixed(m, [owner, args[0]], None, nothing_times(m, call.node, owner, args[0]))
    if name in {"matmul", "mm", "bmm", "dot", "mv", "__matmul__"}:
        other = args[0] if args else owner
        contractions.product(m, call.node, owner, 3 if name == "bmm" else None)
        contractions.of_one(m, call.node, owner, other)
        marks = contractions.marks_of(owner, other) | nothing_times(m, call.node, owner, other)
        return mixed(m, [owner, *call.tensors], product(owner, other), marks)
    if "gradient" in owner.marks and clears_gradient(name, args):
        m.event("zero", call.node, Parameters(NOTHING, False))
        return owner
    if name in {"add", "sub", "mul", "div", "eq", "lt", "gt", "minimum", "maximum", "add_", "sub_", "mul_", "div_"}:
        if name.endswith("_"):
            m.event("in-place", call.node, owner)
        shape = broadcast(owner, args[0]) if args and isinstance(args[0], Tensor) else owner.shape
        if name in {"eq", "lt", "gt"}:
            return Tensor(shape=shape, dtype="bool", origin=owner.origin)
        kept = owner.marks - {"pixels"} if name in {"div", "div_"} else owner.marks
        made = mixed(m, [owner, *call.tensors], shape)
        return made.but(loss=owner.loss, sign=owner.sign, divided=owner.divided or name in {"div", "div_"}, marks=kept)
    if name == "entropy":
        return mixed(m, [owner, *call.tensors], owner.shape, frozenset({"entropy"}))
    if name == "log_prob":
        return mixed(m, [owner, *call.tensors], owner.shape, frozenset({"logprob"}))
    if name in {"zero_", "fill_", "normal_", "uniform_", "copy_"}:
        m.event("overwritten", call.node, owner)
        initialised(m, name, owner, call, call.args)
        return owner
    if name == "argsort":
        return Tensor(shape=owner.shape, dtype="long", marks=frozenset({"order"}), origin=owner.origin)
    if name in {"repeat_interleave", "repeat"} and not owner.graph:
        kept = owner.marks | ({"in-classes"} if "sorted" in owner.marks or name == "repeat_interleave" else set())
        return owner.but(shape=None, marks=kept)
    if name in {"new_zeros", "new_ones", "new_full", "new_empty"}:
        return created(name, call).but(made=m.place(call.node))
    if name in {"data_ptr", "is_contiguous", "element_size"}:
        return Plain(None, "varies")
    return mixed(m, [owner, *call.tensors], None)


def _gathered(m: Machine, owner: Tensor, args: list[Value], call: Call) -> Tensor:
    """`q.gather(1, action[:, None])`: the shape is that of the index."""
    given = {"index": 1, "indices": 0}
    index = next((call.keywords[name] for name in given if name in call.keywords), None)
    index = index or next((part for part in args if isinstance(part, Tensor)), None)
    graph, sure, deps = m.attached([owner])
    known = index if isinstance(index, Tensor) else Tensor()
    marks = owner.marks - {"one-out", "saved", ENDS_IN_ONE} | (known.marks & {ENDS_IN_ONE})
    return owner.but(graph=graph, sure=sure, deps=deps, shape=known.shape, marks=marks)


def activated(m: Machine, act: str, owner: Tensor, call: Call, args: Sequence[Value] = ()) -> Tensor:
    """A tensor after an activation function."""
    graph, sure, deps = m.attached([owner])
    dim = call.keywords.get("dim", call.keywords.get("axis", args[0] if args else None))
    marks = owner.marks & {"input", "target", "batched", contractions.SCORES, contractions.THREE_AXES}
    if act.startswith("log_"):
        marks |= {"logprob"}
    marks |= owner.marks & {"null"} if act in _ODD else NOTHING
    made = owner.but(graph=graph, sure=sure, deps=deps, act=act, act_at=m.place(call.node), act_dim=whole(dim))
    if act == "softmax":
        marks |= contractions.along_one(owner, whole(dim))
    held = after_act(act, owner.range or ANY)
    made = made.but(marks=marks | ({"saved"} if graph else frozenset()), loss=None, range=held if held.known else None)
    if act in SQUASHING:
        m.event("activation", call.node, owner, act=act, inside=m.in_a_model)
    if act == "relu" and "sunk" in owner.marks and graph:
        m.event("sunken", call.node, owner)
    if act in {"softmax", "log_softmax"}:
        m.event("softmax", call.node, made, before=owner, dim=whole(dim))
    return made


def _same(m: Machine, name: str, owner: Tensor, call: Call) -> Value:
    graph, sure, deps = m.attached([owner])
    made = owner.but(graph=graph, sure=sure, deps=deps, marks=owner.marks - {"saved"})
    if name in {"chunk", "split", "unbind", "tensor_split"}:
        at = whole(call.keywords.get("dim", call.args[1] if len(call.args) > 1 else None)) or 0
        shape = made.shape
        if shape is not None and -len(shape) <= at < len(shape):
            shape = tuple(None if place == at % len(shape) else size for place, size in enumerate(shape))
            shape = shape if name != "unbind" else tuple(s for place, s in enumerate(shape) if place != at % len(shape))
        return Stream(made.but(shape=shape).marked("window" if at == 1 else "part"), owner)
    if name == "requires_grad_" and not owner.graph:
        return made.but(graph=LEAF).marked("leaf")
    given = next((arg for arg in [*call.args, call.keywords.get("dtype")] if arg is not None), None)
    kind = getattr(given, "name", "").rpartition(".")[2] if given is not None else ""
    dtype = {"float": "float", "long": "long", "int": "long", "bool": "bool", "byte": "uint8"}.get(name, "")
    dtype = dtype or {
        "uint8": "uint8",
        "float32": "float",
        "int64": "long",
        "long": "long",
        "int": "long",
        "int32": "long",
    }.get(kind, made.dtype)
    if name in {"expand", "expand_as", "broadcast_to"}:
        made = made.but(shape=shapes.expanded(name, made.shape, call))
    if dtype in {"uint8", "long"} and "unit" in made.marks and name in {"astype", "to", "byte", "int", "long", "type"}:
        m.event("truncated", call.node, owner)
    if dtype == "uint8":
        made = made.but(marks=made.marks - {"unit"}).marked("pixels")
    if name == "sort":
        made = made.but(marks=made.marks - {"affine"}).marked("sorted")
    if name.endswith("dropout"):
        dropping.functional(m, owner, call)
    if name in {"float", "astype", "to"} and dtype == "float" and "pixels" in made.marks:
        made = made.but(made=m.place(call.node))
    return made.but(dtype=dtype)


def _cut(m: Machine, name: str, owner: Tensor, args: list[Value], call: Call) -> Value:
    place = m.place(call.node)
    if name == "detach_":
        made = owner.but(graph=NOTHING, deps=NOTHING, sure=True)
        _rebind(m, call, made)
        return made
    if name in {"item", "tolist", "numpy"}:
        m.event("sync", call.node, owner, name=name)
    if name == "argmax":
        dim = call.keywords.get("dim", call.keywords.get("axis", args[0] if args else None))
        m.event("argmax", call.node, owner, dim=whole(dim))
    cut = Cut(_CUTS[name], place) if owner.graph or name != "detach" else owner.cut
    if owner.deps:
        m.event("cut", call.node, owner, by=_CUTS[name])
    shape = () if name == "item" else owner.shape
    if name in {"argmax", "argmin"}:
        shape = owner.shape[:-1] if owner.shape else None
    loss = owner.loss if name in {"detach", "item"} else None
    return Tensor(
        shape=shape,
        cut=cut,
        states=owner.states,
        origin=owner.origin,
        order=owner.order,
        loss=loss,
        act=owner.act if name in {"detach", "numpy"} else "",
        act_at=owner.act_at,
        marks=owner.marks | ({"detached"} if owner.graph else NOTHING),
    )


def _rebind(m: Machine, call: Call, value: Tensor) -> None:
    """Methods that work in place change what their owner's name holds."""
    from traindx.program import binding

    func = call.node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name | ast.Attribute | ast.Subscript):
        binding.bind(m, func.value, value, call.node)
        _in_its_list(m, func.value)


def _in_its_list(m: Machine, name: ast.expr) -> None:
    """`for part in state: part.detach_()`: what the list holds changes with it."""
    from traindx.program.expressions import evaluate

    loop = m.turns[-1].loop.node if m.turns else None
    if not isinstance(loop, ast.For) or not isinstance(name, ast.Name) or not isinstance(loop.target, ast.Name):
        return
    held = (
        evaluate(m, loop.iter)
        if loop.target.id == name.id and isinstance(loop.iter, ast.Name | ast.Attribute)
        else None
    )
    if isinstance(held, Items):
        cut = [part.but(graph=NOTHING, deps=NOTHING) if isinstance(part, Tensor) else part for part in held.items]
        m.journal.put(held, "items", cut)


def _reduced(m: Machine, name: str, owner: Tensor, args: list[Value], call: Call) -> Value:
    graph, sure, deps = m.attached([owner])
    dim = call.keywords.get("dim", call.keywords.get("axis", args[0] if args else None))
    shape = shapes.reduced(owner.shape, dim, call)
    if name == "sum":
        contractions.summed(m, call.node, owner, whole(dim))
    keeps = owner.act in {"linear", "log_softmax"} and name in {"mean", "sum"}
    gone = {"zeros", "unit"} | (set() if name in {"mean", "sum"} else {"affine"})
    gone |= set() if whole(dim) not in {0, None} else {"batched"}
    made = owner.but(
        graph=graph, sure=sure, deps=deps, shape=shape, act=owner.act if keeps else "", marks=owner.marks - gone
    )
    if name in {"mean", "std", "var", "max", "min"} and not graph:
        made = made.marked("statistic")
    keep = call.keywords.get("keepdim", call.keywords.get("keepdims"))
    if keep is None and (len(shape) == 1 if shape is not None else owner.act == "linear") and whole(dim) == 1:
        made = made.marked(FLAT)  # one value for each row; of a linear layer's output, over its units
    if name in {"max", "min"} and dim is not None:
        m.event("argmax", call.node, owner, dim=whole(dim))
        index = Tensor(shape=shape, dtype="long", cut=Cut("`argmax`", m.place(call.node)) if graph else None)
        return Items([made, index])
    if name in {"mean", "sum"} and graph and shape == () and owner.marks & {"squared-difference", "nll"}:
        kind = "mse" if "squared-difference" in owner.marks else "nll"
        made = made.but(loss=LossTerm(kind, m.place(call.node), owner, Plain(None)))
    return made


def _pointwise(m: Machine, name: str, owner: Tensor, args: list[Value], call: Call) -> Value:
    made = mixed(m, [owner, *call.tensors], owner.shape)
    marks = owner.marks & {"input", "target", "pixels"}
    if name == "log" and owner.act in {"softmax", "sigmoid"}:
        return made.but(act=f"log_{owner.act}", act_at=m.place(call.node), marks=marks | {"logprob"})
    if name in {"clamp", "clip", "clamp_min"}:
        least = args[0] if args else call.keywords.get("min")
        if number(least) == 0 and len(args) < 2 and "max" not in call.keywords:
            return activated(m, "relu", owner, call)
        return made.but(
            act=owner.act, act_at=owner.act_at, loss=owner.loss, sign=owner.sign, marks=owner.marks - {"affine"}
        )
    if name == "neg":
        return owner.but(sign=-owner.sign, graph=made.graph, sure=made.sure, deps=made.deps)
    if name in {"exp", "sqrt", "rsqrt", "reciprocal", "exp2"} and made.graph:
        marks |= {"saved"}  # their backward needs what they gave
    if name == "exp" and "log-ratio" in owner.marks:
        return made.but(marks=marks | {"ratio"})
    if name == "exp" and owner.act.startswith("log_"):
        return made.but(act=owner.act[4:], act_at=owner.act_at)
    if name in {"square"} or (name == "pow" and args and (number(args[0]) or 0) == 2):
        return made.but(marks=marks | {"squared-difference" if "difference" in owner.marks else "squared"})
    if name == "sqrt":
        return made.but(loss=owner.loss, sign=owner.sign, act="sqrt", act_at=m.place(call.node), marks=marks)
    if name in {"exp", "rsqrt", "reciprocal", "exp2"}:
        return made.but(act=name, act_at=m.place(call.node), marks=marks, loss=None)
    return made.but(marks=marks | ({"logprob"} if name == "log" else frozenset()), loss=None)
