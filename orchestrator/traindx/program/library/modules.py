"""Methods of modules: modes, parameters, moving, freezing, restoring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.library.growing import extended, inserted
from traindx.program.library.layers import CONTAINERS, apply, children, leaves
from traindx.program.values import (
    UNKNOWN,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Library,
    Mapping,
    Method,
    Parameters,
    Plain,
    Tensor,
    Value,
    text,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_CHAINED = frozenset(["to", "cuda", "cpu", "float", "double", "half", "bfloat16", "share_memory", "type", "compile",
                      "gradient_checkpointing_enable", "to_empty", "xpu"])  # fmt: skip
_BOTH = Layer | Instance
FEW = 8
"""modules that a function is applied to, whatever their kind"""
MOST = 24
"""modules inside a module that are gone through one by one"""


def method(m: Machine, owner: Layer | Instance, name: str, call: Call) -> Value | None:
    """A method that `nn.Module` or one of its containers defines."""
    if name in {"train", "eval"}:
        return _mode(m, owner, name, call)
    if name in {"to", "half", "bfloat16", "type"}:
        _cast(m, owner, name, call)
    if name in _CHAINED:
        if name in {"half", "bfloat16"}:
            m.event("half", call.node, owner, name=name)
        return owner
    if name in {"parameters", "named_parameters", "trainable_parameters"}:
        return parameters(m, owner, named=name == "named_parameters")
    if name == "zero_grad":
        m.event("zero", call.node, Parameters(leaves(m, owner), True, owner))
        return Plain(None)
    if name == "requires_grad_":
        given = call.argument(0, "requires_grad")
        freeze(m, owner, isinstance(given, Plain) and given.value is False, call)
        return owner
    if name == "apply" and call.args and isinstance(call.args[0], Function | Method):
        return _applied(m, owner, call)
    if name in {"children", "modules", "named_children", "named_modules"}:
        return _inside(m, owner, name)
    if name == "forward":
        return _forward(m, owner, call)
    if name in {"state_dict", "load_state_dict"}:
        m.event(name.replace("_", "-"), call.node, owner, given=call.argument(0, "state_dict"))
        return Guess("state_dict") if name == "state_dict" else Plain(None)
    if name == "register_buffer":
        given = call.argument(1, "tensor")
        m.journal.set(owner.fields, text(call.argument(0, "name")) or "?", given if given is not None else UNKNOWN)
        return Plain(None)
    if name in {"add_module", "register_module", "register_parameter"} and len(call.args) > 1:
        m.journal.set(owner.fields, text(call.args[0]) or f"{len(owner.fields)} of many", call.args[1])
        return Plain(None)
    return _of_container(m, owner, name, call)


def _of_container(m: Machine, owner: Layer | Instance, name: str, call: Call) -> Value | None:
    if isinstance(owner, Layer) and owner.kind in CONTAINERS:
        if name == "append" and call.args:
            m.journal.set(owner.fields, str(len(children(owner))), call.args[0])
            return owner
        if name in {"extend", "update"} and call.args:
            return extended(m, owner, call.args[0])
        if name == "insert" and len(call.args) > 1:
            return inserted(m, owner, *call.args[:2])
        if name in {"values", "items", "keys"}:
            return Items(children(owner), "list")
    if name in {"generate", "encode", "decode", "log_prob", "sample", "get_input_embeddings"}:
        return apply(m, owner, call) if call.tensors and isinstance(owner, Layer) else Guess(name)
    if name in {"save_pretrained", "push_to_hub"}:
        m.event("model-saved", call.node, owner)
    if name in {"save_pretrained", "push_to_hub", "print_trainable_parameters", "resize_token_embeddings"}:
        return Plain(None)
    return None


def parameters(m: Machine, owner: Layer | Instance, named: bool = False) -> Value:
    """`module.parameters()`."""
    found = Parameters(leaves(m, owner), is_known(owner), owner)
    if not named:
        return found
    rest = Items([Plain("", "varies", "parameter name"), found])
    own = [
        Items([Plain(f"{name}.weight"), Parameters(leaves(m, child), True, child)]) for name, child in _put_in(owner)
    ]
    return Items([rest, *own], "list", not own)


def _put_in(owner: Layer | Instance) -> list[tuple[str, Layer]]:
    """The layers that the program itself has put into a model of a library: only of these the names are known."""
    if not isinstance(owner, Layer) or owner.kind != "pretrained":
        return []
    return [(name, child) for name, child in owner.fields.items() if isinstance(child, Layer) and name[0] != "@"]


def is_known(owner: Value, depth: int = 8) -> bool:
    """Whether everything inside a module was seen."""
    if isinstance(owner, Layer) and (owner.guessed or owner.kind in {"?", "pretrained"} or "@more" in owner.fields):
        return False
    if isinstance(owner, Instance) and owner.cls is not None:
        from traindx.program.library.layers import _is_opaque

        if _is_opaque(owner):
            return False
    if not isinstance(owner, _BOTH) or not depth:
        return not isinstance(owner, Guess)
    return all(is_known(child, depth - 1) for child in children(owner) if isinstance(child, Layer | Instance))


def freeze(m: Machine, owner: Layer | Instance, on: bool, call: Call) -> None:
    """Freeze or unfreeze every parameter of a module."""
    m.event("freeze", call.node, Parameters(leaves(m, owner), True, owner), on=on, guarded=bool(m.guards))
    for number in leaves(m, owner):
        layer = m.trace.layers.get(number)
        if layer is not None:
            m.journal.set(layer.fields, "@frozen", Plain(on, "constant" if not m.guards else "varies"))


def _mode(m: Machine, owner: Layer | Instance, name: str, call: Call) -> Value:
    given = call.argument(0, "mode")
    on: Value = Plain(name == "train")
    if name == "train" and given is not None:
        on = given if isinstance(given, Plain) else Plain(None, "varies")
    m.event("mode", call.node, owner, on=on)
    set_mode(m, owner, on)
    return owner


def set_mode(m: Machine, owner: Value, on: Value, depth: int = 12) -> None:
    """Set training or evaluation mode for a module and all inside it."""
    if not isinstance(owner, Layer | Instance) or not depth:
        return
    m.journal.set(owner.fields, "@training", on)
    for child in children(owner):
        if isinstance(child, Layer | Instance):
            set_mode(m, child, on, depth - 1)


def descendants(owner: Value, depth: int = 12) -> list[Layer]:
    """Every layer inside a module."""
    if not isinstance(owner, Layer | Instance) or not depth:
        return []
    found = [owner] if isinstance(owner, Layer) else []
    for child in children(owner):
        found += descendants(child, depth - 1)
        if isinstance(child, Items | Mapping):
            parts = child.items if isinstance(child, Items) else list(child.entries.values())
            for part in parts:
                found += descendants(part, depth - 1)
    return found


def modes(owner: Value) -> dict[str, object]:
    """The layers inside a module that behave differently in evaluation, by the mode they are in."""
    found: dict[str, list[Layer]] = {"active": [], "passive": [], "undecided": []}
    for layer in descendants(owner):
        if not depends_on_mode(layer):
            continue
        told = layer.fields.get("@training")
        if isinstance(told, Plain) and told.sure == "constant" and isinstance(told.value, bool):
            found["active" if told.value else "passive"].append(layer)
        else:
            found["undecided"].append(layer)
    return dict(found)


def depends_on_mode(layer: Layer) -> bool:
    """Dropout that drops something, and batch normalization, which models of libraries have as well: those that the
    program configures itself may be without."""
    if layer.kind == "pretrained":
        return "@own" not in layer.fields
    if layer.kind.startswith("Dropout") or layer.kind in {"AlphaDropout", "FeatureDropout"}:
        rate = layer.keywords.get("p", layer.args[0] if layer.args else Plain(0.5))
        return not (isinstance(rate, Plain) and rate.value == 0)
    if layer.kind in {"LSTM", "GRU", "RNN", "TransformerEncoderLayer", "TransformerDecoderLayer"}:
        share = layer.keywords.get("dropout")
        if layer.kind.startswith("Transformer"):
            return not (isinstance(share, Plain) and share.value == 0)
        drops = isinstance(share, Plain) and isinstance(share.value, int | float) and share.value > 0
        given = layer.keywords.get("num_layers", layer.args[2] if len(layer.args) > 2 else Plain(1))
        # The dropout of a recurrent layer stands between its layers: a single one has none.
        return drops and not (isinstance(given, Plain) and given.value == 1)
    return layer.kind.startswith(("BatchNorm", "SyncBatchNorm", "LazyBatchNorm"))


def _cast(m: Machine, owner: Layer | Instance, name: str, call: Call) -> None:
    """A module whose parameters are turned into another type."""
    given = [*call.args, call.keywords.get("dtype")] if name in {"to", "type"} else [Library(f"torch.{name}")]
    told = [part.name.rpartition(".")[2] for part in given if isinstance(part, Library)]
    dtype = next((word for word in told if word in {"half", "float16", "bfloat16"}), "")
    if dtype:
        m.event("cast", call.node, owner, dtype="float16" if dtype == "half" else dtype, layers=leaves(m, owner))


def _applied(m: Machine, owner: Layer | Instance, call: Call) -> Value:
    """`model.apply(init)`: the function is followed for each layer, for a few of each kind."""
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_value

    for layer in _of_each_kind(descendants(owner)):
        call_value(m, call.args[0], Inner(call.node, [layer], {}))
    return owner


def _of_each_kind(layers: list[Layer]) -> list[Layer]:
    """The first few layers, and two of each kind that is not among them."""
    found = layers[:FEW]
    seen = [layer.kind for layer in found] * 2
    for layer in layers[FEW:]:
        if seen.count(layer.kind) < 2:
            seen.append(layer.kind)
            found.append(layer)
    return found


def _inside(m: Machine, owner: Layer | Instance, name: str) -> Value:
    rows = _named(owner, "", 1 if name in {"children", "named_children"} else 12)
    if name in {"modules", "named_modules"}:
        rows = [("", owner), *rows]
    found: list[Value] = [Items([Plain(told), child]) if name.startswith("named_") else child for told, child in rows]
    return Items(found[:MOST], "list", len(found) > MOST)


def _named(owner: Layer | Instance, path: str, depth: int) -> list[tuple[str, Layer | Instance]]:
    """The modules inside a module with their names, `blocks.0.q`, so many levels down."""
    found: list[tuple[str, Layer | Instance]] = []
    for name, child in owner.fields.items() if depth else ():
        if not name.startswith("@") and isinstance(child, Layer | Instance):
            told = f"{path}{name}"
            found += [(told, child), *_named(child, f"{told}.", depth - 1)]
    return found


def _forward(m: Machine, owner: Layer | Instance, call: Call) -> Value:
    from traindx.program.calling import call_instance

    return call_instance(m, owner, call) if isinstance(owner, Instance) else apply(m, owner, call)


def copied(m: Machine, value: Value, depth: int = 12) -> Value:
    """A deep copy: new layers with the same settings."""
    if not depth:
        return value
    if isinstance(value, Layer):
        layer = Layer(
            kind=value.kind, args=value.args, keywords=value.keywords, place=value.place, guessed=value.guessed
        )
        m.trace.layers[layer.number] = layer
        layer.fields.update({name: copied(m, child, depth - 1) for name, child in value.fields.items()})
        return layer
    if isinstance(value, Instance):
        made = Instance(cls=value.cls, place=value.place)
        made.fields.update({name: copied(m, child, depth - 1) for name, child in value.fields.items()})
        return made
    if isinstance(value, Tensor) and "parameter" in value.marks:
        layer = Layer(kind="Parameter")
        m.trace.layers[layer.number] = layer
        return value.but(deps=frozenset({layer.number}))
    return value
