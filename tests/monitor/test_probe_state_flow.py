"""The state probe: right on every variant of the example, on states kept elsewhere, and silent on sound loops."""

from __future__ import annotations

import json
import os
import runpy
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.extras import torch
from traindx.definitions.content import EXAMPLES
from traindx.monitor.probes import probe_state_flow
from traindx.monitor.probes.state_flow import StateFlow, StateWatch
from traindx.monitor.probing.instruments import Instruments
from traindx.runtime import NoData

VARIANTS = {
    "correct": ("probed-state-sound", "h", 40),
    "state-not-detached": ("probed-state-not-detached", "h", 40),
    "cell-state-not-detached": ("probed-cell-state-not-detached", "c", 40),
    "detach-result-discarded": ("probed-detach-result-discarded", "h", 45),
    "retain-graph-workaround": ("probed-retain-graph", "h", 40),
    "state-detached-too-early": ("probed-state-detached-too-early", "h", 41),
    "state-reset-every-step": ("probed-state-reset-every-step", "h", 40),
    "state-never-reset": ("probed-state-never-reset", "h", 40),
    "state-with-shuffled-batches": ("probed-state-with-shuffled-batches", "h", 40),
}


def watched(script: Path) -> StateFlow:
    watch = StateWatch()
    with suppress(SystemExit):
        Instruments(watch).run(lambda: runpy.run_path(str(script), run_name="__main__"))
    return watch.answer()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_of_the_example_is_told_with_its_tensor(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert torch.version.debug is not None
    shutil.copytree(EXAMPLES / "frequency-lstm" / variant, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    found = watched(tmp_path / "run" / "train.py")
    signal, name, line = VARIANTS[variant]
    assert [one.id for one in found.signals] == [signal]
    assert found.signals[0].citations[0].locator == f"line {line}"
    assert f"`{name}`" in found.signals[0].claim
    quote = (tmp_path / "run" / "train.py").read_text().splitlines()[line - 1].strip()
    assert found.signals[0].citations[0].quote == quote


def test_growth_is_linear_and_of_the_very_part() -> None:
    found = probe_state_flow(lstm_step(lambda h, c: (h.detach(), c)))
    hidden, cell = found.states
    assert set(hidden.depth) == {0}
    steps = [after - before for before, after in zip(cell.depth[1:], cell.depth[2:], strict=False)]
    assert len(set(steps)) == 1
    assert steps[0] > 0
    assert cell.behind == list(range(len(cell.behind)))


def lstm_step(
    carry: Callable[[Any, Any], tuple[Any, Any]], length: int = 1, *, retain: bool = False
) -> Callable[[], None]:
    """A training step of an LSTM whose state is carried on as `carry` says."""
    model = torch.nn.LSTM(3, 8, batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    held: dict[str, Any] = {"state": (torch.zeros(1, 2, 8), torch.zeros(1, 2, 8))}

    def step() -> None:
        out, held["state"] = model(torch.randn(2, length, 3), held["state"])
        optimizer.zero_grad()
        out.square().mean().backward(retain_graph=retain)
        optimizer.step()
        held["state"] = carry(*held["state"])

    return step


def ids(found: StateFlow) -> list[str]:
    return [signal.id for signal in found.signals]


def test_a_state_kept_on_an_object_is_named_as_the_code_names_it() -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.gru = torch.nn.GRU(3, 8)
            self.memory: Any = None

        def forward(self, x: Any) -> Any:
            out, self.memory = self.gru(x, self.memory)
            return out

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        net(torch.randn(4, 2, 3)).square().mean().backward()
        optimizer.step()

    found = probe_state_flow(step)
    assert ids(found) == ["probed-state-not-detached"]
    assert found.states[0].name.endswith(".memory")


def test_a_cell_of_the_users_own_is_followed_too() -> None:
    inner = torch.nn.Linear(11, 8)

    class Cell(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any, memory: Any) -> Any:
            return torch.tanh(self.inner(torch.cat([x, memory], 1)))

    cell, memory = Cell(), torch.zeros(2, 8)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)

    def step() -> None:
        nonlocal memory
        memory = cell(torch.randn(2, 3), memory)
        optimizer.zero_grad()
        memory.square().mean().backward()
        optimizer.step()

    found = probe_state_flow(step)
    assert ids(found) == ["probed-state-not-detached"]
    assert "`memory`" in found.signals[0].claim


def test_a_cell_cut_at_every_step_of_a_window_has_no_gradient_through_time() -> None:
    def made(*, cut: bool) -> StateFlow:
        cell = torch.nn.GRUCell(3, 8)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)

        def step() -> None:
            h = torch.zeros(2, 8)
            for _ in range(4):
                h = cell(torch.randn(2, 3), h.detach() if cut else h)
            optimizer.zero_grad()
            h.square().mean().backward()
            optimizer.step()

        found: StateFlow = probe_state_flow(step)
        return found

    assert ids(made(cut=True)) == ["probed-state-detached-too-early"]
    assert ids(made(cut=False)) == []


def test_sound_loops_are_left_alone() -> None:
    assert ids(probe_state_flow(lstm_step(lambda h, c: (h.detach(), c.detach())))) == ["probed-state-sound"]
    assert ids(probe_state_flow(lstm_step(lambda h, c: (h.data.clone(), c.detach().clone()), 10))) == [
        "probed-state-sound"
    ]
    # Independent sequences, each from an empty state.
    assert ids(probe_state_flow(lstm_step(lambda h, c: (torch.zeros_like(h), torch.zeros_like(c)), 10))) == []


def test_a_window_that_overlaps_the_one_before_is_no_growth() -> None:
    """Truncated backpropagation with k1 < k2: the graph reaches one window back, and never further."""
    model = torch.nn.GRU(3, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    state = torch.zeros(1, 2, 8)

    def step() -> None:
        nonlocal state
        start = state.detach().requires_grad_()
        _, middle = model(torch.randn(2, 2, 3), start)
        out, _ = model(torch.randn(2, 2, 3), middle)
        optimizer.zero_grad()
        out.square().mean().backward(retain_graph=True)
        state = middle

    assert "probed-state-not-detached" not in ids(probe_state_flow(step))


def test_several_windows_in_one_backward_are_no_fault() -> None:
    model = torch.nn.GRU(3, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    state = torch.zeros(1, 2, 8)

    def step() -> None:
        nonlocal state
        total = torch.zeros(())
        for _ in range(3):
            out, state = model(torch.randn(5, 2, 3), state)
            total = total + out.square().mean()
            state = state.detach()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()

    assert ids(probe_state_flow(step)) == ["probed-state-sound"]


def test_shuffled_batches_with_a_state_of_their_own_are_no_fault() -> None:
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.randn(40, 1, 3)), batch_size=2, shuffle=True)
    model = torch.nn.GRU(3, 8, batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train() -> None:
        for (x,) in loader:
            out, _ = model(x.repeat(1, 6, 1))
            optimizer.zero_grad()
            out.square().mean().backward()
            optimizer.step()

    assert ids(probe_state_flow(train)) == []


def test_single_steps_of_unrelated_samples_have_nothing_to_remember() -> None:
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.randn(40, 1, 3)), batch_size=2, shuffle=True)
    model = torch.nn.GRU(3, 8, batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train() -> None:
        for (x,) in loader:
            out, _ = model(x, torch.zeros(1, 2, 8))
            optimizer.zero_grad()
            out.square().mean().backward()
            optimizer.step()

    assert ids(probe_state_flow(train)) == []


def test_features_of_a_layer_that_nobody_trains_may_be_detached() -> None:
    features, head = torch.nn.GRU(3, 8, batch_first=True), torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)

    def step() -> None:
        out, _ = features(torch.randn(2, 6, 3))
        optimizer.zero_grad()
        head(out.detach()).square().mean().backward()
        optimizer.step()

    assert ids(probe_state_flow(step)) == []


