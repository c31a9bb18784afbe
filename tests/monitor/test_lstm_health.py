"""The health of recurrent states of every form, on the compiled path and on that of any device."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.extras import torch
from traindx.monitor import LstmHealth, compute_lstm_health, measure_lstm_health, read_lstm_health
from traindx.monitor.native.library import state_measure


class Both(NamedTuple):
    """Named as reinforcement learning names the states of an actor and a critic."""

    pi: Any
    vf: Any


def normal(*shape: int, kind: str = "float32", times: float = 1.0) -> Any:
    generator = torch.Generator().manual_seed(sum(shape))
    return (torch.randn(*shape, generator=generator) * times).to(getattr(torch, kind))


def agree(one: LstmHealth | None, other: LstmHealth | None) -> None:
    assert one is not None
    assert other is not None
    for mine, theirs in zip(one, other, strict=True):
        assert mine == (theirs if theirs is None else pytest.approx(theirs, rel=1e-5))


STATES: dict[str, Callable[[], Any]] = {
    "of an LSTM": lambda: (normal(2, 5, 40), normal(2, 5, 40, times=3)),
    "of a GRU": lambda: normal(2, 5, 40),
    "of a cell": lambda: (normal(5, 7), normal(5, 7)),
    "without a batch": lambda: (normal(64), normal(64)),
    "of one unit": lambda: (normal(1, 1, 1), normal(1, 1, 1)),
    "with a projection": lambda: (normal(1, 5, 8), normal(1, 5, 40)),
    "layer by layer": lambda: [(normal(5, 40), normal(5, 40)), (normal(5, 40), normal(5, 40))],
    "of layers that differ": lambda: [normal(5, 40), normal(5, 24)],
    "of batches that differ": lambda: [normal(1, 5, 40), normal(1, 3, 40)],
    "in a dictionary": lambda: {"h": normal(1, 5, 40), "c": normal(1, 5, 40), "steps": 3},
    "named hidden, a pair": lambda: {"hidden": (normal(1, 5, 40), normal(1, 5, 40))},
    "of an actor and a critic": lambda: Both((normal(1, 5, 8), normal(1, 5, 8)), (normal(1, 5, 8), normal(1, 5, 8))),
    "transposed": lambda: (normal(5, 2, 40).transpose(0, 1), normal(40, 5, 2).permute(2, 1, 0)),
    "packed": lambda: torch.nn.utils.rnn.pack_sequence([normal(4, 8), normal(2, 8)]),
    "of a convolution": lambda: (normal(5, 4, 6, 6), normal(5, 4, 6, 6)),
    "in double precision": lambda: (normal(1, 5, 40, kind="float64"), normal(1, 5, 40, kind="float64", times=1e150)),
    "in half precision, whose squares leave it": lambda: (
        normal(2, 64, 100, kind="float16", times=200), normal(2, 64, 100, kind="float16", times=9000)
    ),
    "in bfloat16": lambda: (normal(2, 5, 40, kind="bfloat16"), normal(2, 5, 40, kind="bfloat16")),
    "whose squares leave single precision": lambda: normal(2, 5, 100, times=1e25),
    "of layers whose squares leave single precision": lambda: [
        (normal(1, 5, 8, times=1e25), normal(1, 5, 8, times=1e30)) for _ in range(2)
    ],
    "of complex numbers": lambda: torch.complex(normal(1, 5, 8), normal(1, 5, 8)),
    "that is zero": lambda: torch.zeros(2, 5, 8),
    "with a gradient": lambda: (normal(1, 5, 8).requires_grad_() * 2, normal(1, 5, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_both_ways_to_measure_agree(name: str) -> None:
    state = STATES[name]()
    measured = measure_lstm_health(state)
    assert measured is not None
    assert not measured.requires_grad
    agree(compute_lstm_health(state), read_lstm_health(measured.tolist(), state))


def test_numbers_are_those_of_their_definition() -> None:
    h, c = normal(2, 5, 37), normal(2, 5, 37, times=4.0)
    health = compute_lstm_health((h, c))
    assert health is not None
    wide = h.double()
    samples = wide.square().sum((0, 2)).sqrt()
    assert health.h_norm == pytest.approx(float(wide.norm()))
    assert health.c_norm == pytest.approx(float(c.double().norm()))
    assert (health.h_max, health.c_max) == (float(h.abs().max()), float(c.abs().max()))
    assert health.h_rms == pytest.approx(float(wide.square().mean().sqrt()))
    assert (health.h_sample_max, health.h_sample_min) == pytest.approx((float(samples.max()), float(samples.min())))
    assert (health.has_nan, health.has_inf) == (False, False)
    assert all(type(value) in {float, bool} for value in health)


def test_a_larger_batch_has_a_larger_norm_and_the_same_root_mean_square() -> None:
    small, large = compute_lstm_health(torch.ones(1, 4, 16)), compute_lstm_health(torch.ones(3, 64, 32))
    assert small is not None
    assert large is not None
    assert large.h_norm > 5 * small.h_norm
    assert small.h_rms == large.h_rms == 1.0


def test_one_sample_that_ran_away_shows_in_the_extremes() -> None:
    state = torch.ones(1, 100, 16)
    state[0, 7] *= 1000
    health = compute_lstm_health(state)
    assert health is not None
    assert health.h_sample_max == pytest.approx(1000 * health.h_sample_min)


@pytest.mark.parametrize("form", ["whole", "layers"])
@pytest.mark.parametrize(
    ("bad", "has_nan", "has_inf"),
    [
        ([math.nan], True, False),
        ([math.inf], False, True),
        ([-math.inf], False, True),
        ([math.nan, math.inf], True, True),
    ],
)  # fmt: skip
def test_what_is_no_number_is_told(form: str, bad: list[float], has_nan: bool, has_inf: bool) -> None:
    for place in ("h", "c"):
        h, c = normal(2, 3, 41), normal(2, 3, 41)
        for number, value in enumerate(bad):
            (h if place == "h" else c)[1, number, 40 - number] = value
        state = (h, c) if form == "whole" else [(h[0], c[0]), (h[1, :, :], c[1, :2])]
        for health in (compute_lstm_health(state), _any_device(state)):
            assert health is not None
            assert (health.has_nan, health.has_inf) == (has_nan, has_inf)
            broken, whole = (health.h_norm, health.c_norm) if place == "h" else (health.c_norm, health.h_norm)
            assert broken is not None
            assert whole is not None
            assert not math.isfinite(broken)
            assert math.isfinite(whole)


@pytest.mark.parametrize("nothing", [None, [], {}, (), [None, {"h": None}], "state", 3, str], ids=str)
def test_nothing_has_no_health(nothing: Any) -> None:
    assert compute_lstm_health(nothing) is None
    assert measure_lstm_health(nothing) is None


def test_neither_has_what_holds_no_numbers() -> None:
    nested: Any = torch.zeros(2)
    for _ in range(40):
        nested = [nested]
    for state in (torch.zeros(0, 4), torch.ones(3, dtype=torch.long), torch.ones(3, device="meta"), nested):
        assert compute_lstm_health(state) is None


def test_a_state_without_a_cell_has_no_cell() -> None:
    health = compute_lstm_health(normal(1, 4, 8))
    assert health is not None
    assert health.c_norm is health.c_max is health.c_rms is health.c_sample_max is health.c_sample_min is None


def test_the_device_is_read_once_and_what_is_measured_stays_there() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Counts the operations that wait for a device."""

        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.counted: list[str] = []

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = str(function)
            if "_local_scalar_dense" in name or name.startswith(("aten.item", "aten.equal", "aten.nonzero")):
                self.counted.append(name)
            return function(*args, **(kwargs or {}))

    for state in (STATES["of an LSTM"](), STATES["of layers that differ"](), STATES["of batches that differ"]()):
        with Reads() as reads:
            measured = measure_lstm_health(state)
        assert reads.counted == []
        assert measured is not None
        assert measured.numel() in {5, 10}  # one tensor: one `.tolist()`


