"""Activations: saturated or dead where they were logged, and code that is prone to it."""

import ast
import re
from collections.abc import Iterator

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, quoted
from traindx.detectors.curves.objective import words_of
from traindx.detectors.settings.lookup import named
from traindx.readers import CodeUnit, Run, Series
from traindx.readers.code.syntax import name_of
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

_SATURATED = {"sat", "saturated", "saturation", "satfrac", "pinned"}
_ACTIVE = {"active", "alive", "firing", "activefrac", "activeunits"}
_DEAD = {"dead", "inactive", "deadrelu", "deadfrac", "deadunits"}
_NEAR_LIMIT = re.compile(r"(?:>|gt|above|over|beyond)[_ ]{0,2}(?:0?[._]9\d*|1(?:\.0)?-)(?:\D|$)|saturat|pinned")
_SILENT = re.compile(
    r"\b(?:dead|inactive|silent)\b|never[-_ ](?:fir|activ)|zero%?[_( ]{0,2}relu|zero[_ ]act"
    r"|act\w{0,8}[_ ]zero|relu[_ ]zero"
)
_LAYER = re.compile(r"(?:h|l|a|act|layer|hidden|fc)_?\d{1,3}")
_SQUASHING = {"Sigmoid", "Tanh", "sigmoid", "tanh", "Softsign", "Hardtanh"}
_LINEAR = {"Linear", "Conv1d", "Conv2d", "Dense"}
_NORMS = {"LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm2d", "RMSNorm", "BatchNorm3d"}
_DEPTHS = ("depth", "n_layers", "num_layers", "layers", "n_layer", "num_hidden_layers", "n_hidden_layers", "nlayers")
# Half of a layer pinned or dead is where published detectors draw the line.
MOST = 0.5
DEEP = 6


class Input(ToolInput):
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
        "relu-at-output": "the output of the network goes through a ReLU",
        "squashing-in-code": "sigmoid or tanh between layers of the model",
    },
)
def check_activations(given: Input, run: Run) -> ActivationReport:  # noqa: ARG001 - every tool takes its input
    """Look at logged shares of saturated and dead units, and read the model code for deep stacks of squashing
    activations without residual connections or normalisation.
    """
    saturated = [*_shares(run.series, _SATURATED), *_under_heading(run, _NEAR_LIMIT)]
    dead = [*_shares(run.series, _DEAD), *_under_heading(run, _SILENT)]
    # The active units of a latent space are those that carry information: that is said of a VAE, not of a ReLU.
    latent = any(words_of(row) & {"kl", "kld"} for row in run.series)
    dead += [(row, 1 - s) for row, s in _shares(run.series, _ACTIVE) if not words_of(row) & _DEAD and not latent]
    if not saturated and not dead and not run.code:
        raise NoData("no share of saturated or dead units was logged, and there is no model code")
    return ActivationReport(
        saturated={row.original: share for row, share in saturated},
        dead={row.original: share for row, share in dead},
        signals=[
            *_pinned(run, saturated, "activations-saturated", "saturated"),
            *_pinned(run, dead, "units-dead", "dead"),
            *_alive(run, [*saturated, *dead]),
            *_at_output(run),
            *_code(run),
        ],
    )


def _shares(series: list[Series], words: set[str]) -> list[tuple[Series, float]]:
    found = []
    for row in series:
        own = words_of(row) | {"".join(sorted(words_of(row)))}
        if own & words and (share := _late_share(row)) is not None:
            found.append((row, share))
    return found


def _under_heading(run: Run, heading: re.Pattern[str]) -> list[tuple[Series, float]]:
    """Shares whose own name says what they are, or the text before the names of layers in their line."""
    found = []
    for row in run.series:
        said = heading.search(row.original.lower())
        if said is None and row.place == "line" and _LAYER.fullmatch(row.original):
            line = "".join(run.lines(row.source, int(row.lines[-1]), int(row.lines[-1]))).lower()
            said = heading.search(re.split(rf"\b{re.escape(row.original)}\b", line, maxsplit=1)[0])
        if said is not None and (share := _late_share(row)) is not None:
            found.append((row, share))
    return found


def _late_share(row: Series) -> float | None:
    """The share that a series ends at; None for one that counts, or measures something else."""
    finite = row.values[np.isfinite(row.values)]
    if not len(finite) or float(finite.min()) < 0:
        return None
    share, most = float(np.median(finite[-max(1, len(finite) // 4) :])), float(finite.max())
    percent = row.unit == "%" or bool(words_of(row) & {"pct", "percent", "perc"})
    if most <= 1.0:
        return share / 100 if row.unit == "%" else share
    whole_numbers = bool((finite == np.round(finite)).all())
    return share / 100 if most <= 100.0 and (percent or not whole_numbers) else None


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


def _at_output(run: Run) -> list[Signal]:
    """A forward pass that ends in a ReLU: below zero it has no gradient, and the whole net with it."""
    for unit in run.code:
        for node in ast.walk(unit.tree):
            last = _last_step(node)
            if last is not None and name_of(last.func).lower() == "relu":
                place = _cited(run, unit, last)
                claim = f"the output goes through a ReLU: `{place.quote}`"
                return [Signal(id="relu-at-output", claim=claim, citations=[place])]
    return []


def _last_step(node: ast.AST) -> ast.Call | None:
    """The last call of a network: what `forward` of a head of one unit returns, or the end of such a stack."""
    if isinstance(node, ast.FunctionDef) and node.name == "forward":
        returned = next((part.value for part in ast.walk(node) if isinstance(part, ast.Return)), None)
        return returned if isinstance(returned, ast.Call) and returned.args else None
    if isinstance(node, ast.Call) and name_of(node.func) == "Sequential" and len(node.args) > 2:
        before, last = node.args[-2:]
        if isinstance(before, ast.Call) and isinstance(last, ast.Call) and name_of(before.func) == "Linear":
            one = len(before.args) > 1 and getattr(before.args[1], "value", None) == 1
            return last if one else None
    return None


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
            configured = float(depth.value) if depth is not None else _depth_by_default(unit.tree)
            layers = max(layers, int(configured) if configured < 1000 else 3)
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


def _depth_by_default(tree: ast.Module) -> float:
    """The number of layers that a constructor takes when nobody says otherwise: `def __init__(self, depth=10)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args[len(node.args.args) - len(node.args.defaults) :], *node.args.kwonlyargs]
            for name, given in zip(arguments, [*node.args.defaults, *node.args.kw_defaults], strict=True):
                number = getattr(given, "value", None)
                if name.arg in _DEPTHS and isinstance(number, int):
                    return float(number)
    return 3.0


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
        inside = [inner for loop in ast.walk(model) if _repeats(loop) for inner in ast.walk(loop)]
        looped = {id(inner) for inner in inside}
        again = {name_of(inner.func) for inner in inside if isinstance(inner, ast.Call)}
        kept = {id(node.value): name_of(node.targets[0]) for node in ast.walk(model) if isinstance(node, ast.Assign)}
        for node in ast.walk(model):
            if isinstance(node, ast.Call) and name_of(node.func) in _SQUASHING:
                # `self.act = nn.Sigmoid()` counts as often as a loop calls `self.act`.
                yield node, id(node) in looped or kept.get(id(node), "") in again


def _builds(node: ast.AST) -> bool:
    """A function that makes a network, or a network written out at the top of a script."""
    if isinstance(node, ast.For):  # `for _ in range(depth): layers += [nn.Linear(…), nn.Sigmoid()]`
        return any(isinstance(part, ast.Call) and name_of(part.func) in _LINEAR for part in ast.walk(node))
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
