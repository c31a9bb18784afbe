"""Time per step: waiting for data, an idle device, a pace that does not hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, case, check, falling, table

PACE = "check_throughput"


def steps(points: int = 30, **columns: object) -> dict[str, str]:
    filled = {name: np.broadcast_to(np.asarray(value, float), (points,)).tolist() for name, value in columns.items()}
    return table("step", 10, loss=falling(points), **filled)


GROWING = np.linspace(0.1, 0.5, 30) * np.tile([1.0, 1.08, 0.95], 10)
SAVED = np.where(np.arange(30) % 10 == 9, 3.0, 0.1)
BURST = np.where((np.arange(36) > 9) & (np.arange(36) < 18), 1.5, 0.0)
FLOOR = np.linspace(0.1, 0.5, 36) * np.tile([1.0, 1.08, 0.95], 12) + BURST
LOADED = 0.1 + 0.01 * (np.arange(36) % 3) + BURST
RESET = np.concatenate([np.arange(1, 4) * 5.0, np.arange(1, 58) * 5.0])
WARM = np.where(np.arange(30) < 2, 9.0, 0.1)

CASES = [
    case(PACE, "most of the step is waiting", steps(time=0.5, data_time=0.45), "loader-starves-device",
         "loader-takes-time"),
    case(PACE, "half of the step is waiting", steps(time=0.5, data_time=0.3), "loader-takes-time",
         "loader-starves-device"),
    case(PACE, "data arrives in time", steps(time=0.5, data_time=0.01),
         silent="loader-takes-time loader-starves-device steps-slow-down"),
    case(PACE, "a device that waits", steps(gpu_util=np.tile([5, 12, 20], 10)), "device-idles", "device-unused"),
    case(PACE, "a device that works", steps(gpu_util=np.tile([91, 97, 88], 10)), silent="device-idles device-unused"),
    case(PACE, "a device that does nothing", steps(gpu_util=0.0), "device-unused", "device-idles"),
    case(PACE, "slower and slower", steps(step_time=GROWING), "steps-slow-down", "steps-keep-pace steps-crawl"),
    case(PACE, "ever slower", steps(step_time=GROWING**2), "steps-crawl", "steps-slow-down"),
    case(PACE, "fewer and fewer tokens a second", steps(tokens_per_sec=1 / GROWING), "steps-slow-down"),
    case(PACE, "a toy that waits", steps(time=0.005, data_time=0.0045), "loader-takes-time", "loader-starves-device"),
    case(PACE, "some steps save a checkpoint", steps(step_time=SAVED), "steps-keep-pace", "steps-slow-down"),
    case(PACE, "the first steps compile", steps(step_time=WARM), silent="steps-slow-down"),
    case(PACE, "a floor that rises under other load", steps(36, step_time=FLOOR), "steps-slow-down", "steps-keep-pace"),
    case(PACE, "other load on a steady floor", steps(36, step_time=LOADED), silent="steps-slow-down steps-crawl"),
    case(PACE, "time since a start that was reset", steps(60, train_time=RESET), silent="steps-slow-down steps-crawl"),
    case(PACE, "time since the start", steps(time=np.arange(1, 31) * 5.0), silent="steps-slow-down"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
