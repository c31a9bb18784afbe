"""The few shapes a chart is made of, in pixels of a picture of 1000 by 700; both renderers draw exactly these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WIDTH, HEIGHT = 1000, 700

Anchor = Literal["start", "middle", "end"]
Form = Literal["circle", "diamond", "triangle", "upright", "cross"]
Points = tuple[tuple[float, float], ...]

# Okabe and Ito's palette: told apart with every common kind of colour blindness.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
INK, SOFT, GRID, SHADE = "#222222", "#666666", "#E4E4E4", "#F3E9E4"


@dataclass(frozen=True)
class Style:
    """How a line looks: never by its colour alone."""

    colour: str
    dash: tuple[float, ...]
    form: Form


STYLES = (
    Style(BLUE, (), "circle"),
    Style(VERMILLION, (9, 4), "diamond"),
    Style(GREEN, (2, 3), "triangle"),
    Style(PURPLE, (12, 3, 2, 3), "cross"),
    Style(ORANGE, (5, 2, 2, 2), "circle"),
    Style(SKY, (16, 4), "diamond"),
)


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: Points
    colour: str
    width: float
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    left: float
    top: float
    right: float
    bottom: float
    colour: str


@dataclass(frozen=True)
class Dot:
    """A marker on a point."""

    x: float
    y: float
    form: Form
    size: float
    colour: str
    filled: bool = True


@dataclass(frozen=True)
class Words:
    """A line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    anchor: Anchor = "start"
    halo: bool = False
    """with a rim in the colour of the page, for texts over curves"""

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom, as far as they can be told without the font."""
        width = width_of(self.text, self.size)
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.8 * self.size, left + width, self.y + 0.25 * self.size


Shape = Stroke | Box | Dot | Words


def width_of(text: str, size: float) -> float:
    """How wide a text is in a sans-serif font, rather too much than too little."""
    narrow = sum(1 for letter in text if letter in "iljtf.,:;|!'()[] /")
    return size * (0.3 * narrow + 0.55 * (len(text) - narrow))


def paler(colour: str, share: float) -> str:
    """A colour mixed with the white of the page."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - (255 - part) * share):02X}" for part in parts)


def corners(dot: Dot) -> Points:
    """The outline of a marker that has corners."""
    x, y, r = dot.x, dot.y, dot.size
    if dot.form == "upright":
        return ((x, y - r), (x + 1.1 * r, y + 0.9 * r), (x - 1.1 * r, y + 0.9 * r))
    if dot.form == "diamond":
        return ((x, y - 1.25 * r), (x + 1.25 * r, y), (x, y + 1.25 * r), (x - 1.25 * r, y))
    return ((x, y + r), (x + 1.1 * r, y - 0.9 * r), (x - 1.1 * r, y - 0.9 * r))
