"""What `compute_lstm_health` costs beside the two norms alone, on the CPU, over states of several sizes.

    OMP_NUM_THREADS=1 python benchmarks/lstm_health.py

The two take turns; the ratio is the median over the rounds. The bar is three.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from traindx.monitor import compute_lstm_health
from traindx.monitor.native.library import state_measure

SHAPES = [(1, 1, 64), (1, 32, 128), (2, 64, 256), (2, 256, 512), (2, 512, 512), (4, 512, 1024), (4, 1024, 1024)]
ROUNDS = 31


def seconds(call: Callable[[], object], times: int) -> float:
    """The time of one call."""
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times


def main() -> None:
    """Print one row a size and a number format."""
    norm = torch.linalg.vector_norm
    print("compiled" if state_measure() is not None else "without a compiler: measured by torch")
    print(f"{'state':<28}{'two norms, us':>14}{'health, us':>14}{'ratio':>8}")
    for kind in (torch.float32, torch.float64, torch.bfloat16):
        for shape in SHAPES:
            h, c = torch.randn(shape).to(kind), torch.randn(shape).to(kind)
            times = max(3, 200_000 // (h.numel() + 1_000))
            alone, whole = [], []
            for _ in range(ROUNDS):
                alone.append(seconds(lambda h=h, c=c: (norm(h), norm(c)), times))  # type: ignore[misc]
                whole.append(seconds(lambda h=h, c=c: compute_lstm_health((h, c)), times))  # type: ignore[misc]
            ratio = statistics.median(mine / theirs for mine, theirs in zip(whole, alone, strict=True))
            name = f"{shape} {str(kind).removeprefix('torch.')}"
            print(f"{name:<28}{1e6 * min(alone):>14.1f}{1e6 * min(whole):>14.1f}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
