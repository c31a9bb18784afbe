"""Training data comes in class or sorted order.

## What it finds
A training loader without `shuffle` or a sampler over data that is in class order: an image folder, a data set that
lists its files folder by folder or its samples class by class, labels that are concatenated class by class, rows that
were sorted.

## Why it matters
Each batch holds one class: the model forgets the others, the loss jumps at each change, and the last class wins.

## Silent
Shuffled loaders, samplers, data that a permutation has mixed, time series that are carried in order, data whose order
is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.class_order import in_classes, in_folders
from traindx.program.finding import Finding
from traindx.program.queries import class_of, pass_of, passes_with
from traindx.program.trace import Trace
from traindx.program.values import Instance, Made, Place, Plain, Stream, Tensor, Value

ID = "unshuffled-training-data"
SAYS = ("proven", "suspected")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the loaders that are trained on."""
    trace = analysis.trace
    learning = passes_with(trace, "backward")
    done: set[int] = set()
    for event in trace.of("loop"):
        source = event.subject.source if isinstance(event.subject, Stream) else event.subject
        if not isinstance(source, Made) or source.kind != "DataLoader" or pass_of(event) not in learning:
            continue
        if source.number in done or source.place is None or _mixed(source) or trace.of("recurrent"):
            continue
        done.add(source.number)
        why = _ordered(source.argument(0, "dataset"))
        if why and _labels_count(trace, source):
            listed = _listed(source.argument(0, "dataset"))
            yield Finding(
                ID,
                source.place,
                f"the training data comes in order, unshuffled: {why}",
                proven=not _may_be_asked_for(source),
                facts={"loader_place": source.place.text, "order": why},
                also=((listed, "the order of the samples"),) if listed is not None else (),
            )


def _listed(data: Value | None) -> Place | None:
    """Where a data set of the program puts one class after the other."""
    cls = data.cls if isinstance(data, Instance) else None
    return (in_folders(cls) or in_classes(cls)) if cls is not None else None


def _may_be_asked_for(loader: Made) -> bool:
    """Whether a flag of the command line can switch the shuffling on."""
    shuffle = loader.argument(2, "shuffle")
    return isinstance(shuffle, Plain) and shuffle.sure == "default"


def _labels_count(trace: Trace, loader: Made) -> bool:
    """Whether the labels go into the loss; of images without labels the order of folders says nothing."""
    data = loader.argument(0, "dataset")
    if not isinstance(data, Made) or data.kind != "images":
        return True
    targets = [event.facts.get("target") for event in trace.of("loss") if event.grad]
    return any(isinstance(one, Tensor) and "target" in one.marks for one in targets)


def _mixed(loader: Made) -> bool:
    """Whether something shuffles, or may."""
    shuffle = loader.argument(2, "shuffle")
    off = shuffle is None or (isinstance(shuffle, Plain) and shuffle.value is False)
    return not off or bool({"sampler", "batch_sampler", "**"} & loader.keywords.keys()) or len(loader.args) > 3


def _ordered(data: Value | None) -> str:
    if isinstance(data, Made) and data.kind == "images" and class_of(data) in {"ImageFolder", "DatasetFolder"}:
        return "an image folder is read class by class"
    if isinstance(data, Instance) and data.cls is not None and in_folders(data.cls) is not None:
        return "its files are listed folder by folder, one class after the other"
    if isinstance(data, Instance) and data.cls is not None and in_classes(data.cls) is not None:
        return "its samples are listed class by class"
    if isinstance(data, Made) and data.kind == "TensorDataset":
        for part in data.args:
            if isinstance(part, Tensor) and "in-classes" in part.marks:
                return "its labels are put together class by class"
            if isinstance(part, Tensor) and "sorted" in part.marks and part.shape != (None,):
                return "its rows were sorted"
    return ""
