"""Fixes as diffs: the right place, the style of the file, nothing else changed, and git takes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.applying import apply, changed_files, parses
from traindx.contract import Artifacts, ConfigValue, ContextPackage, Fact
from traindx.definitions import frontmatter
from traindx.diagnosis.catalog import FOLDER, FailureMode
from traindx.diagnosis.changes.choose import Unknown, choose
from traindx.diagnosis.changes.declared import Change
from traindx.diagnosis.changes.patch import patch
from traindx.diagnosis.changes.rewritings import REWRITINGS
from traindx.diagnosis.changes.spelling import number
from traindx.diagnosis.changes.wanted import NewValue, Patched, Wanted
from traindx.errors import DefinitionError
from traindx.readers import Run, Scope
from traindx.vocabulary.settings import GROUPS, rank_in


def _run(folder: Path, **files: str) -> Run:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_bytes(text.encode())
    return Run(Scope.of(folder))


def _patched(wanted: Wanted, run: Run) -> Patched:
    answer = patch(wanted, run)
    assert isinstance(answer, Patched)
    return answer


def _new_value(run: Run, key: str, new: Fact) -> Patched:
    row = next(row for row in run.settings if row.key == key)
    value = NewValue(source=row.source, line=row.line, key=row.key, old=row.value, new=new)
    return _patched(Wanted(values=[value]), run)


@pytest.mark.parametrize(
    ("name", "text", "key", "new", "written"),
    [
        ("config.yaml", "optim:\n  lr: 0.5  # bold\n  wd: 0.5\n", "optim.lr", 0.01, "  lr: 0.01  # bold"),
        ("config.yaml", "lr: 1e-3\nseed: 1\n", "lr", 1e-5, "lr: 1e-5"),
        ("config.yaml", "lr: 0.001\nseed: 1\n", "lr", 1e-5, "lr: 1.0e-5"),
        ("config.yaml", "fp16: true\nseed: 1\n", "fp16", False, "fp16: false"),
        ("config.yaml", "precision: 16\nseed: 16\n", "precision", "bf16", "precision: bf16"),
        ("cfg.json", '{"dropout": 0.1, "lr": 0.1, "bs": 8}', "lr", 0.01, '{"dropout": 0.1, "lr": 0.01, "bs": 8}'),
        ("cfg.json", '{\n  "precision": 16\n}\n', "precision", "bf16", '  "precision": "bf16"'),
        ("cfg.toml", "[optim]\nlr = 3.0\nmomentum = 3.0\n", "optim.lr", 1.0, "lr = 1.0"),
        ("cfg.ini", "[train]\nlr = 0.3\nepochs = 30\n", "train.epochs", 5, "epochs = 5"),
        ("train.py", "LR = 3e-1\nEPOCHS = 3\n", "LR", 0.001, "LR = 0.001"),
        (
            "train.py",
            "import torch\nopt = torch.optim.SGD(p, 0.1, 0.9)\n",
            "SGD.lr",
            0.01,
            "opt = torch.optim.SGD(p, 0.01, 0.9)",
        ),
        (
            "train.py",
            "p = ArgumentParser()\np.add_argument('--lr', type=float, default=.5)\n",
            "lr",
            0.05,
            "p.add_argument('--lr', type=float, default=0.05)",
        ),
        (
            "train.py",
            "class C:\n    batch_size: int = 64\n    hidden: int = 64\n",
            "batch_size",
            32,
            "    batch_size: int = 32",
        ),
        (
            "run.sh",
            "#!/bin/sh\npython train.py --lr 0.5 \\\n  --wd=0.5 --epochs 9\n",
            "wd",
            0.05,
            "  --wd=0.05 --epochs 9",
        ),
    ],
)
def test_a_value_changes_in_the_style_of_its_file(
    tmp_path: Path, name: str, text: str, key: str, new: Fact, written: str
) -> None:
    run = _run(tmp_path, **{name: text})
    before = {(row.key, row.value) for row in run.settings}
    patched = _new_value(run, key, new)
    assert patched.diff, patched.why_not
    apply(patched.diff, tmp_path)
    assert changed_files(patched.diff) == [name]
    now = (tmp_path / name).read_text().splitlines()
    assert written in now
    assert sum(line != old for line, old in zip(now, text.splitlines(), strict=True)) == 1
    assert parses(tmp_path / name)
    after = {(row.key, row.value) for row in Run(Scope.of(tmp_path)).settings}
    assert {row[0] for row in before ^ after} == {key}


@pytest.mark.parametrize(
    "text", ["seed: 1\r\nlr: 0.5\r\nwd: 1\r\n", "lr: 0.5", "a: 1\nlr: 0.5", "é: 1\nlr: 0.5\nü: 2\n"]
)
def test_line_ends_and_foreign_letters_stay(tmp_path: Path, text: str) -> None:
    patched = _new_value(_run(tmp_path, config__yaml=text), "lr", 0.25)
    apply(patched.diff, tmp_path)
    assert (tmp_path / "config.yaml").read_bytes().decode() == text.replace("0.5", "0.25")


def test_two_values_of_one_file_are_one_diff(tmp_path: Path) -> None:
    run = _run(tmp_path, config__json='{"batch_size": 8, "grad_accum": 1}\n')
    rows = [
        NewValue(source="config.json", line=1, key="batch_size", old=8, new=4),
        NewValue(source="config.json", line=1, key="grad_accum", old=1, new=2),
    ]
    patched = _patched(Wanted(values=rows), run)
    apply(patched.diff, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text()) == {"batch_size": 4, "grad_accum": 2}


@pytest.mark.parametrize(
    ("name", "text", "key", "says"),
    [
        ("train.py", "SCALE = 2 ** 16\n", "SCALE", "not written as a plain value"),
        ("config.yaml", "lr: 0.5\n" + "x: " + "y" * 5_000 + "\n", "lr", "too long"),
    ],
)
def test_what_cannot_be_changed_is_said(tmp_path: Path, name: str, text: str, key: str, says: str) -> None:
    patched = _new_value(_run(tmp_path, **{name: text}), key, 0.25)
    assert not patched.diff
    assert says in patched.why_not


def test_a_secret_near_the_change_is_not_shown(tmp_path: Path) -> None:
    key = "hf_" + "aB3dE5gH7j" * 3
    text = f"hub: {key}\na: 1\nb: 2\nlr: 0.5\nc: 3\n"
    patched = _new_value(_run(tmp_path, config__yaml=text), "lr", 0.25)
    assert patched.diff
    assert key not in patched.diff
    apply(patched.diff, tmp_path)
    beside = _new_value(_run(tmp_path, config__yaml=f"hub: {key}\nlr: 0.5\n"), "lr", 0.25)
    assert not beside.diff


def _context(*rows: tuple[str, Fact, str, int], config: tuple[str, ...] = ("config.yaml",)) -> ContextPackage:
    settings = [ConfigValue(key=key, value=value, source=source, line=line) for key, value, source, line in rows]
    return ContextPackage(artifacts=Artifacts(config=list(config)), settings=settings)


LR = Change(setting="lr", to=("1",))
CODE = ("lr", 0.1, "train.py", 3)
CONFIG = ("optim.lr", 0.2, "config.yaml", 1)
COMMAND = ("lr", 0.3, "run.sh", 2)


def test_the_command_line_wins_over_the_config_and_that_over_the_code() -> None:
    chosen = choose(LR, _context(CODE, CONFIG, COMMAND), {})
    assert chosen.row.source == "run.sh"
    assert [row.source for row in chosen.overruled] == ["train.py", "config.yaml"]
    assert choose(LR, _context(CODE, CONFIG), {}).row.source == "config.yaml"
    assert choose(LR, _context(CODE), {}).row.source == "train.py"


def test_what_the_log_printed_decides_which_place_counts() -> None:
    printed = ("lr", 0.1, "train.log", 1)
    assert choose(LR, _context(CODE, CONFIG, printed), {}).row.source == "train.py"
    with pytest.raises(Unknown, match=r"was 0\.7 in the run \(train\.log:1\).*train\.py:3 says 0\.1"):
        choose(LR, _context(CODE, ("lr", 0.7, "train.log", 1)), {})


def test_a_record_of_a_tracker_is_no_place_to_change() -> None:
    path = "wandb/run-1/files/config.yaml"
    with pytest.raises(Unknown, match="no file of this folder sets that"):
        choose(LR, _context(("lr", 0.1, path, 4), config=(path,)), {})


def test_two_values_for_one_name_are_not_guessed_between() -> None:
    rows = (("enc.lr", 0.1, "config.yaml", 1), ("head.lr", 0.2, "config.yaml", 2))
    with pytest.raises(Unknown, match="set more than once"):
        choose(LR, _context(*rows), {})
    known = Change(setting="lr", to=("1",), place="lr_place", present="lr")
    assert choose(known, _context(*rows), {"lr": 0.2, "lr_place": "config.yaml:2"}).row.key == "head.lr"


@pytest.mark.parametrize(
    ("key", "group"),
    [("gamma", "decay_factor"), ("std", "init_std"), ("GradScaler.init_scale", "init_std"), ("horizon", "horizon"),
     ("ReduceLROnPlateau.patience", "patience"), ("clip_range", "clip"), ("optim.betas", "lr")],
)  # fmt: skip
def test_look_alikes_are_other_settings(key: str, group: str) -> None:
    assert rank_in(key, group) is None


@pytest.mark.parametrize(
    ("key", "group"),
    [("StepLR.gamma", "decay_factor"), ("lr_scheduler.gamma", "decay_factor"), ("optimizer.base-LR", "lr"),
     ("trainer.early_stopping.patience", "patience"), ("learningRate", "lr"), ("T_max", "horizon")],
)  # fmt: skip
def test_a_setting_is_known_under_its_names(key: str, group: str) -> None:
    assert rank_in(key, group) is not None


def _code(folder: Path, text: str, rewriting: str, **facts: Fact) -> str:
    run = _run(folder, train__py=text)
    patched = _patched(Wanted(code=rewriting, facts=facts), run)
    if not patched.diff:
        return f"no: {patched.why_not}"
    apply(patched.diff, folder)
    assert parses(folder / "train.py")
    return (folder / "train.py").read_text()


LOOP = """import torch
import torch.nn as nn

