"""Random order: permutations, and the arrays whose rows they rearrange."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from traindx.program.library import shapes
from traindx.program.values import Items, Made, Plain, Tensor, Value, text
from traindx.readers.code.syntax import name_of

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_NUMBERS = count(1)
AGAIN = "drawn-again"
"""the mark of rows, or of indices, that were drawn with replacement: one may be there several times"""


def numpy_random(m: Machine, name: str, call: Call, owner: Value) -> Value:
    """What a random function of NumPy gives."""
    m.event("random", call.node, owner)
    if name in {"seed", "set_state", "get_state"}:
        m.seeded = hash((name != "seed", str(_told(call))))
        return Plain(None)
    if name == "manual_seed" and isinstance(owner, Made):
        m.journal.set(owner.fields, "@seed", call.args[0] if call.args else Plain(None))
        m.journal.set(owner.fields, "@uses", Plain(0))
        return owner
    if name in {"permutation", "permuted"}:
        return drawn(m, call, owner)
    if name == "shuffle":
        return in_place(m, call, owner)
    shape = shapes.drawn(name, call)
    if name == "choice" and shape != () and call.args and isinstance(call.args[0], Tensor):
        return call.args[0].but(shape=shape, marks=frozenset({AGAIN} if with_replacement(call, 2, True) else ()))
    if shape == ():
        return Plain(None, "varies")
    kind = "long" if name in {"integers", "randint", "binomial", "poisson"} else ""
    return Tensor(shape=shape, origin=frozenset({id(call.node)}), dtype=kind)


def with_replacement(call: Call, at: int, usual: bool) -> bool:
    """Whether rows are drawn so that one may come several times."""
    told = call.argument(at, "replace")
    return usual if told is None else isinstance(told, Plain) and told.value is True


def drawn(m: Machine, call: Call, owner: Value | None = None) -> Tensor:
    """A permutation: of an array its rows in another order, of a number an index."""
    given = call.args[0] if call.args else None
    order = frozenset({_next(m, call, owner)})
    if isinstance(given, Tensor) and given.shape != ():
        return given.but(order=given.order | order, marks=_mixed_up(given))
    return Tensor(shape=(None,), dtype="long", marks=frozenset({"shuffled"}), order=order)


def in_place(m: Machine, call: Call, owner: Value | None = None) -> Value:
    """`shuffle(array)`: the name holds the same rows in another order."""
    from traindx.program import binding

    given = call.args[0] if call.args else None
    if isinstance(given, Tensor) and call.node.args:
        order = given.order | {_next(m, call, owner)}
        m.trace.events[-1].facts["in_place"] = True
        binding.bind(m, call.node.args[0], given.but(order=order, marks=_mixed_up(given)), call.node)
    return Plain(None)


def together(m: Machine, call: Call) -> Value:
    """scikit-learn's `shuffle`: all arrays in one new order."""
    number = _next(m, call)
    again = name_of(call.node.func) == "resample" and with_replacement(call, -1, True)
    drawn_again = frozenset({AGAIN} if again else ())
    parts: list[Value] = [
        part.but(order=part.order | {number}, marks=_mixed_up(part) | drawn_again) if isinstance(part, Tensor) else part
        for part in call.args
    ]
    return parts[0] if len(parts) == 1 else Items(parts, "list")


def of_table(m: Machine, owner: Tensor, call: Call) -> Tensor:
    """`column.sample(…)`: the values of a column in another order."""
    again = frozenset({AGAIN} if with_replacement(call, 2, False) else ())
    return owner.but(order=owner.order | {_next(m, call)}, marks=_mixed_up(owner) | again)


def of_frame(m: Machine, owner: Made, call: Call) -> Made:
    """`frame.sample(…)`: the rows of a table in another order."""
    number = _next(m, call)
    fields: dict[str, Value] = {**owner.fields, "@order": Plain((*_orders(owner), number))}
    fields.pop("@in-classes", None)
    if with_replacement(call, 2, False):
        fields["@again"] = Plain(True)
    return Made(kind="frame", place=owner.place, fields={**fields, "@origin": Plain(tuple(origin(owner)))})


def origin(owner: Made) -> frozenset[int]:
    """What the rows of a table are taken from."""
    told = owner.fields.get("@origin")
    return frozenset(told.value) if isinstance(told, Plain) and isinstance(told.value, tuple) else {owner.number}  # type: ignore[return-value]


def order(owner: Made) -> frozenset[int]:
    """The permutations behind the order of a table's rows."""
    return frozenset(_orders(owner))


def _orders(owner: Made) -> tuple[int, ...]:
    told = owner.fields.get("@order")
    return told.value if isinstance(told, Plain) and isinstance(told.value, tuple) else ()


def _mixed_up(given: Tensor) -> frozenset[str]:
    return (given.marks - {"sorted", "in-classes"}) | ({"shuffled"} if given.marks & {"sorted"} else frozenset())


def _next(m: Machine, call: Call, owner: Value | None = None) -> int:
    """A number for a permutation, the same for those that equal seeds make."""
    number = _seeded(m, call, owner)
    m.event("ordered", call.node, Plain(None), order=number)
    return number


def _seeded(m: Machine, call: Call, owner: Value | None) -> int:
    state = call.keywords.get("random_state")
    if isinstance(state, Plain) and state.value is not None:
        return hash(("random_state", str(state.value)))
    generator = owner if isinstance(owner, Made) else call.keywords.get("generator")
    if isinstance(generator, Made):
        uses = generator.fields.get("@uses")
        count = uses.value if isinstance(uses, Plain) and isinstance(uses.value, int) else 0
        m.journal.set(generator.fields, "@uses", Plain(count + 1))
        seed = generator.args[0] if generator.args else generator.fields.get("@seed")
        known = seed.value if isinstance(seed, Plain) and seed.value is not None else generator.number
        return hash(("generator", str(known), count))
    seeded, m.seeded = m.seeded, None
    return seeded if seeded is not None else -next(_NUMBERS)


def _told(call: Call) -> object:
    given = call.args[0] if call.args else None
    return given.value if isinstance(given, Plain) else text(given) or "state"
