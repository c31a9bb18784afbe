"""Processes that train together never exchange their gradients.

## What it finds
A model in `DistributedDataParallel` whose training goes forward through the module inside the wrapper (`ddp.module(x)`,
or the model as it was before); a training on the shares of a `DistributedSampler` in which nothing wraps the model and
nothing reduces gradients.

## Why it matters
The wrapper averages gradients only for what went forward through it. Without that, every process trains a model of its
own on its share of the data; nothing fails, and the one that is saved has seen one share.

## Silent
Evaluation, saving and generation through `.module`, gradients that are reduced by hand, other wrappers and launchers
(FSDP, DeepSpeed, Horovod, Accelerate, Lightning), models that are handed to code which is not there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out, mentions, module_layers, spelled
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Instance, Layer, Made, Place, Plain, Stream, Value
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

ID = "unsynchronised-gradients"
_OTHERS = (
    "DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard", "replicate", "deepspeed",
    "horovod", "hvd", "Accelerator", "Fabric", "LightningModule", "Trainer", "DistributedOptimizer", "bagua",
    "parallelize_module", "average_gradients", "sync_gradients", "allreduce_gradients", "reduce_gradients",
    "DataParallel", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer", "broadcast_coalesced", "rpc", "colossalai",
)  # fmt: skip
"""names of what exchanges gradients or weights in some other way"""


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every model that is wrapped, and at every share of data that an unwrapped one trains on."""
    if _by_hand(analysis):
        return
    wrapped = [event for event in analysis.trace.of("data-parallel") if not event.guards]
    for event in wrapped:
        found = _around(analysis, event)
        if found is not None:
            yield found
    if not wrapped and not mentions(analysis, *_OTHERS) and analysis.whole:
        yield from _apart(analysis)


def _around(analysis: Analysis, wrap: Event) -> Finding | None:
    """A training that goes around the wrapper, in every pass."""
    trace = analysis.trace
    mine = module_layers(analysis, wrap.subject)
    trained = {event.path for event in trace.of("backward") if (v := tensor_of(event)) is not None and v.deps & mine}
    passes = [
        event
        for event in trace.events[wrap.at :]
        if event.kind == "forward" and event.grad and event.subject is wrap.subject and _before(event, trained)
    ]
    places = [_inner(event, wrap) for event in passes]
    if not passes or any(place is None for place in places) or handed_out(trace, wrap.subject, wrap.at):
        return None
    event, place = passes[0], places[0]
    return Finding(
        ID,
        event.place,
        f"`{spelled(event.place.node)}` goes around the wrapper of {wrap.place.text}: gradients are not averaged, and"
        " every process trains a model of its own",
        facts={"forward_place": event.place.text, "wrap_place": wrap.place.text},
        also=(
            *(((place, "the module inside the wrapper"),) if place is not None and place != event.place else ()),
            (wrap.place, "averages the gradients of what goes forward through it"),
        ),
    )


def _before(event: Event, trained: set[tuple[int, ...]]) -> bool:
    return any(event.path[: len(path)] == path for path in trained)


def _inner(event: Event, wrap: Event) -> Place | None:
    """Where the module inside the wrapper is spelled, if that is what goes forward; None for the wrapper itself."""
    func = event.place.node.func if isinstance(event.place.node, ast.Call) else None
    if func is None:
        return None
    place, node = _origin(Place(event.place.unit, func), list(event.calls))
    if isinstance(node, ast.Attribute) and node.attr == "module":
        return place
    call = wrap.place.node
    given = call.args[0] if isinstance(call, ast.Call) and call.args else None
    kept = _bound_to(wrap.place.unit, call)
    bare = given.func.value if _moves(given) else given  # type: ignore[union-attr]
    if isinstance(node, ast.Name | ast.Attribute) and bare is not None and kept:
        same = ast.unparse(node) == ast.unparse(bare) and place.unit.path == wrap.place.unit.path
        return place if same and ast.unparse(node) not in kept else None
    return None


