"""Shapes of tensors, as far as they are known: None for a size that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.values import Items, Library, Plain, Shape, Tensor, Value, text, whole

if TYPE_CHECKING:
    from traindx.program.calling import Call

RESHAPING = frozenset(
    ["view", "reshape", "squeeze", "unsqueeze", "flatten", "permute", "transpose", "t", "movedim", "unflatten",
     "squeeze_", "unsqueeze_", "expand_dims", "ravel", "swapaxes", "view_as", "reshape_as"]
)  # fmt: skip


def of_sizes(value: Value | None) -> Shape | None:
    """A shape from a tuple of sizes."""
    if isinstance(value, Items) and not value.more:
        return tuple(whole(part) for part in value.items)
    if isinstance(value, Plain) and isinstance(value.value, int):
        return (whole(value),)
    return None


def given(call: Call, skip: int = 0) -> Shape | None:
    """The shape that `zeros(3, 4)` or `zeros((3, 4))` asks for."""
    # NumPy takes the type of the elements as an argument without a name: `zeros(n, np.int64)`.
    args = [part for part in call.args[skip:] if not isinstance(part, Library) and not text(part)]
    sizes = call.keywords.get("size", call.keywords.get("shape"))
    if sizes is not None and not args:
        return of_sizes(sizes)
    if len(args) == 1 and isinstance(args[0], Items):
        return of_sizes(args[0])
    if not args or any(isinstance(part, Tensor) for part in args):
        return None
    return tuple(whole(part) for part in args)


_SIZE_AT = {
    "uniform": 2, "normal": 2, "binomial": 2, "beta": 2, "gamma": 2, "laplace": 2, "logistic": 2, "gumbel": 2,
    "lognormal": 2, "vonmises": 2, "integers": 2, "randint": 2, "exponential": 1, "poisson": 1, "rayleigh": 1,
    "standard_gamma": 1, "choice": 1, "geometric": 1, "chisquare": 1, "random": 0, "random_sample": 0,
    "standard_normal": 0, "standard_exponential": 0,
}  # fmt: skip
"""where NumPy's random functions take the shape of what they draw"""


def drawn(name: str, call: Call) -> Shape | None:
    """The shape of what a random function of NumPy draws: () for a single number."""
    if name in {"rand", "randn"}:
        return given(call) if call.args else ()
    at = _SIZE_AT.get(name)
    if at is None:
        return None
    size = call.argument(at, "size")
    if isinstance(size, Items | Plain):
        return of_sizes(size) if not isinstance(size, Plain) or size.value is not None else (None,)
    if size is not None:
        return (None,)
    # Parameters that are arrays themselves give as many numbers.
    arrays = [part.shape for part in call.args[:at] if isinstance(part, Tensor)]
    return () if not arrays else next((shape for shape in arrays if shape), None)


def reduced(shape: Shape | None, dim: Value | None, call: Call) -> Shape | None:
    """The shape after a sum or a mean."""
    keep = call.keywords.get("keepdim", call.keywords.get("keepdims"))
    kept = isinstance(keep, Plain) and keep.value is True
    if dim is None:
        return ()
    if shape is None:
        return None
    dims = [whole(part) for part in dim.items] if isinstance(dim, Items) else [whole(dim)]
    if any(part is None or not -len(shape) <= part < len(shape) for part in dims):
        return None
    places = {part % len(shape) for part in dims if part is not None}
    if kept:
        return tuple(1 if at in places else size for at, size in enumerate(shape))
    return tuple(size for at, size in enumerate(shape) if at not in places)


def reshaped(name: str, shape: Shape | None, args: list[Value], call: Call) -> Shape | None:
    """The shape after `view`, `squeeze`, `transpose` and their like."""
    if name in {"view", "reshape"}:
        sizes = args[0].items if len(args) == 1 and isinstance(args[0], Items) else args
        return tuple(_size(part) for part in sizes) if sizes else None
    if name in {"view_as", "reshape_as"}:
        other = args[0] if args else None
        return other.shape if isinstance(other, Tensor) else None
    if name == "ravel":
        return (None,)
    first = whole(call.keywords.get("dim", args[0] if args else None))
    if name in {"squeeze", "squeeze_"}:
        return _squeezed(shape, first, bool(args) or "dim" in call.keywords)
    if shape is None:
        return None
    if name in {"unsqueeze", "unsqueeze_", "expand_dims"} and first is not None:
        at = first if first >= 0 else len(shape) + 1 + first
        return (*shape[:at], 1, *shape[at:])
    if name == "flatten":
        return _flattened(shape, args, call)
    if name == "t":
        return tuple(reversed(shape))
    if name in {"permute", "transpose", "swapaxes"}:
        return _moved(name, shape, args)
    return None


