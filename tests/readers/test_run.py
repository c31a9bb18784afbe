"""A run folder as the tools see it, however odd: files with roles, and remarks instead of exceptions."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.errors import UnreadableInput
from traindx.readers import Run, Scope
from traindx.readers.folder import discover


def _run(folder: Path) -> Run:
    return Run(Scope.of(folder))


def _read_all(run: Run) -> None:
    assert run.files is not None
    for series in run.series:
        assert len(series.at) == len(series.values) == len(series.lines)
    assert run.settings is not None
    assert run.errors is not None
    assert run.code is not None


def test_importing_the_room_is_cheap() -> None:
    program = "import sys, traindx.readers; print([m for m in ('numpy', 'yaml', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_empty_folder(tmp_path: Path) -> None:
    run = _run(tmp_path)
    _read_all(run)
    assert (run.files, run.series, run.remarks) == ([], [], [])


def test_roles_by_name_and_content(tmp_path: Path) -> None:
    contents = {
        "train.log": "epoch 1 loss 2.0\n",
        "stdout.txt": "hello\n",
        "2024_run.txt": "step:1/10 train_loss:2.0\nstep:2/10 train_loss:1.0\n",
        "notes.txt": "it failed around epoch 40?\n",
        "requirements.txt": "torch==2.4\n",
        "metrics.csv": "epoch,loss\n1,2\n",
        "houses.csv": "rooms,price\n3,100\n",
        "history.jsonl": '{"loss": 1}\n',
        "trainer_state.json": '{"log_history": []}',
        "config.yaml": "lr: 0.1\n",
        "args.json": '{"lr": 0.1}',
        "train.py": "import torch\n",
        "model.pt": "x",
        "images/a.npy": "x",
        "loss_curve.png": "x",
        "README.md": "# error: none\n",
    }
    for path, text in contents.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert {file.path: file.role for file in _run(tmp_path).files} == {
        "train.log": "log",
        "stdout.txt": "log",
        "2024_run.txt": "log",
        "notes.txt": "other",
        "requirements.txt": "config",
        "metrics.csv": "metrics",
        "houses.csv": "data",
        "history.jsonl": "metrics",
        "trainer_state.json": "metrics",
        "config.yaml": "config",
        "args.json": "config",
        "train.py": "code",
        "model.pt": "checkpoint",
        "images/a.npy": "data",
        "loss_curve.png": "output",
        "README.md": "other",
    }


def test_foreign_folders_are_not_entered(tmp_path: Path) -> None:
    for folder in (".git", "node_modules/x", "my_env/lib", "src/__pycache__", "lib/site-packages/torch"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "train.py").write_text("import torch\n")
    (tmp_path / "my_env" / "pyvenv.cfg").write_text("home = /usr\n")
    assert _run(tmp_path).files == []


def test_links_and_devices_are_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "latest.log").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.log")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "s.log"))
        run = _run(tmp_path)
        _read_all(run)
    assert run.files == []
    assert run.remarks == [
        "`latest.log` and 1 more: a symbolic link, not followed",
        "`pipe.log` and 1 more: a pipe, socket or device, not followed",
    ]


def test_binary_junk_with_the_name_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(bytes(range(256)) * 20)
    run = _run(tmp_path)
    _read_all(run)
    assert [file.role for file in run.files] == ["other"]
    assert run.remarks == ["`train.log` contains binary data, not text"]


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("epoch 1 loss 2.0\n")
    (tmp_path / "b.log").write_text("epoch 1 loss 2.0\n")

    class Guarded(Scope):
        def open(self, name: str):  # type: ignore[no-untyped-def]
            if name == "a.log":
                raise UnreadableInput(name, "Permission denied")
            return super().open(name)

    run = Run(Guarded(tmp_path))
    assert [series.source for series in run.series] == ["b.log"]
    assert run.remarks == ["cannot read `a.log`: Permission denied"]


def test_a_large_folder_is_looked_at_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "MOST_FILES", 50)
    for n in range(200):
        (tmp_path / f"{n}.npy").touch()
    (tmp_path / "zz.log").write_text("epoch 1 loss 1.0\n")
    run = _run(tmp_path)
    assert len(run.files) == 50
    assert "zz.log" in {file.path for file in run.files}
    assert run.remarks == ["the folder is large: 201 entries were scanned, 50 files read, the rest left out"]


def test_malformed_files_become_remarks(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("a: [1, 2\nb: }")
    (tmp_path / "train.py").write_text("def broken(:\n")
    (tmp_path / "args.json").write_text('{"lr": ')
    run = _run(tmp_path)
    _read_all(run)
    assert all(any(name in remark for remark in run.remarks) for name in ("config.yaml", "train.py", "args.json"))
    assert all(
        any(f"`{name}`" in remark for remark in run.remarks) for name in ("config.yaml", "train.py", "args.json")
    )


def test_one_file_as_the_whole_scope(tmp_path: Path) -> None:
    (tmp_path / "weird.name").write_text("epoch 1 loss 2.0\nepoch 2 loss 1.0\n")
    (tmp_path / "train.log").write_text("epoch 1 loss 9.0\n")
    run = _run(tmp_path / "weird.name")
    assert [(file.path, file.role) for file in run.files] == [("weird.name", "log")]
    assert [series.values.tolist() for series in run.series] == [[2.0, 1.0]]


def test_lines_are_what_citations_quote(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("a\r\n\n\x1b[31mred\x1b[0m\nx\ry\nlast")
    run = _run(tmp_path)
    assert run.lines("train.log", 1, 3) == ["a", "", "red"]
    assert run.lines("train.log", 4, 99) == ["x\ry", "last"]
    assert run.lines("train.log", 6, 7) == []
    with pytest.raises(UnreadableInput):
        run.lines("../other.log", 1, 1)


def test_every_cited_value_stands_in_its_line(tmp_path: Path) -> None:
    log = "".join(f"2026-01-02 03:04:05 [INFO] step {n} | loss {2.5 / (n + 1):.4f} | acc {n}/9\n" for n in range(9))
    (tmp_path / "train.log").write_text("start\n" + log)
    run = _run(tmp_path)
    assert {series.name for series in run.series} == {"train/loss", "train/accuracy"}
    for series in run.series:
        for line, text in zip(series.lines, series.texts, strict=True):
            assert text in run.lines("train.log", int(line), int(line))[0]


def test_traits_of_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from torch import nn\nclass Net(nn.Module):\n    def f(self): self.r = nn.LSTM(1, 2)\n"
    )
    (tmp_path / "b.py").write_text("import torch\nif __name__ == '__main__':\n    loss.backward()\n")
    assert [(code.path, set(code.traits)) for code in _run(tmp_path).code] == [
        ("a.py", {"torch", "model", "recurrent"}),
        ("b.py", {"torch", "entry-point", "training-loop"}),
    ]


def test_a_line_of_many_megabytes(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("epoch 1 loss 2.0\n" + "x1,111 " * 1_000_000 + "\nepoch 2 loss 1.0\n")
    run = _run(tmp_path)
    _read_all(run)
    assert [series.lines.tolist() for series in run.series] == [[1, 3]]


_LOGLIKE = st.lists(
    st.sampled_from(
        [
            "epoch ",
            "step",
            "loss",
            ": ",
            "=",
            "1",
            "2.5",
            "nan",
            "/",
            "|",
            "{",
            "'",
            '"',
            "\n",
            "\r",
            "[",
            ",",
            "-",
            "e",
        ]
    )
).map(lambda parts: "".join(parts).encode())


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=3_000), _LOGLIKE))
def test_no_bytes_make_reading_fail(tmp_path: Path, content: bytes) -> None:
    names = (
        "train.log",
        "metrics.csv",
        "config.yaml",
        "x.py",
        "args.json",
        "trainer_state.json",
        "h.jsonl",
        "c.toml",
        "c.ini",
    )
    for name in names:
        (tmp_path / name).write_bytes(content)
    _read_all(_run(tmp_path))


def test_code_that_a_traceback_names_counts_as_reached(tmp_path: Path) -> None:
    for folder in ("models", "data"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "blocks.py").write_text("class Block:\n    pass\n")
    (tmp_path / "plugin.py").write_text("def apply():\n    pass\n")
    (tmp_path / "queue.py").write_text("def put():\n    pass\n")
    (tmp_path / "train.log").write_text(
        "step 1 loss 2.0\n"
        "Traceback (most recent call last):\n"
        '  File "/home/someone/project/models/blocks.py", line 2, in forward\n'
        '  File "plugin.py", line 1, in apply\n'
        '  File "/usr/lib/python3.11/queue.py", line 9, in put\n'
        "RuntimeError: shapes do not match\n"
    )
    reached = {unit.path: unit.reached for unit in Run(Scope.of(tmp_path)).code}
    assert reached == {"models/blocks.py": True, "data/blocks.py": False, "plugin.py": True, "queue.py": False}


def test_a_pickle_of_data_that_would_run_code_is_named(tmp_path: Path) -> None:
    import os

    class Worse:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    (tmp_path / "samples.pkl").write_bytes(pickle.dumps({"x": [1, 2], "y": Worse()}))
    (tmp_path / "labels.pkl").write_bytes(pickle.dumps({"x": [1, 2]}))
    run = Run(Scope.of(tmp_path))
    assert {file.path: file.role for file in run.files} == {"samples.pkl": "data", "labels.pkl": "data"}
    assert run.arrays == []
    (remark,) = run.remarks
    assert remark.startswith("`samples.pkl`: loading it would run")
    assert "system" in remark


def test_secrets_are_kept_from_no_source(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(
        "config: {'lr': 0.1, 'wandb_api_key': 'abc', 'hf_token': 'x1', 'max_tokens': 512, 'key_dim': 64}\n"
        "step 1 loss 2.0\nstep 2 loss 1.0\n"
    )
    parameters = tmp_path / "mlruns" / "0" / ("a" * 32) / "params"
    parameters.mkdir(parents=True)
    for name, value in {"lr": "0.1", "api_token": "abc", "momentum": "0.9"}.items():
        (parameters / name).write_text(value)
    kept = {setting.key for setting in Run(Scope.of(tmp_path)).settings}
    assert kept == {"lr", "max_tokens", "key_dim", "momentum"}


def test_a_repository_of_aim_is_named_with_the_way_to_export_it(tmp_path: Path) -> None:
    (tmp_path / ".aim" / "meta" / "chunks").mkdir(parents=True)
    (tmp_path / ".aim" / "meta" / "chunks" / "000004.log").write_bytes(b"\0" * 50)
    run = Run(Scope.of(tmp_path))
    assert run.files == []
    (remark,) = run.remarks
    assert remark.startswith("`.aim`: Aim's own database is not read")
    assert "query_metrics().dataframe()" in remark
