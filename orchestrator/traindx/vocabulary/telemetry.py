"""What a training run tells of itself through `traindx.monitor`: names of files, keys and events, for both sides."""

from __future__ import annotations

FILE_STEM = "traindx-monitor"
FILE_SUFFIX = ".jsonl"

H_NORM, C_NORM, H_MAX, C_MAX = "lstm_h_norm", "lstm_c_norm", "lstm_h_max", "lstm_c_max"
HAS_NAN, HAS_INF = "lstm_has_nan", "lstm_has_inf"
STATE_KEYS = (H_NORM, C_NORM, H_MAX, C_MAX, HAS_NAN, HAS_INF)

EVENT = "event"
START, NON_FINITE, END = "start", "non-finite", "end"

# What an event of numbers that are none tells: where the first came from, its name, its class, and what was found.
FROM, AT, CLASS, FOUND = "from", "at", "class", "found"
INPUT, WEIGHT, MODULE, GRADIENT = "input", "weight", "module", "gradient"
TORCH_CLASS = "torch.nn."


def file_name(name: str = "", rank: int | None = None) -> str:
    """The file of a monitor: `traindx-monitor.jsonl`, `traindx-monitor.generator.rank3.jsonl`."""
    middle = "".join(f".{part}" for part in (name, "" if rank is None else f"rank{rank}") if part)
    return f"{FILE_STEM}{middle}{FILE_SUFFIX}"


def is_monitor_file(path: str) -> bool:
    """Whether a path is that of a file that a monitor wrote."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    return name.startswith(FILE_STEM) and name.endswith(FILE_SUFFIX)
