"""What the calls of a recurrent layer prove about its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from traindx.contract import Citation, Signal
from traindx.monitor.probing.declaration import finding
from traindx.monitor.probing.frames import Named
from traindx.monitor.probing.recurrence import CallSeen, Layer, behind

FEWEST = 3
"""windows that show a course: two points lie on every line"""


@dataclass
class Heard:
    """What was heard beside the calls."""

    retained: bool = False
    """a backward pass was told to keep its graph"""
    skipped: int = 0
    """backward passes that failed on the graph of an earlier step"""
    optimised: set[int] = field(default_factory=set)
    """ids of the parameters that optimizers hold"""


def first_calls(layer: Layer) -> list[CallSeen]:
    """The first call of each window."""
    return [call for call in layer.calls if call.place_in_window == 0]


def parts_of(layer: Layer) -> int:
    """How many tensors its state has."""
    return max((len(call.parts) for call in layer.calls), default=0)


def layer_name(layer: Layer) -> str:
    """`lstm (LSTM)`: the script's own name, and what it is."""
    return f"{layer.named.name} ({layer.kind})" if layer.named and layer.named.name else layer.kind


def faults(layer: Layer, heard: Heard) -> Iterator[Signal]:
    """What is wrong with the state of a layer; nothing where nothing is proven."""
    growing = [part for part in range(parts_of(layer)) if _grows(layer, part, failed=bool(heard.skipped))]
    if growing:
        yield _undetached(layer, growing, heard)
        return
    if not layer.builtin:
        return
    if any(id(parameter) in heard.optimised for parameter in layer.module.parameters()):
        yield from _cut_off(layer)
    emptied = list(_emptied(layer))
    yield from emptied
    if not emptied:
        yield from _order(layer)


def _grows(layer: Layer, part: int, *, failed: bool) -> bool:
    """Whether the graph behind a part keeps its oldest step while the windows go on."""
    longest = run = 0
    for before, after in pairwise(first_calls(layer)):
        oldest = after.window - behind(after, part)
        keeps = behind(after, part) > 0 and oldest == before.window - behind(before, part)
        run = run + 1 if keeps else 0
        longest = max(longest, run)
    # One step already shows it where backward failed on that very graph.
    return longest >= FEWEST or (failed and longest >= 1)


def _undetached(layer: Layer, growing: list[int], heard: Heard) -> Signal:
    calls = [call for call in first_calls(layer) if growing[0] < len(call.parts)]
    depths = [call.parts[growing[0]].reach.depth for call in calls]
    rising = next(at for at, (low, high) in enumerate(pairwise(depths)) if high > low)
    end = next((at for at in range(rising + 1, len(depths)) if depths[at] < depths[at - 1]), len(depths))
    shown = depths[rising:end]
    names = " and ".join(f"`{layer.part_name(part)}`" for part in growing)
    named = layer.names.get(growing[0]) or layer.place
    place = named.place if named else ""
    carries = "carry" if len(growing) > 1 else "carries"
    said = f"{names} {carries} the graph of every earlier step: depth {shown[0]} -> {shown[-1]} in {len(shown)} steps"
    said += f" ({place})" if place else ""
    kind, cited = "probed-state-not-detached", [named] if named else []
    if layer.discarded is not None:
        kind, cited = "probed-detach-result-discarded", [layer.discarded, *cited]
        said += f"; the result of the `detach()` at {layer.discarded.place} is not what goes on"
    elif heard.retained:
        kind = "probed-retain-graph"
        said += "; backward is told to retain it"
    elif len(growing) < parts_of(layer):
        kind = "probed-cell-state-not-detached"
        kept = [layer.part_name(part) for part in range(parts_of(layer)) if part not in growing]
        said += f"; {', '.join(f'`{name}`' for name in kept)} does not"
    facts = {"state": layer.part_name(growing[0]), "state_place": place}
    return finding(kind, said, _cited(said, *cited), **facts)