def test_no_graph_is_kept() -> None:
    source = torch.ones(1, 2, 4, requires_grad=True)
    state = source * 2
    compute_lstm_health((state, state))
    measured = measure_lstm_health((state, state))
    assert measured is not None
    assert not measured.requires_grad
    assert measured.grad_fn is None
    state.sum().backward()
    assert torch.equal(source.grad, torch.full_like(source, 2.0))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # of `torch.compile` itself, at a graph break
def test_measuring_is_one_graph_and_reading_is_a_break_in_it() -> None:
    class Cell(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, look: Callable[[Any], Any]) -> None:
            super().__init__()
            self.cell, self.look = torch.nn.LSTMCell(4, 8), look

        def forward(self, x: Any) -> Any:
            state = self.cell(x)
            return state[0].sum(), self.look(state), state

    x = torch.ones(3, 4)
    whole = torch.compile(Cell(measure_lstm_health), fullgraph=True, backend="aot_eager")
    loss, measured, state = whole(x)
    loss.backward()
    agree(read_lstm_health(measured.tolist(), state), compute_lstm_health(state))
    broken = torch.compile(Cell(compute_lstm_health), backend="aot_eager")
    loss, health, state = broken(x)
    loss.backward()
    agree(health, compute_lstm_health(state))


def test_without_a_compiler_the_answers_are_those_of_torch(tmp_path: Path) -> None:
    assert state_measure(tmp_path / "libstate.so") is None
    (tmp_path / "libother.so").write_bytes(b"not a library")
    assert state_measure(tmp_path / "libother.so") is None


def _any_device(state: Any) -> LstmHealth | None:
    measured = measure_lstm_health(state)
    return None if measured is None else read_lstm_health(measured.tolist(), state)