def test_without_recurrence_there_is_nothing_to_say() -> None:
    model = torch.nn.Linear(3, 1)
    with pytest.raises(NoData, match="no recurrent layer"):
        probe_state_flow(lambda: model(torch.randn(2, 3)).sum().backward())


def test_nothing_stays_behind_on_torch() -> None:
    before = (torch.Tensor.backward, torch.Tensor.detach, torch.nn.Module.__call__)
    probe_state_flow(lstm_step(lambda h, c: (h.detach(), c.detach())), steps=3)
    assert (torch.Tensor.backward, torch.Tensor.detach, torch.nn.Module.__call__) == before


@pytest.mark.slow
def test_the_command_answers_and_changes_nothing(
    tmp_path: Path, traindx: Command, hashes: Callable[[Path], dict[str, str]]
) -> None:
    assert torch.version.debug is not None
    run = tmp_path / "run"
    shutil.copytree(EXAMPLES / "frequency-lstm" / "state-not-detached", run)
    os.utime(run / "train.log", (1, 1))
    before = hashes(run)
    kept = tmp_path / "traindx-probe-state_flow.json"
    done = traindx("probe", "state_flow", "--script", run / "train.py", "--yes", "--json", "--output", kept)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "ok"
    assert answer["output"]["signals"][0]["id"] == "probed-state-not-detached"
    assert "runs         python train.py" in done.stderr
    assert json.loads(kept.read_text()) == answer
    assert hashes(run) == before


def test_nothing_runs_without_agreement(tmp_path: Path, traindx: Command) -> None:
    (tmp_path / "train.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    done = traindx("probe", "state_flow", "--script", "train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing was run: add `--yes`" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]
