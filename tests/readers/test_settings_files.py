"""Settings, wherever they stand: configuration files, logs and code, each with its line."""

from __future__ import annotations

import ast
import io

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import HOSTILE_YAML
from tests.property_examples import examples
from traindx.contract import Fact
from traindx.readers.code.literals import code_settings
from traindx.readers.configs.settings import Unreadable, read_configuration, read_settings
from traindx.readers.logs.logsettings import read_log_settings


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


def test_arrays_of_tables_with_lines() -> None:
    text = (
        "[learner]\nbatch = 32\n\n[[learner.lr]]\nfrom = 0\nvalues = [3e-4, 9e-5]\n"
        '[[learner.lr]]  # the second\nfrom = 500\nvalues = [\n  6e-3,\n]\n[run]\nsteps = 900\n[["layer"]]\nwidth = 8\n'
    )
    assert _config("c.toml", text) == {
        "learner.batch": (32, 2),
        "learner.lr[0].from": (0, 5),
        "learner.lr[0].values[0]": (3e-4, 6),
        "learner.lr[0].values[1]": (9e-5, 6),
        "learner.lr[1].from": (500, 8),
        "learner.lr[1].values[0]": (6e-3, 9),
        "run.steps": (900, 13),
        "layer[0].width": (8, 15),
    }


def test_what_wandb_wraps_is_unwrapped() -> None:
    text = "learning_rate:\n  desc: null\n  value: 0.001\noptimizer:\n  value: adamw\n"
    assert _config("config.yaml", text) == {"learning_rate": (0.001, 3), "optimizer": ("adamw", 5)}


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.yaml", "a: [1, 2"), ("c.yaml", "[" * 20_000), ("c.toml", "= 3"), ("c.yaml", "a: 1\n" * 1_000_000)],
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


def _with_remarks(name: str, text: str) -> tuple[dict[str, Fact], list[str]]:
    found, remarks = read_configuration(io.BytesIO(text.encode()), name)
    return {setting.key: setting.value for setting in found}, remarks


def test_yaml_with_odd_tags_is_read_and_never_obeyed() -> None:
    text = (
        "a: !!python/object/apply:os.system ['touch MARKER']\nb: !include other.yaml\n"
        "c: !!python/tuple [1, 2]\nargs: !!python/object:argparse.Namespace\n  lr: 0.1\n"
    )
    found, remarks = _with_remarks("c.yaml", text)
    assert found == {"a[0]": "touch MARKER", "b": "!include other.yaml", "c[0]": 1, "c[1]": 2, "args.lr": 0.1}
    assert len(remarks) == 1
    assert "line 1" in remarks[0]


def test_yaml_anchors_merges_duplicates_and_documents() -> None:
    text = "base: &b {lr: 0.1, wd: 0.2}\nrun:\n  <<: *b\n  lr: 0.5\nrun2: *b\nseed: 1\nseed: 2\n---\nlater: 3\n"
    found, remarks = _with_remarks("c.yaml", text)
    assert found == {
        "base.lr": 0.1,
        "base.wd": 0.2,
        "run.wd": 0.2,
        "run.lr": 0.5,
        "run2.lr": 0.1,
        "run2.wd": 0.2,
        "seed": 2,
        "later": 3,
    }
    assert remarks == ["`c.yaml`: line 7: `seed` is repeated here; the last one counts"]


@pytest.mark.parametrize("text", HOSTILE_YAML.values(), ids=HOSTILE_YAML)
def test_hostile_yaml_is_read_or_refused(text: str) -> None:
    _with_remarks("c.yaml", text)


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML without libyaml keeps the small bound")
@pytest.mark.slow
def test_a_yaml_of_a_megabyte_is_read() -> None:
    text = "".join(f"key{n}: {n}\n" for n in range(4_000)) + "# " + "x" * 1_000_000 + "\nlast: 1\n"
    assert _config("c.yaml", text)["last"] == (1, 4_002)


def test_json_with_comments_and_trailing_commas() -> None:
    text = '{\n  // the rate\n  "lr": 0.1, /* two\n lines */\n  "url": "http://x//y",\n  "n": [1, 2,],\n}\n'
    found, remarks = _with_remarks("c.json", text)
    assert found == {"lr": 0.1, "url": "http://x//y", "n[0]": 1, "n[1]": 2}
    assert "not strict JSON" in remarks[0]
    assert _config("c.json", text)["url"][1] == 5


def test_a_cut_json_gives_what_it_has() -> None:
    found, remarks = _with_remarks("c.json", '{"lr": 0.1, "b": {"c": 2, "d"')
    assert found == {"lr": 0.1, "b.c": 2}
    assert remarks


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("c.ini", "[train]\nlr = 0.1 ; rate\n# no\nname: x\n", {"train.lr": 0.1, "train.name": "x"}),
        (".env", "export EPOCHS=3\nWANDB_API_KEY=0123456789\n", {"EPOCHS": 3}),
        (
            "c.gin",
            "Trainer.lr = 0.1\ntrain/Net.sizes = [1,\n  2]\n",
            {"Trainer.lr": 0.1, "train/Net.sizes[0]": 1, "train/Net.sizes[1]": 2},
        ),
        (
            "args.txt",
            "Namespace(lr=0.1,\n  name='x', betas=(0.9, 0.95))\n",
            {"lr": 0.1, "name": "x", "betas[0]": 0.9, "betas[1]": 0.95},
        ),
        (
            "cmd.txt",
            "python train.py --lr 0.1 --amp --weight-decay=1e-4\n",
            {"lr": 0.1, "amp": True, "weight_decay": 1e-4},
        ),
        ("model.cfg", "model:\n  depth: 3\nlr: 0.1\n", {"model.depth": 3, "lr": 0.1}),
        ("hparams", '{"lr": 0.1}', {"lr": 0.1}),
    ],
)
def test_other_notations(name: str, text: str, expected: dict[str, Fact]) -> None:
    assert _with_remarks(name, text)[0] == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "requirements.txt",
            "torch>=2.0,<3\nnumpy==1.26.4  # pinned\n-r other.txt\nscipy\n",
            {"torch": ">=2.0,<3", "numpy": "1.26.4", "scipy": "any"},
        ),
        (
            "pip_freeze.txt",
            "flash_attn==2.7.0.post2\ntorch==2.6.0.dev20250110+cu124\n",
            {"flash-attn": "2.7.0.post2", "torch": "2.6.0.dev20250110+cu124"},
        ),
        ("pip_list.txt", "Package    Version\n---------- -------\ntorch      2.4.0\n", {"torch": "2.4.0"}),
        (
            "environment.yml",
            "name: x\ndependencies:\n  - python=3.11\n  - numpy=1.26.4=py311h64a_0\n  - pip:\n    - torch==2.4.0\n",
            {"python": "3.11", "numpy": "1.26.4", "torch": "2.4.0"},
        ),
        ("requirements.txt", "pkg @ git+https://user:secret@host/repo.git\n", {"pkg": "git+https://host/repo.git"}),
        (
            "collect_env.txt",
            "Collecting environment information...\nPyTorch version: 2.4.0+cu121\n[pip3] numpy==1.26.4\n",
            {"pytorch": "2.4.0+cu121", "numpy": "1.26.4"},
        ),
    ],
)
def test_lists_of_packages(name: str, text: str, expected: dict[str, str]) -> None:
    found, _ = _with_remarks(name, text)
    packages = {key.removeprefix("packages."): value for key, value in found.items() if key.startswith("packages.")}
    assert packages == expected


