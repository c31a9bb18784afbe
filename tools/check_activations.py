"""Activations: saturated or dead where they were logged, and code that is prone to it."""

import ast
from collections.abc import Iterator

import numpy as np

from traindx.artifacts import CodeUnit, Run, Series
from traindx.artifacts.program.syntax import name_of
from traindx.contract import Citation, Fact, Signal
from traindx.curves import cite, named, quoted, words_of
from traindx.toolbelt import NoData, ToolInput, ToolOutput, tool

_SATURATED = {"sat", "saturated", "saturation", "satfrac", "pinned"}
_ACTIVE = {"active", "alive", "firing", "activefrac", "activeunits"}
_DEAD = {"dead", "inactive", "deadrelu", "deadfrac", "deadunits"}
_SHARES = {"frac", "fraction", "share", "pct", "percent", "ratio", "rate", "units", "relu", "neurons", "prob"}
_SQUASHING = {"Sigmoid", "Tanh", "sigmoid", "tanh", "Softsign", "Hardtanh"}
_NORMS = {"LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm2d", "RMSNorm", "BatchNorm3d"}
_DEPTHS = ("depth", "n_layers", "num_layers", "layers", "n_layer", "num_hidden_layers", "n_hidden_layers", "nlayers")
# Half of a layer pinned or dead is where published detectors draw the line.
MOST = 0.5
DEEP = 6


class Question(ToolInput):
    """Nothing to choose: every logged activation statistic and all model code are looked at."""


class ActivationReport(ToolOutput):
    """The shares found in the logs, by series."""

    saturated: dict[str, float]
    dead: dict[str, float]


@tool(
    needs=["series", "code"],
    emits={
        "activations-saturated": "half or more of the activations are pinned at their limits",
        "units-dead": "half or more of the units never fire",
        "activations-alive": "the logged shares of saturated or dead units stay low",
        "deep-saturating-stack": "many layers with sigmoid or tanh, without shortcut or normalisation",
        "squashing-in-code": "sigmoid or tanh between layers of the model",
    },
)
def check_activations(question: Question, run: Run) -> ActivationReport:  # noqa: ARG001 - every tool takes its input
    """Look at logged shares of saturated and dead units, and read the model code for deep stacks of squashing
    activations without residual connections or normalisation.
    """
    saturated = _shares(run.series, _SATURATED)
    dead = _shares(run.series, _DEAD)
    dead += [(row, 1 - share) for row, share in _shares(run.series, _ACTIVE) if not words_of(row) & _DEAD]
    if not saturated and not dead and not run.code:
        raise NoData("no share of saturated or dead units was logged, and there is no model code")
    return ActivationReport(
        saturated={row.original: share for row, share in saturated},
        dead={row.original: share for row, share in dead},
        signals=[
            *_pinned(run, saturated, "activations-saturated", "saturated"),
            *_pinned(run, dead, "units-dead", "dead"),
            *_alive(run, [*saturated, *dead]),
            *_code(run),
        ],
    )


def _shares(series: list[Series], words: set[str]) -> list[tuple[Series, float]]:
    found = []
    for row in series:
        own = words_of(row) | {"".join(sorted(words_of(row)))}
        finite = row.values[np.isfinite(row.values)]
        if not own & words or not len(finite):
            continue
        share = float(np.median(finite[-max(1, len(finite) // 4) :]))
        found.append((row, share / 100 if float(finite.max()) > 1.0 or row.unit == "%" else share))
    return [(row, share) for row, share in found if 0 <= share <= 1]


def _pinned(run: Run, shares: list[tuple[Series, float]], name: str, what: str) -> list[Signal]:
    worst = max(shares, key=lambda pair: pair[1], default=None)
    if worst is None or worst[1] < MOST:
        return []
    row, share = worst
    claim = f"`{row.original}` ends at {share:.0%}: most units of that layer are {what}"
    facts: dict[str, Fact] = {f"{what}_series": row.original, f"{what}_share": f"{share:.0%}"}
    place = cite(run, row, len(row) - 1, claim)
    return [Signal(id=name, claim=claim, strength=min(1.0, 0.5 + share / 2), citations=[place], facts=facts)]


def _alive(run: Run, shares: list[tuple[Series, float]]) -> list[Signal]:
    worst = max(shares, key=lambda pair: pair[1], default=None)
    if worst is None or worst[1] > 0.2:
        return []
    claim = f"`{worst[0].original}` stays at {worst[1]:.0%}"
    return [Signal(id="activations-alive", claim=claim, citations=[cite(run, worst[0], len(worst[0]) - 1, claim)])]


def _code(run: Run) -> list[Signal]:
    for unit in run.code:
        if "model" not in unit.traits:
            continue
        uses = list(_squashing(unit.tree))
        if not uses:
            continue
        node = uses[0][0]
        place = _cited(run, unit, node)
        found = [Signal(id="squashing-in-code", claim=f"`{place.quote}`", citations=[place])]
        layers = len(uses)
        if any(loop for _, loop in uses):
            depth = named(run.settings, *_DEPTHS)
            layers = max(layers, int(depth.value) if depth is not None and float(depth.value) < 1000 else 3)
        if layers >= DEEP and not _has_relief(unit.tree):
            claim = f"{layers} layers with {_plain(node)} and no shortcut or normalisation: `{place.quote}`"
            facts: dict[str, Fact] = {
                "stack_layers": layers,
                "stack_activation": _plain(node),
                "stack_place": f"{unit.path}:{unit.file_line(node.lineno)}",
            }
            # Ten sigmoids leave at most a millionth of the gradient; tanh is four times kinder per layer.
            strength = min(1.0, layers / (10 if "igmoid" in name_of(node.func) else 20))
            found.append(
                Signal(id="deep-saturating-stack", claim=claim, strength=strength, citations=[place], facts=facts)
            )
        return found
    return []


def _plain(node: ast.Call) -> str:
    return name_of(node.func).lower()


def _cited(run: Run, unit: CodeUnit, node: ast.Call) -> Citation:
    line = unit.file_line(node.lineno)
    quote = quoted(run, unit.path, line)
    return Citation(claim="the activation", source=unit.path, locator=f"line {line}", quote=quote)


def _squashing(tree: ast.Module) -> Iterator[tuple[ast.Call, bool]]:
    """Calls of squashing activations inside model classes, and whether a loop repeats them."""
    for model in ast.walk(tree):
        if not isinstance(model, ast.ClassDef) and not _builds(model):
            continue
        looped = {id(inner) for loop in ast.walk(model) if _repeats(loop) for inner in ast.walk(loop)}
        for node in ast.walk(model):
            if isinstance(node, ast.Call) and name_of(node.func) in _SQUASHING:
                yield node, id(node) in looped


def _builds(node: ast.AST) -> bool:
    """A function that makes a network, or a network written out at the top of a script."""
    if isinstance(node, ast.FunctionDef):
        return any(word in node.name.lower() for word in ("net", "model", "build", "mlp", "make"))
    return isinstance(node, ast.Call) and name_of(node.func) == "Sequential"


def _repeats(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.ListComp | ast.GeneratorExp | ast.While)


def _has_relief(tree: ast.Module) -> bool:
    """A normalisation, a gated cell, or `x = x + f(x)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _NORMS | {"LSTM", "GRU", "TransformerEncoderLayer"}:
            return True
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            target = name_of(node.targets[0])
            if target and target in {name_of(node.value.left), name_of(node.value.right)} and _calls(node.value):
                return True
    return False


def _calls(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))
