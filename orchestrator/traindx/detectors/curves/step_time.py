"""Where the time of a step goes, and whether steps take longer as the run goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.change_point import stays_since
from traindx.detectors.curves.onset import Closer, exact_onset
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series

SIGNALS = {
    "loader-takes-time": "a good part of every step is spent waiting for data",
    "loader-starves-device": "most of every step is spent waiting for data",
    "device-idles": "the device is used for a small part of the time",
    "device-unused": "the utilisation of the device is zero throughout",
    "steps-slow-down": "steps take much longer than earlier in the same run, and stay so",
    "steps-crawl": "steps take a multiple of their earlier time, and stay so",
    "steps-keep-pace": "steps take as long at the end as before",
}

FEWEST = 10
FEW = 3
"""values of the waiting that tell enough where each of them is most of a long step, far from the start of the run"""
FAR = 50
WAITING = 0.5
STARVING = 0.75
IDLE = 35.0
"""percent of utilisation below which a device mostly waits"""
SLOWER = 1.6
"""late over early median: evaluation, saving and a warm cache stay below"""
CRAWLING = 3.0
STEADY = 1.2
LONG_WAIT = 0.3
"""seconds a step: shorter waits are those of toys"""
NEARLY_ALL, SHORT_WAIT = 0.9, 0.1
"""where hardly anything but waiting is left of a step, a shorter wait tells as much"""
NOTICED = 60.0
"""seconds that a run must lose in all for a slower pace to be worth a word; a busy machine does that to small runs"""
FLOORS = 9
RISEN = 2.5
MOSTLY = 0.7
"""windows, the last floor over the first, and the share of floors above the one before"""
RISES = 0.95
"""share of points above the one before, from which on a time is counted from some start, which may be reset"""
SOON = 20
"""steps of a pass that a first logged value may come after"""
SKIPPED = 0.1
"""share of the points at the start that compilation, warm-up and filling caches may take"""
_DATA = re.compile(
    r"^(?:perf|time|timing|timer|profile|train|d?t|dur)?[/_. ]*(?:data(?:_?load\w*)?|load(?:er|ing)?|fetch|input|"
    r"dataload\w*|batch_load\w*|wait(?:_data)?)(?:[_ ]?(?:time|ms|s|sec|wait))?$",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^(?:perf|time|timing|timer|profile|train)?[/_. ]*(?:(?:step|iter(?:ation)?|batch|total|train_step)"
    r"[_ ]?)?(?:time|dt|ms|sec(?:onds)?|duration|latency)(?:[_ ]?(?:per|/)?[_ ]?(?:step|iter|it|batch|ms|s))?$"
    r"|^s/(?:it|iter|step|batch)$|^(?:d?t|dur|timing|timer)[/_.](?:step|iter(?:ation)?|batch)$"
    r"|^(?:time[/_. ]*)?(?:compute|fwd|forward|fwd[+_&-]bwd|forward[+_ ]backward|fb)[_ ]?(?:time|ms|s|sec)?$"
    r"|^(?:time[/_. ]*)?(?:model|train|gpu)[_ ](?:time|ms|s|sec)$",
    re.IGNORECASE,
)
_EPOCH = re.compile(
    r"epoch[_ ]?(?:time|secs?|seconds|duration)|(?:time|secs?|seconds)[_ /]*(?:per[_ ])?epoch", re.IGNORECASE
)
_PACE = re.compile(
    r"(?:it|iters?|steps?|tok(?:en)?s?|samples?|examples?|images?|imgs?|seqs?|frames?|words?)"
    r"(?:[_ /]*(?:per)?[_ /]*(?:s|sec|second)s?(?:[_ /]*(?:per)?[_ /]*(?:gpu|device|chip))?)$"
    r"|throughput|^(?:wps|ups|fps|tps)$",
    re.IGNORECASE,
)
_EVALUATION = re.compile(r"eval|val|test|eta|elapsed|total_time|wall|remaining|since|gen", re.IGNORECASE)
_DEVICE = re.compile(
    r"gpu.{0,12}util|util.{0,12}gpu|sm[_ ]?util|^system[./]gpu\.\d+\.gpu$|gpu[_ ]?\d*[_ ]?(?:usage|busy)", re.IGNORECASE
)


def detect(series: Sequence[Series], closer: Closer | None = None) -> list[Signal]:
    """How much of a step is waiting, how busy the device is, and how the pace develops."""
    return [*_waiting(series), *_device(series), *_pace(series, closer)]


def _usable(series: Sequence[Series], fewest: int = FEWEST) -> list[Series]:
    rows = [row for row in series if len(row) >= fewest and not row.duplicate_of]
    return [row for row in rows if np.isfinite(row.values).all() and float(row.values.min()) >= 0]


def _waiting(series: Sequence[Series]) -> list[Signal]:
    rows = _usable(series, FEW)
    for data in rows:
        if not _DATA.match(data.original) or float(np.median(data.values)) <= 0:
            continue
        whole = [row for row in rows if row.source == data.source and _STEP.match(row.original) and row is not data]
        # `Time: 1.400s  Data: 1.230`: a unit is often written once.
        whole = [row for row in whole if _beside(data, row) is not None and (row.unit == data.unit or not data.unit)]
        if not whole:
            continue
        step = whole[0]
        late = slice(len(data) // 3, None)
        same = np.arange(len(step))[_beside(data, step)]
        waited, took = float(np.median(data.values[late])), float(np.median(step.values[same][late]))
        apart = took < waited  # `compute 0.1 data 0.4`: the step is what both take together
        share = waited / (waited + took if apart else took) if took > 0 else 0.0
        if share < WAITING or share > 1.0:
            return []
        if len(data) < FEWEST and not _always(data, step.values[same], apart):
            continue
        unit = data.unit or step.unit or "s"
        whole_step = waited + took if apart else took
        claim = f"`{data.original}` is {waited:.3g} {unit} of a step of {whole_step:.3g} {unit}: {share:.0%}"
        facts: dict[str, Fact] = {"wait_share": f"{share:.0%}", "wait_time": waited, "wait_series": data.original}
        places = [cite(data, len(data) - 1, claim), cite(step, int(same[-1]), "the whole step")]
        least = SHORT_WAIT if share >= NEARLY_ALL else LONG_WAIT
        long = waited >= least * (1_000 if unit == "ms" else 1)
        name = "loader-starves-device" if share >= STARVING and long else "loader-takes-time"
        return [Signal(id=name, claim=claim, citations=places, facts=facts)]
    return []


def _always(data: Series, took: Numbers, apart: bool) -> bool:
    """Whether all of a few steps waited for most of their time, long after the workers had filled their queues."""
    whole = data.values + took if apart else took
    return data.axis == "step" and float(data.at[0]) >= FAR and bool((data.values >= STARVING * whole).all())


def _beside(data: Series, step: Series) -> slice | npt.NDArray[np.bool_] | None:
    """The points of the time of a step that stand where those of the waiting do; evaluation may log its own."""
    if len(step) == len(data):
        return slice(None)
    if data.place != "line" or step.place != "line":
        return None
    there = np.isin(step.lines, data.lines)
    return there if int(there.sum()) == len(data) else None


def _device(series: Sequence[Series]) -> list[Signal]:
    rows = [row for row in _usable(series) if _DEVICE.search(row.original) and "mem" not in row.original.lower()]
    if not rows:
        return []
    row = max(rows, key=lambda one: float(np.median(one.values)))
    late = row.values[len(row) // 4 :]
    scale = 100.0 if float(row.values.max()) <= 1.0 and row.unit != "%" and float(row.values.max()) > 0 else 1.0
    usual = float(np.median(late)) * scale
    facts: dict[str, Fact] = {"device_use": f"{usual:.0f} %"}
    place = cite(row, len(row) - 1, f"the device is used at {usual:.0f} %")
    if float(row.values.max()) == 0:
        claim = f"`{row.original}` is 0 at every one of {len(row)} points"
        return [Signal(id="device-unused", claim=claim, citations=[place], facts=facts)]
    if usual < IDLE and float(np.percentile(late, 75)) * scale < IDLE + 15:
        claim = f"`{row.original}` stays near {usual:.0f} %: the device mostly waits"
        return [Signal(id="device-idles", claim=claim, citations=[place], facts=facts)]
    return []


def _pace(series: Sequence[Series], closer: Closer | None) -> list[Signal]:
    """The first measure of time per step, or of steps per time, that tells how the pace develops."""
    steady: Signal | None = None
    for row in _usable(series):
        if _EVALUATION.search(row.original) or float(np.median(row.values)) <= 0:
            continue
        faster = _PACE.search(row.original) is not None
        if not faster and not _STEP.match(row.original) and not _EPOCH.search(row.original):
            continue
        kept = row.values[int(SKIPPED * len(row)) :]
        costs = _costs(kept, faster)
        if _one_pass(row):
            continue
        found = _slower(row, costs, len(row) - len(kept), faster, closer)
        if found is not None:
            return [found]
        if steady is None and _ratio(costs) <= STEADY:
            claim = f"`{row.original}` is {np.median(row.values[-len(row) // 4 :]):.4g} at the end, as before"
            steady = Signal(id="steps-keep-pace", claim=claim, citations=[cite(row, len(row) - 1, claim)])
    return [steady] if steady is not None else []


def _one_pass(row: Series) -> bool:
    """Whether no place of a pass over the data is seen twice, in a later pass: sorted batches grow in every pass."""
    epochs = row.epochs
    if epochs is None or row.restarts or not np.isfinite(epochs).all():
        return False
    return float(epochs[0]) > 1 and float(row.at[0]) <= SOON


def _costs(values: Numbers, faster: bool) -> Numbers:
    """Time per step, also where a series counts the steps per time."""
    return 1 / np.maximum(values, 1e-12) if faster else values


def _ratio(costs: Numbers) -> float:
    third = max(1, len(costs) // 3)
    return float(np.median(costs[-third:]) / np.median(costs[:third]))


def _slower(row: Series, costs: Numbers, skipped: int, faster: bool, closer: Closer | None) -> Signal | None:
    third = max(1, len(costs) // 3)
    early, late = costs[:third], costs[-third:]
    # A few slow steps are saved checkpoints: nearly all of the late ones must be slower than nearly all early ones.
    apart = _ratio(costs) >= SLOWER and float(np.percentile(late, 20)) >= float(np.percentile(early, 80))
    if not apart and not _floor_rises(costs):
        return None
    if _is_counter(row.values):
        return None
    begin, end = (float(np.median(row.values[skipped:][:third])), float(np.median(row.values[-third:])))
    middle = (np.median(early) + np.median(late)) / 2
    since = min(len(row) - 1, skipped + stays_since(costs > middle))
    onset = exact_onset(
        row, since, lambda values: (1 / np.maximum(values, 1e-12) if faster else values) > middle, closer
    )
    ratio = max(_ratio(costs), float(costs[-third:].min() / costs[:third].min()))
    claim = (
        f"`{row.original}` went from {begin:.4g} to {end:.4g}:"
        f" steps take {ratio:.1f} times as long, from {where(*onset)} on"
    )
    facts: dict[str, Fact] = {
        "pace_series": row.original,
        "pace_early": begin,
        "pace_late": end,
        "pace_ratio": f"{ratio:.1f}",
        "pace_since": where(*onset),
    }
    places = [cite(*onset, "the first step at the new pace"), cite(row, skipped, "the pace early on")]
    places.append(cite(row, len(row) - 1, claim))
    if ratio >= CRAWLING:
        return Signal(id="steps-crawl", claim=claim, citations=places, facts=facts)
    lost = None if faster else _seconds_lost(row, since, float(np.median(early)))
    strength = 1.0 if lost is None else min(1.0, max(0.05, lost / NOTICED))
    return Signal(id="steps-slow-down", claim=claim, strength=strength, citations=places, facts=facts)


def _seconds_lost(row: Series, since: int, early: float) -> float | None:
    """How much longer the run took for its slower steps; None where the file does not say in what it counts time."""
    second = {"ms": 1e-3, "s": 1.0}.get(row.unit or ("ms" if row.original.lower().endswith("ms") else ""))
    if second is None or row.axis != "step" or len(row) - since < 2:
        return None
    steps = float(row.at[-1] - row.at[since])
    return max(0.0, float(np.median(row.values[since:])) - early) * second * steps


def _floor_rises(costs: Numbers) -> bool:
    """Whether even the fastest steps take longer and longer: other load comes and goes, a cost that grows stays."""
    if len(costs) < 2 * FLOORS:
        return False
    floors = np.array([part.min() for part in np.array_split(costs, FLOORS)])
    return bool(floors[0] > 0 and floors[-1] >= RISEN * floors[0] and np.mean(np.diff(floors) > 0) >= MOSTLY)


def _is_counter(values: Numbers) -> bool:
    """Whether a series adds up: the time since the start hardly ever falls, that of single steps does now and then."""
    return float(np.mean(np.diff(values) >= 0)) >= RISES
