"""Whole diagnoses of runs whose fault stands in a checkpoint, and of their sound twins: small real models."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.extras import safetensors, torch
from tests.tools.signal_case import falling
from traindx import diagnose
from traindx.contract import Diagnosis

pytestmark = pytest.mark.slow


def causes(found: Diagnosis, least: float = 0.5) -> list[str]:
    return [cause.id for cause in found.root_causes if cause.confidence >= least]


def mlp() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 5))


def logged(folder: Path, losses: list[object], more: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"step {10 * n} loss {loss}{more}" for n, loss in enumerate(losses, 1)]
    (folder / "train.log").write_text("\n".join(lines) + "\n")


def test_nan_weights_that_a_run_resumes_from_are_its_cause(tmp_path: Path) -> None:
    model = mlp()
    logged(tmp_path, ["nan"] * 12, " lr 1e-07")
    good = {"model": mlp().state_dict(), "step": 100}
    torch.save(good, tmp_path / "ckpt_100.pt")
    model.state_dict()["0.weight"][3:] = float("nan")
    torch.save({"model": model.state_dict(), "step": 200}, tmp_path / "ckpt_200.pt")
    found = diagnose(tmp_path, "loss is nan right after resuming, a lower lr does not help", brain="local")
    assert causes(found)[0] == "corrupt-checkpoint"
    first = found.root_causes[0]
    assert "no learning rate can help" in first.issue
    assert "ckpt_100.pt" in first.fix.summary
    assert all(one.verified for one in first.evidence if one.kind == "direct")


def test_nan_weights_that_a_broken_run_left_are_not(tmp_path: Path) -> None:
    model = mlp()
    logged(tmp_path, [2.3, 2.1, 1.9, 2.5, 4.0, 9.9, 88.0, 1e4] + ["nan"] * 12, " lr 0.5")
    model.state_dict()["0.weight"][3:] = float("nan")
    torch.save({"model": model.state_dict(), "step": 200}, tmp_path / "last.pt")
    assert "corrupt-checkpoint" not in causes(diagnose(tmp_path, brain="local"))


def test_a_pickle_with_code_is_named_with_what_it_calls(tmp_path: Path) -> None:
    hostile = b"\x80\x02}X\x01\x00\x00\x00wcos\nsystem\nX\x0c\x00\x00\x00touch MARKER\x85Rs."
    (tmp_path / "model.bin").write_bytes(hostile)
    found = diagnose(tmp_path, "can I train on from this?", brain="local")
    assert causes(found) == ["unsafe-checkpoint"]
    assert "os.system" in found.root_causes[0].issue
    (tmp_path / "model.bin").write_bytes(pickle.dumps({"weights": [0.1, 0.2], "labels": ["spam", "ham"]}))
    assert causes(diagnose(tmp_path, "can I train on from this?", brain="local")) == []


def test_a_checkpoint_that_was_cut_off(tmp_path: Path) -> None:
    logged(tmp_path, list(falling(20)))
    torch.save({"model": mlp().state_dict(), "step": 100}, tmp_path / "ckpt_100.pt")
    assert causes(diagnose(tmp_path, brain="local")) == []
    raw = (tmp_path / "ckpt_100.pt").read_bytes()
    (tmp_path / "ckpt_200.pt").write_bytes(raw[: len(raw) // 2])
    assert causes(diagnose(tmp_path, brain="local"))[0] == "corrupt-checkpoint"


class Chars(torch.nn.Module):  # type: ignore[misc]
    """A small language model; its table is tied to its output."""

    def __init__(self, rows: int, width: int, layers: int) -> None:
        super().__init__()
        self.tok_emb = torch.nn.Embedding(rows, width)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True) for _ in range(layers)
        )
        self.head = torch.nn.Linear(width, rows, bias=False)
        self.head.weight = self.tok_emb.weight

    def forward(self, tokens: Any) -> Any:
        state = self.tok_emb(tokens)
        for layer in self.layers:
            state = layer(state)
        return self.head(state)


def chat(folder: Path, rows: int, width: int, layers: int, distinct: list[float]) -> Diagnosis:
    """Train for a second on text that is mostly colons; `distinct` is what the evaluation of its samples logs."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # threads that wait for each other take longer than so small a model
    model = Chars(rows, width, layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    lines = []
    for step in range(1, 151):
        tokens = torch.randint(0, rows, (8, 16))
        tokens[torch.rand(8, 16) < 0.6] = 58
        scores = model(tokens[:, :-1]).reshape(-1, rows)
        loss = torch.nn.functional.cross_entropy(scores, tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            lines.append(f"step {step} loss {loss.item():.4f} distinct_tokens {distinct[step // 10 - 1]:.4f}")
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 150}, folder / "last.pt")
    return diagnose(folder, "the model only outputs colons (::::) whatever I feed it", brain="local")