net = nn.{cell}(4, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
h = {start}
for x, y in data:
    out, h = net(x, h)
    loss = ((out - y) ** 2).mean()
    opt.zero_grad()
    {backward}
    opt.step()
"""


@pytest.mark.parametrize(
    ("cell", "line"),
    [("GRU", "    h = h.detach()"), ("LSTM", "    h = tuple(part.detach() for part in h)")],
)
def test_the_state_is_detached_behind_backward(tmp_path: Path, cell: str, line: str) -> None:
    text = LOOP.format(cell=cell, start="None", backward="loss.backward()")
    now = _code(tmp_path, text, "detach-state", state="h", state_place="train.py:8").splitlines()
    assert now[10:13] == ["    loss.backward()", line, "    opt.step()"]


@pytest.mark.parametrize("call", ["loss.backward(retain_graph=True)", "loss.backward(None, retain_graph=True)"])
def test_a_retained_graph_gives_way_to_a_detached_state(tmp_path: Path, call: str) -> None:
    text = LOOP.format(cell="GRU", start="None", backward=call)
    now = _code(tmp_path, text, "drop-retain-graph", backward_place="train.py:11").splitlines()
    assert now[10] in {"    loss.backward()", "    loss.backward(None)"}
    assert now[11] == "    h = h.detach()"


def test_the_result_of_detach_is_kept(tmp_path: Path) -> None:
    text = "for x in d:\n    self.h.detach()\n    h[0].detach()\n"
    assert "    self.h = self.h.detach()\n" in _code(tmp_path, text, "assign-detached", rule_place="train.py:2")
    assert _code(tmp_path, "(a + b).detach()\n", "assign-detached", rule_place="train.py:1").startswith("no: ")


@pytest.mark.parametrize(
    ("line", "now"),
    [
        ("return -torch.log(p).mean()", "return -torch.log(p.clamp_min(1e-8)).mean()"),
        ("return (a - b).pow(2).sum(1).sqrt()", "return (a - b).pow(2).sum(1).clamp_min(1e-8).sqrt()"),
        ("return a / a.norm()", "return a / (a.norm() + 1e-8)"),
        ("return torch.log(a - b)", "return torch.log((a - b).clamp_min(1e-8))"),
        ("return torch.log1p(a)", "return torch.log1p(a.clamp_min(-1 + 1e-6))"),
    ],
)
def test_the_argument_is_guarded(tmp_path: Path, line: str, now: str) -> None:
    text = f"import torch\n\n\ndef loss(a, b, p):\n    {line}\n"
    found = _code(tmp_path, text, "guard-math", math_place="train.py:5", math_operation="log")
    assert found.splitlines()[4] == f"    {now}"


def test_gradients_are_clipped_before_the_update(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="loss.backward()")
    now = _code(tmp_path, text, "clip-gradients").splitlines()
    assert now[11:13] == ["    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "    opt.step()"]


def test_gradients_are_unscaled_before_they_are_clipped(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="scaler.scale(loss).backward()")
    text = text.replace("opt.step()", "scaler.step(opt)").replace("net.parameters()", "groups")
    now = _code(tmp_path, text, "clip-gradients").splitlines()
    clip = '    torch.nn.utils.clip_grad_norm_([p for group in opt.param_groups for p in group["params"]], 1.0)'
    assert now[11:14] == ["    scaler.unscale_(opt)", clip, "    scaler.step(opt)"]


def test_what_is_clipped_is_not_clipped_again(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="loss.backward(); nn.utils.clip_grad_norm_(w, 1)")
    assert _code(tmp_path, text, "clip-gradients").startswith("no: ")


def test_a_warmup_is_added_where_no_schedule_is(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="loss.backward()")
    now = _code(tmp_path, text, "add-warmup", run_steps=10_000)
    assert "warmup = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.01, total_iters=300)\n" in now
    assert "    opt.step()\n    warmup.step()\n" in now
    scheduled = text.replace("h = None", "s = torch.optim.lr_scheduler.StepLR(opt, 5)\nh = None")
    assert _code(tmp_path, scheduled, "add-warmup").startswith("no: ")


def test_the_optimizer_is_restored_where_it_was_saved(tmp_path: Path) -> None:
    text = (
        "import torch\nnet = M()\nopt = torch.optim.Adam(net.parameters())\nck = torch.load('a.pt')\n"
        "net.load_state_dict(ck['net'])\ntorch.save({'net': net.state_dict(), 'optim': opt.state_dict()}, 'a.pt')\n"
    )
    now = _code(tmp_path, text, "restore-optimizer", restore_place="train.py:5")
    assert "net.load_state_dict(ck['net'])\nopt.load_state_dict(ck[\"optim\"])\n" in now
    unsaved = text.replace(", 'optim': opt.state_dict()", "")
    assert "saves the optimizer's state" in _code(tmp_path, unsaved, "restore-optimizer", restore_place="train.py:5")


@pytest.mark.parametrize(
    ("rewriting", "text", "facts", "now"),
    [
        (
            "swap-activation",
            "import torch.nn as nn\nact = nn.Sigmoid()\n",
            {"stack_place": "train.py:2"},
            "act = nn.ReLU()",
        ),
        (
            "ordinary-initialisation",
            "from torch import nn\nnn.init.normal_(w, 0, 3.0)\n",
            {"init_place": "train.py:2"},
            "nn.init.normal_(w, 0, 0.02)",
        ),
        (
            "ordinary-initialisation",
            "from torch import nn\nnn.init.ones_(w)\n",
            {"init_place": "train.py:2"},
            "nn.init.kaiming_normal_(w)",
        ),
        (
            "bfloat16",
            "import torch\nwith torch.autocast('cuda', dtype=torch.float16):\n    pass\n",
            {},
            "with torch.autocast('cuda', dtype=torch.bfloat16):",
        ),
    ],
)
def test_layers_are_rewritten(tmp_path: Path, rewriting: str, text: str, facts: dict[str, Fact], now: str) -> None:
    assert now in _code(tmp_path, text, rewriting, **facts).splitlines()


def test_anomaly_detection_is_turned_on_behind_the_imports(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="loss.backward()")
    assert _code(tmp_path, text, "detect-anomaly").splitlines()[2] == "torch.autograd.set_detect_anomaly(True)"


def test_statements_that_share_a_line_are_left_alone(tmp_path: Path) -> None:
    text = LOOP.format(cell="GRU", start="None", backward="loss.backward(); n = 1")
    assert _code(tmp_path, text, "detach-state", state="h", state_place="train.py:8").startswith("no: ")


def test_code_in_a_notebook_is_rewritten_as_json(tmp_path: Path) -> None:
    source = LOOP.format(cell="GRU", start="None", backward='loss.backward()  # "é"').splitlines(keepends=True)
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(book, indent=1))
    facts: dict[str, Fact] = {"state": "h", "state_place": "a.ipynb, cell 1, line 8"}
    patched = _patched(Wanted(code="detach-state", facts=facts), Run(Scope.of(tmp_path)))
    apply(patched.diff, tmp_path)
    now = json.loads((tmp_path / "a.ipynb").read_text())["cells"][0]["source"]
    assert now[10:12] == ['    loss.backward()  # "é"\n', "    h = h.detach()\n"]
    assert [row for row in now if row not in source] == ["    h = h.detach()\n"]
    assert "a.ipynb, cell 1, line 11" in patched.did


@pytest.mark.parametrize(
    ("value", "old", "path", "text"),
    [(1e-5, "0.001", "a.yaml", "1.0e-5"), (1e-5, "1e-3", "a.yaml", "1e-5"), (1e-5, "0.1", "a.json", "1e-5"),
     (2.0, "4", "a.py", "2"), (2.0, "4.0", "a.py", "2.0"), (0.12345678, "1.0", "a.py", "0.1235"),
     (2e7, "1", "a.py", "20000000")],
)  # fmt: skip
def test_numbers_are_spelled_like_the_old_one(value: float, old: str, path: str, text: str) -> None:
    assert number(value, old, path) == text


@pytest.mark.parametrize(
    ("change", "says"),
    [("- setting: lrr\n    to: ['1']", "`lrr` is no group of settings"), ("- code: nothing", "Input should be"),
     ("- setting: lr", "either `setting` with `to`, or `code`"), ("- setting: lr\n    too: ['1']", "unknown key")],
)  # fmt: skip
def test_a_wrong_change_is_named(tmp_path: Path, change: str, says: str) -> None:
    text = (FOLDER / "undertrained.md").read_text(encoding="utf-8")
    head, _, rest = text.partition("\nchange:\n")
    (tmp_path / "undertrained.md").write_text(f"{head}\nchange:\n  {change}\n---\n{rest.partition('---')[2]}")
    with pytest.raises(DefinitionError, match=says):
        frontmatter.parse(tmp_path / "undertrained.md").into(FailureMode)


def test_every_rewriting_and_group_is_one_that_a_failure_mode_asks_for() -> None:
    modes = [frontmatter.parse(path).into(FailureMode) for path in FOLDER.glob("*.md")]
    changes = [change for mode in modes for change in mode.change]
    assert {change.code for change in changes if change.code} == set(REWRITINGS)
    companions = {row.setting for change in changes for row in change.also}
    assert {change.setting for change in changes if change.setting} | companions == set(GROUPS)


def test_a_rate_in_a_table_is_found_by_its_value() -> None:
    change = Change(setting="lr", to=("1",), place="lr_place", present="lr_after")
    rows = (
        ("lr.values[0]", 0.01, "config.yaml", 2),
        ("lr.values[1]", 0.8, "config.yaml", 3),
        ("drop", 0.8, "config.yaml", 9),
    )
    assert choose(change, _context(*rows), {"lr_after": 0.8}).row.line == 3
    with pytest.raises(Unknown):
        choose(change, _context(*rows), {"lr_after": 0.4})


def test_half_precision_becomes_bf16_wherever_it_is_chosen(tmp_path: Path) -> None:
    text = "import torch\nnet = Net().half()\nfor x, y in d:\n    x, y = x.half(), y.half()\nk = {'half': torch.half}\n"
    now = _code(tmp_path, text, "bfloat16").splitlines()
    assert now[1] == "net = Net().bfloat16()"
    assert now[3:] == ["    x, y = x.bfloat16(), y.bfloat16()", "k = {'half': torch.half}"]
    assert _code(tmp_path, "import torch\nx = torch.zeros(3)\n", "bfloat16").startswith("no: ")


@pytest.mark.parametrize("path", ["args.yaml", "output/config.yaml", "lightning_logs/version_0/hparams.yaml"])
def test_what_a_run_wrote_about_itself_is_a_record(path: str) -> None:
    with pytest.raises(Unknown, match="no file of this folder sets that"):
        choose(LR, _context(("lr", 0.1, path, 4), config=(path,)), {})
    assert choose(LR, _context(("lr", 0.1, path, 4), CODE, config=(path,)), {}).row.source == "train.py"