_SECRETS = {
    "api_key": "abcdef",
    "WANDB_API_KEY": "abcdef",
    "hf_token": "abcdef",
    "password": "abcdef",
    "db.passwd": "abcdef",
    "client_secret": "abcdef",
    "auth.token": "abcdef",
    "apiKey": "abcdef",
    "anything": "hf_abcdefghijklmnopqrstuvwx",
    "url": "postgres://user:pass@host/db",
    "AWS_SECRET_ACCESS_KEY": "abcdef",
}
_SETTINGS: dict[str, Fact] = {
    "pad_token": "<pad>",
    "max_tokens": 512,
    "pad_token_id": 0,
    "tokenizer": "bpe",
    "key_dim": 64,
    "monitor_key": "loss",
    "num_keys": 3,
    "eos_token": "</s>",
    "token_dropout": 0.1,
}


@pytest.mark.parametrize("reader", ["yaml", "json", "env", "code"])
def test_secrets_never_become_settings(reader: str) -> None:
    values: dict[str, Fact] = {**_SECRETS, **_SETTINGS}
    if reader == "yaml":
        found = _with_remarks("c.yaml", yaml.safe_dump(values))[0]
    elif reader == "json":
        found = _with_remarks("c.json", __import__("json").dumps(values))[0]
    elif reader == "env":
        found = _with_remarks(".env", "".join(f"{key}={value}\n" for key, value in values.items()))[0]
    else:
        plain = {key: value for key, value in values.items() if "." not in key}
        found = _code("".join(f"{key} = {value!r}\n" for key, value in plain.items()))
    assert found == _SETTINGS


@settings(max_examples=examples(100))
@given(
    content=st.one_of(
        st.binary(max_size=500), st.text(alphabet="a:{}[]-\n \"'#,=&*!|>?1.e%", max_size=80).map(str.encode)
    ),
    name=st.sampled_from(
        ["c.yaml", "c.json", "c.toml", "c.ini", "c", ".env", "c.gin", "requirements.txt", "environment.yml"]
    ),
)
def test_no_bytes_make_reading_settings_fail(content: bytes, name: str) -> None:
    found, remarks = read_configuration(io.BytesIO(content), name)
    assert all(setting.key and setting.line >= 1 for setting in found)
    assert all(name in remark for remark in remarks)


def test_mappings_in_code_are_settings_on_their_own_lines() -> None:
    text = "optim = dict(\n    optimizer=dict(type='AdamW', lr=6e-3),\n    steps=[dict(type='StepLR')])\n"
    text += "cfg = {'beta': 30.0}\n"
    found = {row.key: (row.value, row.line) for row in code_settings(ast.parse(text), "vit.py")}
    assert found["optim.optimizer.lr"] == (6e-3, 2)
    assert found["optim.optimizer.type"] == ("AdamW", 2)
    assert found["optim.steps.0.type"] == ("StepLR", 3)
    assert found["cfg.beta"] == (30.0, 4)
