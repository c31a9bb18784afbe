"""Charts as files: what must be seen is there, nothing covers anything, and size does not matter."""

from __future__ import annotations

import io
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from traindx.errors import TraindxError
from traindx.report.plot import Chart, Line, Mark, Panel, png, svg
from traindx.report.plot.envelope import stretches
from traindx.report.plot.layout import laid_out
from traindx.report.plot.scale import brief, fitted
from traindx.report.plot.shapes import HEIGHT, WIDTH, Words


def line(values: object, label: str = "train/loss", breaks: tuple[int, ...] = ()) -> Line:
    y = np.asarray(values, float)
    return Line(label, np.arange(len(y), dtype=float), y, breaks)


def chart(*lines: Line, marks: tuple[Mark, ...] = (), below: tuple[Panel, ...] = ()) -> Chart:
    return Chart("train/loss · run", "train.log", "step", Panel("loss", lines, marks), below)


MARKS = (
    Mark("best", "best val/loss 0.31 at step 60", 60, 0.31),
    Mark("spike", "spike to 2.9 at step 40, recovered", 40, 2.9),
    Mark("onset", "rose for good from step 80", 80),
    Mark("lost", "NaN from step 83 on", 83, until=99),
    Mark("seam", "goes on at step 81", 81),
)


def busy() -> Chart:
    train = 2 * np.exp(-np.arange(100) / 20) + 0.3
    train[40], train[80:83], train[83:] = 2.9, 2.5, np.nan
    val = 2 * np.exp(-np.arange(100) / 20) + 0.31
    rate = Panel("learning rate", (line(np.geomspace(1e-2, 1e-5, 100), "lr"),))
    return chart(line(train), line(val, "val/loss"), marks=MARKS, below=(rate,))


def test_no_text_covers_another_and_none_is_cut_off() -> None:
    frames = [shape.frame for shape in laid_out(busy()) if isinstance(shape, Words)]
    assert all(left >= 0 and top >= 0 and right <= WIDTH and bottom <= HEIGHT for left, top, right, bottom in frames)
    for a, b in combinations(frames, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def test_both_forms_show_every_mark_and_label() -> None:
    drawn = svg(busy())
    assert drawn == svg(busy())
    texts = {element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text")}  # noqa: S314 - our own
    assert {mark.label for mark in MARKS} <= texts
    assert {"train/loss", "val/loss", "lr", "step", "learning rate (log scale)"} <= texts
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png(busy())))
    assert image.size == (1000, 700)
    assert len(image.getcolors(maxcolors=1 << 20)) > 50


def test_lines_are_told_apart_without_colour() -> None:
    curves = [line(np.arange(90) + shift, f"part {shift}") for shift in range(4)]
    drawn = ElementTree.fromstring(svg(chart(*curves)))  # noqa: S314 - our own
    strokes = [
        element for element in drawn if element.get("stroke-width") == "2.2" and len(element.get("points", "")) > 400
    ]
    assert len({element.get("stroke-dasharray") for element in strokes}) == 4


def test_a_text_from_a_file_cannot_break_the_picture() -> None:
    hostile = '</text><script>alert("x")</script>\x1b[31m\0' + "w" * 500
    drawn = svg(Chart(hostile, hostile, "step", Panel("loss", (line([1, 2, 3], hostile),))))
    assert not [element for element in ElementTree.fromstring(drawn).iter() if "script" in element.tag]  # noqa: S314
    assert "\x1b" not in drawn


@pytest.mark.parametrize(
    "values",
    [
        [1.0],
        [np.nan] * 5,
        [3.0] * 50,
        [0.0] * 50,
        [-5.0, -4.0, -3.5],
        [1e-300, 1e300, 5.0],
        [1.0, np.inf, 2.0, np.nan, 1.5],
        np.geomspace(1e-12, 1e12, 400),
        np.concatenate([-np.ones(300), [1e9]]),
    ],
)
def test_any_curve_can_be_drawn(values: list[float]) -> None:
    for element in ElementTree.fromstring(svg(chart(line(values)))):  # noqa: S314 - our own
        assert "nan" not in str(element.attrib).lower()
        assert "inf" not in str(element.attrib).lower()
    pytest.importorskip("PIL")
    assert png(chart(line(values))).startswith(b"\x89PNG")


def test_the_scale_follows_the_range() -> None:
    assert fitted([np.array([1.0, 40.0])], 0, 1).kind == "linear"
    assert fitted([np.array([1.0, 60.0])], 0, 1).kind == "log"
    assert fitted([np.array([-1.0, 1.0, 1.0, 1.0, 1000.0])], 0, 1).kind == "symlog"
    assert [brief(value) for value in (0.25, 1e-5, 20_000, 2_500_000, -0.0)] == ["0.25", "1e-5", "20,000", "2.5M", "0"]


@pytest.mark.slow
def test_ten_million_points_keep_a_single_spike() -> None:
    values = np.random.default_rng(0).normal(1.0, 0.01, 10_000_000)
    values[7_777_777] = 9.0
    (piece,) = stretches(line(values), 0.0, 1e7, 776)
    drawn = svg(chart(line(values)))
    assert piece.y.max() == 9.0
    assert len(piece.y) <= 4 * 776
    assert len(drawn) < 200_000


def test_a_curve_is_not_drawn_across_a_gap_or_a_restart() -> None:
    values = np.ones(40)
    values[10:12] = np.nan
    pieces = list(stretches(line(values, breaks=(30,)), 0, 39, 700))
    assert [(piece.x[0], piece.x[-1]) for piece in pieces] == [(0, 9), (12, 29), (30, 39)]


def test_without_pillow_a_png_is_refused_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(TraindxError, match="pip install pillow"):
        png(busy())
