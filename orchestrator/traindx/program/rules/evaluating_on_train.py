"""The validation metric is computed on training data.

## What it finds
A loader that is called validation or test and goes through the very data set that is trained on, or through the same
rows of it; an evaluation that goes through the training loader while a loader for validation exists and is never used;
a framework that is handed the same data for both.

## Why it matters
The metric shows memorisation: it rises to the end, and nothing tells when to stop.

## Silent
Evaluations on both, training accuracy beside validation accuracy, programs with one data set only, runs that are
meant to overfit a few batches, other rows of the same data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.feeding import fed_twice
from traindx.program.finding import Finding
from traindx.program.queries import pass_of, passes_with
from traindx.program.split_names import unread_splits
from traindx.program.streams import LOADER
from traindx.program.trace import Trace
from traindx.program.values import UNKNOWN, Instance, Items, Made, Plain, Stream, Tensor, Value, is_none, text

ID = "evaluating-on-train"
_HELD = re.compile(r"(?:^|_)(?:val|valid|validation|test|dev|eval|holdout)(?:_|$)", re.IGNORECASE)

_TRAIN = re.compile(r"(?:^|_)(?:train|tr|trn|training)(?:_|$)", re.IGNORECASE)


def check(analysis: Analysis) -> Iterator[Finding]:
    """Compare what is trained on with what is evaluated on."""
    trace = analysis.trace
    learning = passes_with(trace, "backward")
    trained = [
        loader for event in trace.of("loop") if (loader := _loader(event.subject)) and pass_of(event) in learning
    ]
    looped = {_written(loader) for event in trace.of("loop") if (loader := _loader(event.subject))}
    loaders = [made for event in trace.of("loader") if isinstance(made := event.subject, Made)]
    for made in loaders:
        same = [one for one in trained if one is not made and _same_data(one, made)]
        if same and _is_held(made) and made.place is not None and not _is_held(same[0]):
            yield Finding(
                ID,
                made.place,
                f"`{_name(made)}` goes through the data set that is trained on",
                facts={"loader": _name(made), "loader_place": made.place.text},
                also=((same[0].place, "the training loader"),) if same[0].place is not None else (),
            )
    yield from _handed_over(analysis)
    for row in unread_splits(analysis.units):
        yield Finding(
            ID,
            row.chosen,
            f"`{row.function}` chooses its data without looking at `{row.parameter}`: every part is the same data",
            facts={"loader": f"what `{row.function}` gives", "loader_place": row.chosen.text},
            also=((row.asked, "asks for a part that is not trained on"),),
        )
    held = [made for made in loaders if _is_held(made)]
    if not any(_written(made) in looped for made in held):
        yield from _instead(trace, trained, held, learning)


def _handed_over(analysis: Analysis) -> Iterator[Finding]:
    """A framework that is given the same data to train on and to evaluate on."""
    for event in analysis.trace.of("fed"):
        train, held = (_loader(event.facts[name] or UNKNOWN) for name in ("train", "held"))
        if train is None or held is None or held.place is None or not event.facts["place"]:
            continue
        # Arrays of one origin may be two calls of one function: here only what is one object counts.
        if train is held or (_same_data(train, held) and not _of_two_arrays(train, held)):
            yield Finding(
                ID,
                held.place,
                "what the framework validates on is the data that it trains on",
                facts={"loader": _name(held) or "the validation loader", "loader_place": held.place.text},
                also=((train.place, "the training loader"),) if train.place not in {None, held.place} else (),
            )
    for unit in analysis.units:
        for place, name in fed_twice(unit):
            yield Finding(
                ID,
                place,
                f"`{name}` is the data that is trained on",
                facts={"loader": name, "loader_place": place.text},
            )


def _of_two_arrays(one: Made, other: Made) -> bool:
    a, b = one.argument(0, "dataset"), other.argument(0, "dataset")
    return a is not b and isinstance(a, Made) and a.kind == "TensorDataset"


def _instead(trace: Trace, trained: list[Made], held: list[Made], learning: set[int]) -> Iterator[Finding]:
    """The training loader where the one for validation is left unused."""
    numbers = {made.number for made in trained}
    evaluated = [
        event
        for event in trace.of("loop")
        if (loader := _loader(event.subject)) and loader.number in numbers and pass_of(event) not in learning
    ]
    forward = passes_with(trace, "forward")
    evaluated = [event for event in evaluated if pass_of(event) in forward]
    if held and evaluated and held[0].place is not None:
        event = evaluated[0]
        place = event.calls[-1] if event.calls else event.place
        yield Finding(
            ID,
            place,
            f"the evaluation goes through the training loader, and `{_name(held[0])}` is never used",
            facts={"loader": _name(held[0]), "loader_place": place.text},
            also=((held[0].place, "never gone through"), (event.place, "the loop that evaluates")),
        )


def _loader(value: Value) -> Made | None:
    source = value.source if isinstance(value, Stream) else value
    if isinstance(source, Items) and source.items:
        source = source.items[0]
    if isinstance(source, Instance):
        source = source.fields.get(LOADER, UNKNOWN)
    return source if isinstance(source, Made) and source.kind == "DataLoader" else None


def _is_held(made: Made) -> bool:
    """Whether a loader is called like one for validation; `train_eval_loader` says itself what it goes through."""
    return _HELD.search(_name(made)) is not None and _TRAIN.search(_name(made)) is None


def _name(made: Made) -> str:
    told = made.fields.get("@name")
    return str(told.value) if isinstance(told, Plain) else ""


def _written(made: Made) -> object:
    """Where a loader is made: a function that makes one is followed for each of its calls."""
    return made.place.text if made.place is not None else made.number


def _chosen(made: Made) -> Value | None:
    """What decides which of the rows are taken: a sampler, or the rows that it was given."""
    given = made.keywords.get("sampler", made.keywords.get("batch_sampler"))
    if given is None or is_none(given):
        return None
    subset = isinstance(given, Made) and text(given.fields.get("@class")) == "SubsetRandomSampler"
    return (given.argument(0, "indices") or given) if isinstance(given, Made) and subset else given


def _same_data(one: Made, other: Made) -> bool:
    rows = _chosen(one), _chosen(other)
    if (rows[0] is not None or rows[1] is not None) and not _same_object(*rows):
        return False
    a, b = one.argument(0, "dataset"), other.argument(0, "dataset")
    if a is None or b is None:
        return False
    if a is b and isinstance(a, Made | Instance):
        return True
    if isinstance(a, Made) and a.kind == "split" and a.args and a.args[0] is b and isinstance(b, Made | Instance):
        return True  # a part is trained on, and the other loader goes through all of it
    if isinstance(a, Made) and isinstance(b, Made) and a.kind == b.kind == "Subset":
        return _same_object(a.argument(0, "dataset"), b.argument(0, "dataset")) and _same_object(
            a.argument(1, "indices"), b.argument(1, "indices")
        )
    if isinstance(a, Made) and isinstance(b, Made) and a.kind == b.kind == "TensorDataset":
        if a.place is not None and b.place is not None and a.place.text == b.place.text:
            return False  # a function that makes data was called twice
        pairs = list(zip(a.args, b.args, strict=False))
        return bool(pairs) and all(_same_rows(x, y) for x, y in pairs)
    return False


def _same_object(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one and the same; of what nobody knows that cannot be said."""
    return one is other and isinstance(one, Made | Instance | Tensor | Items | Stream)


def _same_rows(one: Value, other: Value) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor) or not one.origin:
        return False
    return one.origin == other.origin and one.rows is not None and one.rows == other.rows