def ends_in_one(name: str, args: list[Value], call: Call) -> bool:
    """Whether a dimension of one is put in behind the first or the last: `unsqueeze(1)`, `unsqueeze(-1)`."""
    added = name in {"unsqueeze", "unsqueeze_", "expand_dims"}
    return added and whole(call.keywords.get("dim", args[0] if args else None)) in {1, -1}


def swaps_two(name: str, args: list[Value]) -> bool:
    """Whether a matrix is turned: `t()`, or the first two axes change places."""
    return name == "t" or (name in {"transpose", "swapaxes"} and {whole(part) for part in args} == {0, 1})


def has_three_axes(name: str, args: list[Value]) -> bool:
    """Whether only a tensor of three axes or more can be turned so: `transpose(1, 2)`, `permute(0, 2, 1)`."""
    if name == "permute":
        return len(args) > 2
    places = [whole(part) for part in args]
    return name in {"transpose", "swapaxes"} and any(at is not None and (at > 1 or at < -2) for at in places)


def keeps_first(name: str, args: list[Value], call: Call) -> bool:
    """Whether the first dimension is still the first afterwards."""
    first = whole(call.keywords.get("dim", call.keywords.get("start_dim", args[0] if args else None)))
    if name in {"squeeze", "unsqueeze", "flatten", "expand_dims"}:
        return first is not None and first != 0
    if name in {"permute", "movedim", "rearrange"}:
        return name == "permute" and first == 0
    if name in {"transpose", "swapaxes"}:
        return all(whole(part) not in {0, None} for part in args)
    return name in {"view", "reshape"} and first is None and bool(args) and isinstance(args[0], Plain)


def _size(part: Value) -> int | None:
    size = whole(part)
    return None if size is None or size < 0 else size


def _squeezed(shape: Shape | None, dim: int | None, given_dim: bool) -> Shape | None:
    if shape is None:
        return None
    if given_dim:
        if dim is None or not -len(shape) <= dim < len(shape):
            return None
        return tuple(size for at, size in enumerate(shape) if at != dim % len(shape) or size not in {1, None})
    return tuple(size for size in shape if size != 1)


def _flattened(shape: Shape, args: list[Value], call: Call) -> Shape | None:
    start = call.keywords.get("start_dim", args[0] if args else Plain(0))
    end = call.keywords.get("end_dim", args[1] if len(args) > 1 else Plain(-1))
    first, last = whole(start), whole(end)
    return merged(shape, first, last) if first is not None and last is not None else None


def merged(shape: Shape, start: int, end: int) -> Shape | None:
    """The shape after the dimensions from one to another have become one."""
    size = len(shape)
    if not (-size <= start < size and -size <= end < size):
        return (None,) if not size else None
    first, last = start % size, end % size
    if first >= last:
        return shape
    middle: int | None = 1
    for part in shape[first : last + 1]:
        middle = None if part is None or middle is None else middle * part
    return (*shape[:first], middle, *shape[last + 1 :])


def expanded(name: str, shape: Shape | None, call: Call) -> Shape | None:
    """The shape after `expand(3, -1, 4)`, `expand_as(other)`: -1 keeps a size, new dimensions come in front."""
    args = [part for part in call.args if part is not call.args[0]] if name == "broadcast_to" else call.args
    if name == "expand_as":
        other = args[0] if args else None
        return other.shape if isinstance(other, Tensor) else None
    sizes = args[0].items if len(args) == 1 and isinstance(args[0], Items) else args
    if shape is None or len(sizes) < len(shape):
        return None
    before: Shape = (*[None] * (len(sizes) - len(shape)), *shape)
    return tuple(old if whole(new) == -1 else _size(new) for old, new in zip(before, sizes, strict=True))


def _moved(name: str, shape: Shape, args: list[Value]) -> Shape | None:
    dims = [whole(part) for part in (args[0].items if len(args) == 1 and isinstance(args[0], Items) else args)]
    places = [part % len(shape) for part in dims if part is not None and -len(shape) <= part < len(shape)]
    if len(places) != len(dims):
        return None
    if name == "permute":
        return tuple(shape[at] for at in places) if len(places) == len(shape) else None
    if len(places) != 2:
        return None
    swapped = list(shape)
    swapped[places[0]], swapped[places[1]] = swapped[places[1]], swapped[places[0]]
    return tuple(swapped)
