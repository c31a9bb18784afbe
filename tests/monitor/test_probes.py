"""Every other probe: what is broken is found, what is sound is left alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.extras import torch
from traindx.monitor.probes import (
    probe_determinism,
    probe_gradient_flow,
    probe_input_dependence,
    probe_lr_range,
    probe_memory_growth,
    probe_overfit_one_batch,
)
from traindx.monitor.probing.declaration import HEADINGS, probes
from traindx.runtime import NoData, ToolOutput
from traindx.vocabulary.kinds import KINDS


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Small tensors gain nothing from several, and lose much where others compute as well."""
    torch.set_num_threads(1)


def ids(found: ToolOutput) -> list[str]:
    return [signal.id for signal in found.signals]


def data(rows: int = 16, width: int = 8) -> tuple[Any, Any]:
    made = torch.Generator().manual_seed(0)
    x = torch.randn(rows, width, generator=made)
    return x, (x[:, :1] > 0).float()


def network(depth: int = 2, activation: str = "ReLU", width: int = 16) -> Any:
    torch.manual_seed(0)
    layers: list[Any] = [torch.nn.Linear(8, width), getattr(torch.nn, activation)()]
    for _ in range(depth - 1):
        layers += [torch.nn.Linear(width, width), getattr(torch.nn, activation)()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))