def _moves(node: ast.expr | None) -> bool:
    """`model.to(device)`, `model.cuda()`: the model itself."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"to", "cuda", "train"}
    )


def _origin(place: Place, calls: list[Place]) -> tuple[Place, ast.expr]:
    """What a name stands for: the one value that its function gives it, or the argument of the call that led there."""
    node = place.node
    while isinstance(node, ast.Name):
        function = _function(place.unit, node)
        values = _given(function if function is not None else place.unit.tree, node.id)
        if len(values) == 1:
            place, node = Place(place.unit, values[0]), values[0]
            continue
        at = _parameter(function, node.id) if function is not None and not values else None
        call = calls.pop() if at is not None and calls else None
        argument = _argument(call.node, at, node.id) if call is not None and at is not None else None
        if call is None or argument is None:
            break
        place, node = Place(call.unit, argument), argument
    assert isinstance(node, ast.expr)  # noqa: S101 - the callee of a call, and whatever it was replaced by
    return place, node


def _given(scope: ast.AST, name: str) -> list[ast.expr]:
    """What a scope assigns to a name, where that is another name or a field; anything else counts as no alias."""
    found = [
        part.value
        for part in ast.walk(scope)
        if isinstance(part, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in part.targets)
    ]
    return found if all(isinstance(value, ast.Name | ast.Attribute) for value in found) else []


def _functions(unit: CodeUnit) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from unit.nodes.of(ast.FunctionDef)
    yield from unit.nodes.of(ast.AsyncFunctionDef)


def _function(unit: CodeUnit, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    line = getattr(node, "lineno", 0)
    around = [part for part in _functions(unit) if part.lineno <= line <= (part.end_lineno or 0)]
    return max(around, key=lambda part: part.lineno, default=None)


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int | None:
    names = [part.arg for part in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    return names.index(name) if name in names else None


def _argument(node: ast.AST, at: int, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    named = next((part.value for part in node.keywords if part.arg == name), None)
    return named or (node.args[at] if at < len(node.args) else None)


def _bound_to(unit: CodeUnit, call: ast.AST) -> set[str]:
    """The names that the wrapper is kept under."""
    return {ast.unparse(target) for node in unit.nodes.of(ast.Assign) if node.value is call for target in node.targets}


def _by_hand(analysis: Analysis) -> bool:
    """Whether gradients or weights are reduced or sent by the program itself."""
    for unit in analysis.units:
        if unit.names.isdisjoint({"all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter"}):
            continue
        if any(node.attr in {"grad", "main_grad"} for node in unit.nodes.of(ast.Attribute)):
            return True
        loops = unit.nodes.of(ast.For)
        if any("parameters()" in ast.unparse(node.iter) and _sends(node) for node in loops):
            return True
    return False


def _sends(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) and name_of(part.func) == "all_reduce" for part in ast.walk(node))


def _apart(analysis: Analysis) -> Iterator[Finding]:
    """A model that nothing wraps, trained on the shares that a sampler deals out to the processes."""
    trace = analysis.trace
    if not mentions(analysis, "init_process_group"):
        return
    for step in trace.of("step"):
        made = step.subject
        shared = next((sampler for turn in step.turns if (sampler := _dealt(turn.loop.source)) is not None), None)
        if shared is None or shared.place is None or not isinstance(made, Made) or not made.known or not made.layers:
            continue
        models = [
            event.subject
            for event in trace.of("forward")
            if isinstance(event.subject, Layer | Instance) and module_layers(analysis, event.subject) & made.layers
        ]
        if not models or any(handed_out(trace, model) for model in models) or handed_out(trace, made):
            continue
        yield Finding(
            ID,
            step.place,
            "every process steps on the gradients of its own share of the data, and nothing averages them",
            facts={"forward_place": step.place.text, "wrap_place": ""},
            also=((shared.place, "deals out the data to the processes"),),
        )
        return


def _dealt(source: Value) -> Made | None:
    loader = source.source if isinstance(source, Stream) else source
    given = loader.keywords.get("sampler") if isinstance(loader, Made) and loader.kind == "DataLoader" else None
    told = given.fields.get("@class") if isinstance(given, Made) else None
    return given if isinstance(told, Plain) and told.value == "DistributedSampler" else None  # type: ignore[return-value]
