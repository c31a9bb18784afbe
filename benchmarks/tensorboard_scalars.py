"""Reading 200,000 TensorBoard scalars: traindx against EventAccumulator and tbparse, interleaved in one run.

Every reader must give the same values. Needs `torch` and `tensorboard`; `tbparse` joins in where it is installed.
"""

import importlib.util
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from traindx.readers.trackers import tensorboard

STEPS = 40_000
ROUNDS = 3
# tag, whether as a tensor, whether in double precision
TAGS = (
    ("loss/train", False, False),
    ("accuracy/train", False, False),
    ("lr", False, False),
    ("loss/val", True, False),
    ("grad_norm", True, True),
)
Values = dict[str, np.ndarray]


def write(folder: Path) -> None:
    """Write the scalars with torch's writer: three tags in the old style, two as tensors."""
    from torch.utils.tensorboard import SummaryWriter

    noise = np.random.default_rng(0).random((STEPS, len(TAGS)))
    with SummaryWriter(str(folder), max_queue=10_000, flush_secs=600) as writer:
        for step in range(STEPS):
            for place, (tag, tensor, double) in enumerate(TAGS):
                writer.add_scalar(tag, noise[step, place], step, new_style=tensor, double_precision=double)


def ours(folder: Path) -> Values:
    """Read with traindx: series of numpy arrays."""
    found: Values = {}
    for path in folder.iterdir():
        with path.open("rb") as handle:
            found |= {series.original: series.values for series in tensorboard.read(handle, path.name).series}
    return found


def accumulator(folder: Path) -> Values:
    """Read with TensorBoard's own reader, keeping every event."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    found = {tag: np.array([event.value for event in events.Scalars(tag)]) for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        points = [tensor_util.make_ndarray(event.tensor_proto).item() for event in events.Tensors(tag)]
        found[tag] = np.array(points)
    return found


def tbparse(folder: Path) -> Values:
    """Read with tbparse: one pandas frame."""
    from tbparse import SummaryReader

    reader = SummaryReader(str(folder))
    found: Values = {}
    for frame in (reader.scalars, reader.tensors):
        for tag, rows in frame.groupby("tag") if len(frame) else ():
            found[str(tag)] = np.array([float(np.asarray(value).item()) for value in rows["value"]])
    return found


def main() -> None:
    """Print one row a reader: median time, time per scalar, and how much longer than traindx it takes."""
    readers: dict[str, Callable[[Path], Values]] = {"traindx": ours, "EventAccumulator": accumulator}
    if importlib.util.find_spec("tbparse"):
        readers["tbparse"] = tbparse
    else:
        print("tbparse is not installed: left out")
    warnings.simplefilter("ignore")  # the other readers' own deprecations
    taken: dict[str, list[float]] = {name: [] for name in readers}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{STEPS * len(TAGS):,} scalars, {size / 1e6:.1f} MB, {ROUNDS} rounds, median")
        for _ in range(ROUNDS):
            values: dict[str, Values] = {}
            for name, reader in readers.items():
                began = time.perf_counter()
                values[name] = reader(folder)
                taken[name].append(time.perf_counter() - began)
            for name, found in values.items():
                assert found.keys() == values["traindx"].keys(), (name, sorted(found))
                for tag, points in found.items():
                    np.testing.assert_array_equal(points, values["traindx"][tag], err_msg=f"{name} {tag}")
    fastest = statistics.median(taken["traindx"])
    print(f"{'reader':18} {'seconds':>9} {'us/scalar':>10} {'ratio':>8}")
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:18} {median:9.3f} {median / STEPS / len(TAGS) * 1e6:10.2f} {median / fastest:7.1f}x")


if __name__ == "__main__":
    main()
