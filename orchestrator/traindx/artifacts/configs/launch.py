"""Options on a command line: `srun python train.py --lr 0.2 --amp`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.artifacts.configs.pairs import flags
from traindx.contract import Fact

_STARTS = re.compile(r"\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|horovodrun)\b|^\s*--\w")


def launch_options(text: str) -> Iterator[tuple[str, Fact, int]]:
    """Name, value and line of every option that a launch script gives; a command may go on over several lines."""
    going_on = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("#") or not (going_on or _STARTS.search(line)):
            going_on = False
            continue
        yield from flags(line, number)
        going_on = bare.endswith("\\")
