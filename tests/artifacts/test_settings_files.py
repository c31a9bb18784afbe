"""Settings, wherever they stand: configuration files, logs and code, each with its line."""

from __future__ import annotations

import ast
import io

import pytest

from traindx.artifacts.codesettings import code_settings
from traindx.artifacts.logsettings import read_log_settings
from traindx.artifacts.settings import Unreadable, read_settings
from traindx.contract import Fact


def _config(name: str, text: str) -> dict[str, tuple[Fact, int]]:
    return {found.key: (found.value, found.line) for found in read_settings(io.BytesIO(text.encode()), name)}


def _log(text: str) -> dict[str, Fact]:
    return {found.key: found.value for found in read_log_settings(io.BytesIO(text.encode()), "train.log")}


def _code(text: str) -> dict[str, Fact]:
    return {found.key: found.value for found in code_settings(ast.parse(text), "train.py")}


def test_yaml_with_lines_and_floats_that_yaml_takes_for_text() -> None:
    text = "lr: 3e-4\nschedule:\n  warmup: 1e5\n  peaks: [0.06, 0.30]\nname: '3e-4'\namp: yes\n"
    assert _config("config.yaml", text) == {
        "lr": (3e-4, 1),
        "schedule.warmup": (1e5, 3),
        "schedule.peaks[0]": (0.06, 4),
        "schedule.peaks[1]": (0.30, 4),
        "name": ("3e-4", 5),
        "amp": (True, 6),
    }


def test_json_with_lines() -> None:
    text = '{\n  "optim": {"lr": 5e-05,\n    "betas": [0.9, 0.95]},\n  "fp16": false\n}'
    assert _config("args.json", text) == {
        "optim.lr": (5e-05, 2),
        "optim.betas[0]": (0.9, 3),
        "optim.betas[1]": (0.95, 3),
        "fp16": (False, 4),
    }


def test_toml_with_lines() -> None:
    assert _config("c.toml", "seed = 1\n[optimizer]\nlr = 0.1\n") == {"seed": (1, 1), "optimizer.lr": (0.1, 3)}


def test_what_wandb_wraps_is_unwrapped() -> None:
    text = "learning_rate:\n  desc: null\n  value: 0.001\noptimizer:\n  value: adamw\n"
    assert _config("config.yaml", text) == {"learning_rate": (0.001, 3), "optimizer": ("adamw", 5)}


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.yaml", "a: [1, 2"), ("c.yaml", "[" * 20_000), ("c.toml", "= 3"), ("c.yaml", "a: 1\n" * 100_000)],
)
def test_a_broken_file_says_why(name: str, text: str) -> None:
    with pytest.raises(Unreadable):
        _config(name, text)


def test_yaml_aliases_that_multiply_stay_bounded() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12))
    assert len(_config("c.yaml", bomb)) <= 5_000


@pytest.mark.parametrize(
    "line",
    [
        "Namespace(lr=0.1, name='x', layers=[1, 2])",
        "INFO main: args: Namespace(lr=0.1, name='x', layers=[1, 2])",
        "config: {'lr': 0.1, 'name': 'x', 'layers': [1, 2]}",
        'TrainConfig(lr=0.1, name="x", layers=[1, 2])',
    ],
)
def test_settings_printed_as_one_object(line: str) -> None:
    assert _log(f"{line}\n") == {"lr": 0.1, "name": "x", "layers[0]": 1, "layers[1]": 2}


def test_settings_printed_one_per_line_and_in_rows() -> None:
    log = "learning_rate: 3e-4\n  batch_size: 32\nmomentum=0.9\nembed_lr:0.035 head_lr:0.0 tied:True\n"
    assert _log(log) == {
        "learning_rate": 3e-4,
        "batch_size": 32,
        "momentum": 0.9,
        "embed_lr": 0.035,
        "head_lr": 0.0,
        "tied": True,
    }


def test_metrics_errors_and_secrets_are_no_settings() -> None:
    log = "epoch 1 lr=0.1 loss=2.0\nINFO train: finished\nwandb: (1) Create an account\napi_key=abc\n"
    log += "Traceback (most recent call last):\n    call(model, x=1)\nlr=9\n"
    assert _log(log) == {}


def test_settings_in_code() -> None:
    found = _code(
        "import torch\nLR = 1e-3\nBATCH, SEED = 64, 2 ** 4\n"
        "p.add_argument('--weight-decay', type=float, default=0.01)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=m)\n"
        "sched = OneCycleLR(opt, 0.4, total_steps=800)\n"
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
        "@dataclass\nclass Config:\n    depth: int = 12\n"
    )
    assert found == {
        "LR": 1e-3,
        "BATCH": 64,
        "SEED": 16.0,
        "weight_decay": 0.01,
        "SGD.lr": 0.3,
        "OneCycleLR.max_lr": 0.4,
        "OneCycleLR.total_steps": 800,
        "clip_grad_norm_.max_norm": 1.0,
        "depth": 12,
    }