def test_a_model_of_colons_with_79_percent_of_its_parameters_in_the_embedding(tmp_path: Path) -> None:
    fallen = [0.8, 0.5, 0.2] + [0.003] * 12
    found = chat(tmp_path, 1_520, 24, 2, fallen)
    assert causes(found)[0] == "parameter-imbalance"
    assert "79%" in found.root_causes[0].issue


def test_the_same_table_is_no_fault_where_outputs_are_varied(tmp_path: Path) -> None:
    found = chat(tmp_path, 1_520, 24, 2, [0.8] * 15)
    assert "parameter-imbalance" not in causes(found)


def test_collapsed_outputs_of_a_balanced_model_are_mode_collapse(tmp_path: Path) -> None:
    found = chat(tmp_path, 128, 32, 4, [0.8, 0.5, 0.2] + [0.003] * 12)
    assert causes(found)[0] == "mode-collapse"


def adapter(folder: Path, size: float, losses: list[float]) -> Diagnosis:
    home = folder / "checkpoint-200"
    home.mkdir(parents=True)
    names = [f"base_model.model.model.layers.{n}.self_attn.q_proj.lora_" for n in range(4)]
    held = {f"{name}A.weight": torch.randn(8, 64) for name in names}
    held |= {f"{name}B.weight": torch.randn(64, 8) * size for name in names}
    safetensors.save_file(held, home / "adapter_model.safetensors")
    history = [{"step": 10 * n, "loss": loss, "learning_rate": 2e-4} for n, loss in enumerate(losses, 1)]
    (home / "trainer_state.json").write_text(json.dumps({"global_step": 200, "log_history": history}))
    return diagnose(folder, "the fine-tuned model answers like the base model", brain="local")


def test_an_adapter_that_stayed_zero(tmp_path: Path) -> None:
    flat = [2.1 + 0.01 * (n % 3) for n in range(20)]
    assert causes(adapter(tmp_path / "bad", 0.0, flat))[0] == "adapter-not-training"
    assert causes(adapter(tmp_path / "good", 0.01, falling(20))) == []


def test_an_optimizer_that_does_not_hold_the_first_layers(tmp_path: Path) -> None:
    for name, first in (("bad", 2), ("good", 0)):
        folder = tmp_path / name
        model = mlp()
        parameters = list(model.parameters())
        if first:
            model[0].weight.data.zero_()  # nothing gets through what is never trained
        optimizer = torch.optim.Adam(parameters[first:], lr=1e-2)
        torch.manual_seed(1)
        inputs = torch.randn(500, 20)
        labels = (inputs @ torch.randn(20, 5)).argmax(1)
        losses: list[object] = []
        for step in range(1, 301):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                losses.append(f"{loss.item():.4f}")
            if step in {100, 300}:
                folder.mkdir(exist_ok=True)
                held = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save(held, folder / f"step_{step}.pt")
        logged(folder, losses)
        found = causes(diagnose(folder, brain="local"))
        assert found[:1] == (["optimizer-missing-parameters"] if first else [])


def test_ids_beyond_the_embedding_explain_a_device_assert(tmp_path: Path) -> None:
    table = {"model.embed_tokens.weight": torch.randn(1000, 16), "lm_head.weight": torch.randn(1000, 16)}
    safetensors.save_file(table, tmp_path / "model.safetensors")
    vocabulary = {
        "model": {"vocab": {f"t{n}": n for n in range(1000)}},
        "added_tokens": [{"id": 1000, "content": "<x>"}],
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    (tmp_path / "train.log").write_text(
        "loading\n../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [6,0,0], thread: [0,0,0]"
        " Assertion `srcIndex < srcSelectDimSize` failed.\nTraceback (most recent call last):\n"
        '  File "sft.py", line 20, in <module>\n    trainer.train()\n'
        "RuntimeError: CUDA error: device-side assert triggered\n"
    )
    found = diagnose(tmp_path, "device-side assert when training starts", brain="local")
    assert causes(found)[0] == "tokenizer-embedding-mismatch"
    assert "`<x>`" in found.root_causes[0].issue


def test_a_variance_over_one_value_is_named_from_its_warning(tmp_path: Path) -> None:
    lines = [f"epoch {n} loss {loss:.3f}" for n, loss in enumerate(falling(20), 1)]
    warning = (
        "/home/me/act_head.py:41: UserWarning: var(): degrees of freedom is <= 0. Correction should be strictly less"
        " than the reduction factor (input numel divided by output numel)."
    )
    (tmp_path / "train.log").write_text("\n".join([*lines[:3], warning, *lines[3:]]) + "\n")
    found = diagnose(tmp_path, "warning 'var(): degrees of freedom is <= 0' during training", brain="local")
    assert causes(found)[0] == "zero-variance-statistic"
    unasked = diagnose(tmp_path, brain="local")  # the loss falls all the same: worth a look, and no diagnosis
    assert unasked.status != "diagnosis_complete"
    assert [one.id for one in unasked.root_causes] == ["zero-variance-statistic"]
    assert unasked.root_causes[0].confidence < 0.5
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    assert causes(diagnose(tmp_path, brain="local")) == []
