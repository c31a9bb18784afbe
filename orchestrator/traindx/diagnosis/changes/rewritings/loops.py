"""Lines that a training loop lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls, programs
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.code.units import OPTIMIZERS

_THRESHOLD = "1.0"


def clip(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:  # noqa: ARG001 - as every rewriting
    """Clip the gradients between `backward()` and the update."""
    for unit in programs(code):
        prefix = _torch(unit.tree)
        if not prefix or any(True for _ in calls(unit.tree, "clip_grad_norm_", "clip_grad_value_")):
            continue
        source = Source(unit)
        for statement, optimizer, scaler in _updates(source):
            text = f"{prefix}.nn.utils.clip_grad_norm_({_parameters(optimizer, code)}, {_THRESHOLD})"
            if prefix == "nn":
                text = text.replace("nn.nn.", "nn.")
            if scaler:
                source.insert_before(statement, f"{scaler}.unscale_({optimizer})")
            source.insert_before(statement, text)
            place = source.place(statement.lineno)
            return source.rewritten(
                f"The diff clips the total gradient norm at {_THRESHOLD} before the update ({place})."
            )
    raise Unfit("no `optimizer.step()` without clipping was found in the code of this folder")


def detect_anomaly(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:  # noqa: ARG001 - as above
    """Have autograd name the operation whose gradient is not finite."""
    for unit in programs(code):
        if "training-loop" not in unit.traits or _torch(unit.tree) != "torch":
            continue
        imports = [node for node in unit.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        if not imports or any(True for _ in calls(unit.tree, "set_detect_anomaly", "detect_anomaly")):
            continue
        source = Source(unit)
        source.insert_after(imports[-1], "torch.autograd.set_detect_anomaly(True)")
        return source.rewritten(
            f"The diff turns anomaly detection on ({source.place(imports[-1].lineno)}); take it out again once the"
            " operation is known, it is slow."
        )
    raise Unfit("the training loop is not in this folder")


def restore(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Load the optimizer's state with the weights, where the checkpoint holds it."""
    source, line = at_fact(code, facts, "restore_place")
    statement = source.statement_at(line)
    load = next(calls(statement, "load_state_dict"), None)
    held = load.args[0] if load is not None and load.args else None
    checkpoint = ast.unparse(held.value) if isinstance(held, ast.Subscript) else ""
    saved = {key for unit in code for key in _saved_keys(unit.tree)}
    key = next((name for name in sorted(saved) if name.lower().startswith("opt")), "")
    optimizer = next((name for name, _ in _optimizers(source.unit.tree)), "")
    if not checkpoint or not optimizer:
        raise Unfit(f"what is loaded at {source.place(line)} holds the weights alone")
    if not key:
        raise Unfit("no code of this folder saves the optimizer's state under a name")
    made = [node.lineno for name, node in _optimizers(source.unit.tree) if name == optimizer]
    if min(made) > statement.lineno:
        raise Unfit(f"`{optimizer}` is made after the checkpoint is loaded at {source.place(line)}")
    source.insert_after(statement, f'{optimizer}.load_state_dict({checkpoint}["{key}"])')
    return source.rewritten(f"The diff loads the optimizer's state as well (behind {source.place(line)}).")


def add_warmup(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Raise the rate from a hundredth over the first steps, where no schedule sets it."""
    steps = facts.get("run_steps")
    length = min(2000, max(10, round(0.03 * float(steps)))) if isinstance(steps, int | float) else 500
    for unit in programs(code):
        source = Source(unit)
        names = [getattr(call.func, "attr", "") for call in ast.walk(unit.tree) if isinstance(call, ast.Call)]
        if _torch(unit.tree) != "torch" or any(name.endswith(("LR", "Scheduler", "_schedule")) for name in names):
            continue
        made = dict(_optimizers(unit.tree))
        for statement, optimizer, _ in _updates(source):
            if optimizer not in made or "." in optimizer:
                continue
            schedule = f"torch.optim.lr_scheduler.LinearLR({optimizer}, start_factor=0.01, total_iters={length})"
            source.insert_after(source.statement_at(made[optimizer].lineno), f"warmup = {schedule}")
            source.insert_after(statement, "warmup.step()")
            place = source.place(statement.lineno)
            return source.rewritten(f"The diff adds a linear warmup over {length} steps (stepped behind {place}).")
    raise Unfit("no setting of this folder is a warmup, and no loop was found to which one can be added")


def _torch(tree: ast.Module) -> str:
    """The name under which a program knows torch: `torch`, else `nn`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch" and alias.asname is None:
                    return "torch"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "torch":
            return next((alias.asname or alias.name for alias in node.names if alias.name == "nn"), "")
        if isinstance(node, ast.Import) and any(one.name == "torch.nn" and one.asname == "nn" for one in node.names):
            return "nn"
    return ""


def _updates(source: Source) -> Iterator[tuple[ast.stmt, str, str]]:
    """The statements that update weights, with the names of the optimizer and of the scaler, if there is one."""
    for statement in source.statements:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
            continue
        owner = call.func.value
        if "scaler" in name_of(owner).lower() and call.args:
            yield statement, ast.unparse(call.args[0]), ast.unparse(owner)
        elif name_of(owner).lower().startswith("opt"):
            yield statement, ast.unparse(owner), ""


def _parameters(optimizer: str, code: Sequence[CodeUnit]) -> str:
    """What the optimizer was given, where that can be said again; else what it holds."""
    given = [node.args[0] for unit in code for name, node in _optimizers(unit.tree) if name == optimizer and node.args]
    if (
        len(given) == 1
        and isinstance(given[0], ast.Call)
        and not given[0].args
        and name_of(given[0].func) == "parameters"
    ):
        return ast.unparse(given[0])
    return f'[p for group in {optimizer}.param_groups for p in group["params"]]'


def _optimizers(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Names to which optimizers are assigned, with the calls that make them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and name_of(node.value.func) in OPTIMIZERS:
            for target in node.targets:
                yield ast.unparse(target), node.value


def _saved_keys(tree: ast.AST) -> Iterator[str]:
    for call in calls(tree, "save"):
        for part in ast.walk(call):
            if isinstance(part, ast.Dict):
                yield from (
                    key.value for key in part.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
                )
            elif isinstance(part, ast.Call) and name_of(part.func) == "dict":
                yield from (key.arg for key in part.keywords if key.arg)