def bce(output: Any, target: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy_with_logits(output, target)


def test_every_probe_documents_itself_and_settles_failure_modes_of_the_catalog() -> None:
    from traindx.diagnosis.catalog import load_catalog

    assert len(probes()) == 7
    for probe in probes().values():
        assert tuple(probe.sections) == HEADINGS, probe.name
        assert probe.settles <= set(load_catalog())
        assert probe.asked_about <= set(KINDS)
        assert callable(probe.function)
        assert probe.signals
        assert all(name.startswith("probed-") for name in probe.signals)


# Gradients


def test_gradients_of_an_ordinary_network_flow() -> None:
    found = probe_gradient_flow(network(4), data(), bce)
    assert ids(found) == ["probed-gradients-flow"]
    assert all(layer.rms for layer in found.layers)


def test_gradients_vanish_in_deep_sigmoids() -> None:
    found = probe_gradient_flow(network(12, "Sigmoid"), data(), bce)
    assert ids(found) == ["probed-gradient-vanishing"]
    assert "`0.weight`" in found.signals[0].claim


def test_a_head_with_a_scale_of_its_own_is_no_vanishing() -> None:
    model = network(5)
    with torch.no_grad():
        model[-1].weight.mul_(1e-5)
    assert ids(probe_gradient_flow(model, data(), bce)) == []


def test_gradients_explode_in_large_weights() -> None:
    model = network(8)
    with torch.no_grad():
        for layer in (one for one in model if hasattr(one, "weight")):
            layer.weight.mul_(8.0)
    assert ids(probe_gradient_flow(model, data(), bce)) == ["probed-gradient-exploding"]


def test_a_cut_path_is_named() -> None:
    class Cut(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.early, self.late = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
            self.spare = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.late(self.early(x).detach())

    found = probe_gradient_flow(Cut(), data(), bce)
    assert ids(found) == ["probed-gradient-cut"]
    assert "`early.weight`" in found.summary
    assert "spare" not in found.summary


def test_the_model_keeps_its_gradients_and_weights() -> None:
    model = network()
    before = [parameter.clone() for parameter in model.parameters()]
    probe_gradient_flow(model, data(), bce)
    probe_overfit_one_batch(model, data(), bce, steps=20)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in model.parameters())


# One batch


def test_a_network_learns_one_batch() -> None:
    assert ids(probe_overfit_one_batch(network(2, width=64), data(), bce, steps=100, lr=1e-2)) == [
        "probed-one-batch-learnt"
    ]


def test_a_network_that_cannot_learn_does_not_learn_one_batch() -> None:
    model = network()
    for parameter in model[:-1].parameters():
        parameter.requires_grad_(False)
    x, _ = data()
    noise = torch.randint(0, 2, (16, 1), generator=torch.Generator().manual_seed(1)).float()
    found = probe_overfit_one_batch(model, (torch.zeros_like(x), noise), bce, steps=40)
    assert ids(found) == ["probed-one-batch-not-learnt"]


# Learning rate


@pytest.mark.parametrize(
    ("lr", "signal"), [(0.9, "probed-lr-too-high"), (1e-4, "probed-lr-fits"), (1e-7, "probed-lr-too-low")]
)
def test_a_rate_is_held_against_where_the_loss_breaks(lr: float, signal: str) -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    x = torch.randn(64, 8) * 4
    batches = [(x[at : at + 16], x[at : at + 16].sum(1, keepdim=True)) for at in range(0, 64, 16)]
    found = probe_lr_range(model, batches, torch.nn.functional.mse_loss, lr=lr)
    assert ids(found) == [signal]
    assert found.breaks_at is not None
    assert found.lowest_at is not None
    assert found.lowest_at < found.breaks_at


def test_too_few_steps_say_nothing_of_a_rate() -> None:
    with pytest.raises(NoData, match="20 are needed"):
        probe_lr_range(network(), [data()], bce, lr=0.1, steps=5)


# Memory


def training(after: Callable[[Any], None]) -> Callable[[], None]:
    model = network()
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        x, y = data()
        loss = bce(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        after(loss)
        optimizer.step()

    return step


def test_losses_kept_with_their_graphs_are_found_by_name() -> None:
    losses: list[Any] = []
    found = probe_memory_growth(training(losses.append))
    assert ids(found) == ["probed-graph-kept"]
    assert found.signals[0].facts["held_by"] == "losses"


def test_a_sum_that_keeps_its_graph_is_found_by_name() -> None:
    total: Any = 0.0
    model = network()
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        nonlocal total
        x, y = data()
        loss = bce(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        total = total + loss
        optimizer.step()

    found = probe_memory_growth(step)
    assert ids(found) == ["probed-graph-kept"]
    assert found.signals[0].facts["held_by"] == "total"


def test_tensors_without_graphs_are_memory_only() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.outputs: dict[str, list[Any]] = {"train": []}

    trainer = Trainer()
    found = probe_memory_growth(training(lambda loss: trainer.outputs["train"].append(loss.detach().repeat(1000))))
    assert ids(found) == ["probed-memory-kept"]
    assert found.signals[0].facts["held_by"] == "trainer.outputs['train']"


def test_bounded_buffers_and_numbers_are_no_leak() -> None:
    window: deque[Any] = deque(maxlen=4)
    numbers: list[float] = []

    def after(loss: Any) -> None:
        window.append(loss.detach())
        numbers.append(loss.item())

    assert ids(probe_memory_growth(training(after))) == ["probed-memory-flat"]


# Determinism


def seeded(noise: Callable[[], float]) -> Callable[[], None]:
    def train() -> None:
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(20):
            x, y = torch.randn(4, 8), torch.zeros(4, 1)
            loss = bce(model(x + noise()), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return train


def test_one_seed_gives_one_course() -> None:
    found = probe_determinism(seeded(lambda: 0.0))
    assert ids(found) == ["probed-deterministic"]
    assert found.steps == 12


def test_the_first_difference_is_named() -> None:
    calls = iter(range(1_000))
    # The second run goes through calls 12 and on: it differs from its fourth step.
    found = probe_determinism(seeded(lambda: float(next(calls) == 15)))
    assert ids(found) == ["probed-not-deterministic"]
    assert found.signals[0].facts == {"step": 4, "first_different": "input"}


# Dependence on the input


def test_a_model_that_ignores_its_input_is_found() -> None:
    model = network()
    with torch.no_grad():
        model[0].weight.zero_()
    assert ids(probe_input_dependence(model, data())) == ["probed-input-ignored"]


def test_batch_normalisation_in_evaluation_mode_is_no_mixing() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, 1)
    )
    assert ids(probe_input_dependence(model, data())) == ["probed-input-matters"]


def test_a_softmax_over_the_batch_mixes_samples() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Softmax(dim=0))
    assert ids(probe_input_dependence(model, data())) == ["probed-neighbours-matter"]


@pytest.mark.parametrize("both_ways", [True, False])
def test_a_model_that_sees_the_future_is_told(*, both_ways: bool) -> None:
    class Tagger(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = torch.nn.GRU(3, 8, batch_first=True, bidirectional=both_ways)

        def forward(self, x: Any) -> Any:
            return self.rnn(x)[0]

    found = ids(probe_input_dependence(Tagger(), torch.randn(4, 10, 3)))
    assert found == [*(["probed-future-matters"] if both_ways else []), "probed-input-matters"]
