"""NaN and Inf inside checkpoints are found without loading them, in the files that real writers leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import safetensors, torch
from traindx.api import gather_context
from traindx.readers import Run, Scope
from traindx.readers.checkpoints import Measure, TensorInfo, read_checkpoint, read_weights
from traindx.readers.checkpoints.measuring import Tally
from traindx.readers.coverage import Covered, Limits


def _state(dtype: str = "float32") -> dict[str, Any]:
    kind = getattr(torch, dtype)
    state = {"body.weight": torch.randn(40, 30).to(kind), "body.bias": torch.zeros(40, dtype=kind)}
    state["steps"] = torch.arange(7)
    return state


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("writer", ["torch", "legacy", "safetensors"])
def test_what_is_not_finite_is_counted(tmp_path: Path, dtype: str, writer: str) -> None:
    state = _state(dtype)
    state["body.weight"][3, 5:9] = float("nan")
    state["body.weight"][0, 0] = float("-inf")
    if writer != "safetensors":
        zipped = writer == "torch"
        torch.save({"model": state, "step": 5}, tmp_path / "model.pt", _use_new_zipfile_serialization=zipped)
    else:
        safetensors.save_file(state, tmp_path / "model.safetensors")
    (weights,) = Run(Scope.of(tmp_path)).weights.values()
    (spoilt,) = weights.spoilt
    assert spoilt.name.endswith("body.weight")
    assert (spoilt.nans, spoilt.infinities, spoilt.elements) == (4, 1, 1_200)
    assert (weights.tensors, weights.whole) == (2, True)


def test_sound_weights_and_masks_are_left_in_peace(tmp_path: Path) -> None:
    state = _state()
    state["body.weight"][0, 0] = torch.finfo(torch.float32).max
    state["body.weight"][0, 1] = torch.finfo(torch.float32).tiny / 4
    state["attention.mask"] = torch.full((8, 8), float("-inf")).triu(1)
    torch.save(state, tmp_path / "model.pt")
    (weights,) = Run(Scope.of(tmp_path)).weights.values()
    assert (weights.spoilt, weights.problems) == ((), [])


def test_a_large_file_is_sampled_in_every_tensor(tmp_path: Path) -> None:
    state = {f"layers.{n}.weight": torch.zeros(100_000) for n in range(4)}
    state["layers.3.weight"][0] = float("nan")
    torch.save(state, tmp_path / "model.pt")
    with (tmp_path / "model.pt").open("rb") as handle:
        checkpoint, _ = read_checkpoint(handle, "model.pt")
        weights = read_weights(handle, checkpoint, most=400_000)
    assert [spoilt.name for spoilt in weights.spoilt] == ["layers.3.weight"]
    assert not weights.whole
    assert 24_000 < weights.spoilt[0].elements <= 25_000
    assert (weights.of, 96_000 < weights.read <= 100_000) == (400_000, True)


@pytest.mark.parametrize("place", [0, 51_000, 99_999])
@pytest.mark.parametrize("writer", ["torch", "safetensors"])
def test_a_nan_anywhere_in_a_tensor_is_found(tmp_path: Path, place: int, writer: str) -> None:
    state = {"head.weight": torch.zeros(100_000), "body.weight": torch.zeros(3)}
    state["head.weight"][place] = float("nan")
    if writer == "torch":
        torch.save(state, tmp_path / "model.pt")
    else:
        safetensors.save_file(state, tmp_path / "model.safetensors")
    run = Run(Scope.of(tmp_path))
    (weights,) = run.weights.values()
    assert [(spoilt.name, spoilt.nans) for spoilt in weights.spoilt] == [("head.weight", 1)]
    assert Covered("checkpoints", "values", 100_003, 100_003) in run.coverage


@pytest.mark.parametrize("place", [0, 1_000_000])
def test_without_time_both_ends_of_every_tensor_are_looked_at(tmp_path: Path, place: int) -> None:
    state = {f"layers.{n}.weight": torch.zeros(1_000_001) for n in range(2)}
    state["layers.1.weight"][place] = float("nan")
    torch.save(state, tmp_path / "model.pt")
    run = Run(Scope.of(tmp_path), limits=Limits(seconds=0.0))
    (weights,) = run.weights.values()
    assert [spoilt.name for spoilt in weights.spoilt] == ["layers.1.weight"]
    assert not weights.whole
    (row,) = [row for row in run.coverage if row.unit == "values"]
    assert (row.of, row.whole) == (2_000_002, False)
    assert any("only part of its values" in remark for remark in run.remarks)


def _measured(state: dict[str, Any], path: Path) -> dict[str, Measure]:
    torch.save(state, path)
    with path.open("rb") as handle:
        checkpoint, _ = read_checkpoint(handle, path.name)
        return {one.tensor.name: one for one in read_weights(handle, checkpoint).measures}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("native", [True, False])
def test_numbers_are_measured_as_torch_measures_them(tmp_path: Path, dtype: str, native: bool) -> None:
    torch.manual_seed(0)
    values = (torch.randn(100, 123) * 3).to(getattr(torch, dtype))
    values[7], values[9, 3] = 0.0, 2.0**-20
    tally = Tally(dtype)
    if not native:
        tally = Tally(dtype, native=None)
    raw = values.view(torch.uint8).reshape(-1).numpy()
    for begin in range(0, len(raw), 4096):
        tally.add(raw[begin : begin + 4096])
    told = tally.of(TensorInfo("w", (100, 123), dtype))
    assert (told.looked, told.zeros, told.nans) == (12_300, 123 + int((values[:7] == 0).sum()), 0)
    assert (told.lowest, told.highest) == (float(values.min()), float(values.max()))
    assert told.rms == pytest.approx(float(values.double().pow(2).mean().sqrt()), rel=1e-9)
    values[3, 3], values[4, 4], values[5, 5] = float("nan"), float("inf"), float("-inf")
    tally.add(values.view(torch.uint8).reshape(-1).numpy())
    told = tally.of(TensorInfo("w", (100, 123), dtype))
    assert (told.nans, told.infinities, told.above) == (1, 2, 1)
    assert told.highest == float(values[values.isfinite()].max())


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 2.0), (-2.0, -0.5), (-0.0, 1.0), (-1.0, 0.0), (0.0, 0.0), (-0.0, -0.0)]
)
def test_the_range_of_numbers_of_one_sign(dtype: str, low: float, high: float) -> None:
    values = torch.linspace(low, high, 9_000).to(getattr(torch, dtype))
    values[17] = low
    tallies = [Tally(dtype), Tally(dtype, native=None)]
    for tally in tallies:
        tally.add(values.view(torch.uint8).numpy())
        told = tally.of(TensorInfo("w", (9_000,), dtype))
        assert (told.lowest, told.highest) == (low, high)
        assert told.zeros == int((values == 0).sum())
        assert told.squares == pytest.approx(float(values.double().pow(2).sum()), rel=1e-9)


def test_views_of_one_storage_are_measured_each_for_itself(tmp_path: Path) -> None:
    flat = torch.arange(24, dtype=torch.float32)
    flat[20:] = 0
    state = {
        "a": flat[:8].view(2, 4),
        "b": flat[8:].view(4, 4),
        "tied": flat[:8].view(2, 4),
        "turned": flat[:8].view(2, 4).T,
    }
    found = _measured(state, tmp_path / "model.pt")
    assert (found["a"].highest, found["b"].lowest, found["b"].highest) == (7.0, 0.0, 19.0)
    assert (found["b"].zero_rows, found["a"].zero_rows) == (1, 0)
    assert set(found) == {"a", "b"}, "the same numbers are measured once"


@pytest.mark.slow
def test_the_context_package_names_spoilt_and_cut_checkpoints(tmp_path: Path) -> None:
    state = _state()
    state["body.bias"][:] = float("nan")
    torch.save({"model": state, "epoch": 3}, tmp_path / "step-900.pt")
    torch.save({"model": _state(), "epoch": 4}, tmp_path / "step-1000.pt")
    whole = (tmp_path / "step-1000.pt").read_bytes()
    (tmp_path / "step-1000.pt").write_bytes(whole[: len(whole) // 2])
    rows = {row.path: row for row in gather_context(tmp_path).checkpoints}
    assert rows["step-900.pt"].problems == [
        "1 of its 2 tensors hold NaN or Inf, the first of them `model.body.bias`",
    ]
    assert rows["step-900.pt"].not_finite == ["model.body.bias: 40 NaN of 40"]
    assert "cut off or damaged" in rows["step-1000.pt"].problems[0]
    assert rows["step-1000.pt"].not_finite == []
