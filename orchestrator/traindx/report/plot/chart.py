"""What a chart shows, before anything is drawn: panels of lines over one shared axis, and marks on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
MarkKind = Literal["best", "onset", "lost", "spike", "seam"]
"""`onset`, `lost` (not finite from here) and `seam` go through every panel; `best` and `spike` sit on a point"""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve. `breaks` are the first points of stretches that do not continue the one before."""

    label: str
    x: Numbers = field(repr=False)
    y: Numbers = field(repr=False)
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mark:
    """Something worth pointing at; `y` is None for what goes through all panels, `until` ends a shaded stretch."""

    kind: MarkKind
    label: str
    x: float
    y: float | None = None
    until: float | None = None
    downward: bool = False
    """for an excursion: whether it goes down"""


@dataclass(frozen=True)
class Panel:
    """Lines that share a vertical axis."""

    title: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A large panel and small ones below it, over one horizontal axis."""

    title: str
    subtitle: str
    axis: str
    main: Panel
    below: tuple[Panel, ...] = ()

    @property
    def panels(self) -> tuple[Panel, ...]:
        """From top to bottom."""
        return (self.main, *self.below)