def _cut_off(layer: Layer) -> Iterator[Signal]:
    """A loss that never reaches the layer, and steps of length 1 that are cut from each other within a window."""
    trained = sorted(layer.trained)
    named = layer.cut or layer.place
    facts = {"state": named.name or layer.part_name(0), "state_place": named.place} if named else {}
    if len(trained) >= FEWEST and not layer.reached:
        where = f": `{named.name}` is detached at {named.place}" if layer.cut and named and named.name else ""
        said = f"in none of {len(trained)} steps does a loss reach `{layer_name(layer)}`{where}"
        yield finding("probed-state-detached-too-early", said, _cited(said, named), **facts)
        return
    inner = [call for call in layer.calls if call.place_in_window and call.length == 1 and call.given]
    cut = [call for call in inner if all(part.carried and not part.reach.depth for part in call.parts)]
    if len(inner) >= FEWEST and len(cut) == len(inner):
        said = f"within a window, every step of `{layer_name(layer)}` starts from a detached state"
        yield finding("probed-state-detached-too-early", said, _cited(said, named), **facts)


def _emptied(layer: Layer) -> Iterator[Signal]:
    """One step of length 1 in each window, and nothing remembered before it."""
    firsts = first_calls(layer)
    alone = len(firsts) == len(layer.calls) and all(call.length == 1 for call in firsts)
    if any(call.shuffled for call in firsts):
        return  # samples that have nothing to do with each other: there is nothing to remember
    empty = [call for call in firsts if not call.given or all(part.zero for part in call.parts)]
    if alone and len(firsts) > FEWEST and len(empty) == len(firsts):
        named = layer.names.get(0) or layer.place
        name = f"`{layer.part_name(0)}`" if empty[0].given else "no state"
        said = f"{name} is empty at the start of each of {len(firsts)} steps of length 1 of `{layer_name(layer)}`"
        facts = {"state": layer.part_name(0), "state_place": named.place} if named else {}
        yield finding("probed-state-reset-every-step", said, _cited(said, named), **facts)


def _order(layer: Layer) -> Iterator[Signal]:
    """A state that goes on where the data does not."""
    calls = first_calls(layer)
    going_on = [call for call in calls[1:] if call.given and all(part.carried for part in call.parts)]
    named = layer.names.get(0) or layer.place
    facts = {"state": layer.part_name(0), "state_place": named.place} if named else {}
    name = layer.part_name(0)
    shuffled = [call for call in going_on if call.shuffled and not call.restarted]
    if len(shuffled) >= FEWEST:
        said = f"`{name}` went from batch to batch {len(shuffled)} times, and the batches come in random order"
        yield finding("probed-state-with-shuffled-batches", said, _cited(said, named), **facts)
        return
    starts = [call for call in layer.calls if call.restarted]
    across = [call for call in starts if call in going_on]
    if starts and len(across) == len(starts):
        said = f"`{name}` went on from the end of the data into its start {len(across)} times: it is never reset"
        yield finding("probed-state-never-reset", said, _cited(said, named), **facts)


def sound(layer: Layer) -> Iterator[Signal]:
    """That a state is carried on without a graph, where it is."""
    calls = first_calls(layer)
    carried = [call for call in calls if call.given and all(part.carried for part in call.parts)]
    clean = all(not behind(call, part) for call in calls for part in range(len(call.parts)))
    named = layer.names.get(0) or layer.place
    if layer.builtin and len(carried) >= FEWEST and clean:
        starts = sum(call.restarted for call in layer.calls)
        said = f"`{layer.part_name(0)}` is sound: carried through {len(calls)} steps without a graph"
        said += f", over {starts} restarts of the data" if starts else ""
        yield finding("probed-state-sound", said, _cited(said, named))


def _cited(claim: str, *places: Named | None) -> list[Citation]:
    return [place.cite(claim) for place in places if place is not None]
