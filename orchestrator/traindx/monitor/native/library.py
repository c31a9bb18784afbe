"""The compiled measure of states (`state.c`), loaded where the package was built with a compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("libstate.so")
TOLD = 5
"""numbers that are told of each state: norm, largest magnitude, largest and smallest norm of a sample, Inf seen"""

Measure = Callable[[int, int, int, int, int, int], None]
"""address of the numbers, layers, samples, width, whether they are doubles, address of what is told"""


@cache
def state_measure(file: Path = FILE) -> Measure | None:
    """The compiled function; None where there is none."""
    try:
        function = ctypes.CDLL(str(file)).traindx_state
    except (OSError, AttributeError):
        return None
    function.restype = None
    function.argtypes = [ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_int32, ctypes.c_void_p]
    return function
