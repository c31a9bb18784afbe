"""What counts as a break in a loss curve, and what does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.detectors.curves.shape import shape_of


def falling(points: int, noise: float = 0.02, seed: int = 0) -> np.ndarray:
    wobble = np.random.default_rng(seed).normal(0, noise, points)
    return 0.3 + 2.0 * np.exp(-5 * np.arange(points) / points) + wobble


@pytest.mark.parametrize("points", [12, 100, 5000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_onset_of_a_lasting_rise_is_found_at_any_scale_and_rate(points: int, scale: float) -> None:
    curve = falling(points)
    broke = 7 * points // 12
    curve[broke:] += np.linspace(1.0, 3.0, points - broke)
    onset = shape_of(curve * scale).onset
    assert onset is not None
    assert abs(onset - broke) <= max(1, points // 100)


@pytest.mark.parametrize("points", [12, 100, 5000])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_a_healthy_curve_has_no_onset(points: int, noise: float, seed: int) -> None:
    assert shape_of(falling(points, noise, seed)).onset is None


def test_a_spike_that_recovers_is_not_a_break() -> None:
    curve = falling(200)
    curve[120:124] += 4.0
    shape = shape_of(curve)
    assert shape.onset is None
    assert shape.peak_index is not None
    assert 120 <= shape.peak_index < 124


def test_a_start_that_jumps_before_it_falls_is_not_a_break() -> None:
    curve = falling(300)
    curve[2] = 17.0
    assert shape_of(curve).onset is None


def test_negative_losses_break_like_any_other() -> None:
    curve = falling(100) - 5.0
    curve[60:] += 2.5
    onset = shape_of(curve).onset
    assert onset is not None
    assert abs(onset - 60) <= 2


def test_nan_is_counted_and_located() -> None:
    curve = falling(50)
    curve[30:] = np.nan
    shape = shape_of(curve)
    assert (shape.non_finite, shape.first_non_finite) == (20, 30)
    assert shape.onset is None


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=60))
@settings(max_examples=examples(200))
def test_any_numbers_give_an_answer(values: list[float]) -> None:
    shape = shape_of(np.array(values, dtype=float))
    assert shape.points == len(values)
    assert shape.onset is None or 0 <= shape.onset < len(values)


@pytest.mark.parametrize("at", [5_000, 5_003, 5_019, 5_021, 5_040, 5_499])
def test_a_break_is_found_at_its_point_wherever_the_windows_lie(at: int) -> None:
    rng = np.random.default_rng(at)
    values = 2.0 + rng.normal(0, 0.05, 20_000)
    values[:2_000] += np.linspace(6, 0, 2_000)
    values[at:] += 6.5
    assert shape_of(values).onset == at
