"""What a file is for, whatever it is called; and which process of a job wrote it."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.api import gather_context
from traindx.readers import Role, Run, Scope
from traindx.readers.folder.recognise import recognise
from traindx.readers.logs.ranks import rank_in_name, ranks_in, read_cluster
from traindx.readers.logs.textlog import read_log

STATE = json.dumps({"epoch": 1.0, "log_history": [{"loss": 2.0, "step": 1}]}, indent=2)
LOG = "epoch 1 loss 2.0\nepoch 2 loss 1.0\n"
EVENTS = b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\xc0\x25\xdd\x75\xd5\x41\x1a\x0dbrain.Event:2\xec\xf3\x2f\x7a"
HEADER = b'{"a.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
WEIGHTS = len(HEADER).to_bytes(8, "little") + HEADER + b"\0\0\0\0"


@pytest.mark.parametrize(
    ("name", "content", "role"),
    [
        ("state.txt", STATE, "metrics"),
        ("checkpoint_info", STATE, "metrics"),
        ("config.json", STATE, "metrics"),
        ("losses.txt", "epoch,loss\n1,2.0\n2,1.0\n", "metrics"),
        ("triplet.csv", "step,triplet,pos\n0,0.62,1.1\n20,0.5,1.0\n40,0.4,\n60,0.3,0.9\n80,0.2,0.8\n", "metrics"),
        ("points.csv", "x,y\n0.1,0.2\n0.3,0.1\n0.2,0.5\n0.9,0.1\n0.2,0.1\n", "data"),
        (
            "ppo.txt",
            "--------------------\n| rollout/ |       |\n|    ep_rew_mean | 18.5 |\n| time/ |      |\n"
            "|    total_timesteps | 512 |\n--------------------\n" * 3,
            "log",
        ),
        ("table", "step\tloss\tlr\n1\t2.0\t0.1\n2\t1.0\t0.1\n", "metrics"),
        ("history.log", '{"loss": 1, "step": 1}\n{"loss": 2, "step": 2}\n', "metrics"),
        ("model.cfg", "model:\n  depth: 3\n  width: 4\nlr: 0.1\n", "config"),
        ("setup", "model:\n  depth: 3\n  width: 4\nlr: 0.1\n", "config"),
        ("hp", '{"lr": 0.1, "depth": 3}', "config"),
        ("pip_freeze.txt", "torch==2.4.0\nnumpy==1.26\n", "config"),
        ("versions", "torch==2.4.0\nnumpy==1.26\n", "config"),
        ("environment.yml", "dependencies:\n  - python=3.11\n", "config"),
        ("out", LOG, "log"),
        ("nohup.out", "hello\n", "log"),
        ("slurm-8812345.out", "hello\n", "log"),
        ("rank_0.stderr.log", "hello\n", "log"),
        ("1.err", "Traceback (most recent call last):\n", "log"),
        ("session", LOG, "log"),
        ("log.best", LOG, "log"),
        ("dmesg.txt", "[    0.000000] Linux version\n[ 9123.001] Out of memory: Killed process 1 (python)\n", "log"),
        ("kernel", "[  100.000001] EDAC MC0\n[ 9123.123456] Out of memory: Killed process 1 (python)\n", "log"),
        ("launcher_notes", "W1116 01:44:02.713000 19488 torch/distributed/elastic/api.py:1028] Sending\n", "log"),
        ("predictions.csv", "id,pred\n1,0\n", "output"),
        ("test_predictions.jsonl", '{"id": 1}\n', "output"),
        ("samples/step_100.txt", "Once upon a time\n", "output"),
        ("generated_5.txt", "Once upon a time\n", "output"),
        ("submission.csv", "id,label\n1,0\n", "output"),
        ("per_sample.csv", "filename,label,loss\na.png,1,0.3\n", "data"),
        ("train.csv", "x1,x2,label\n1,2,0\n3,4,1\n", "data"),
        ("progress.csv", "epoch,loss\n1,2\n", "metrics"),
        ("notes.txt", "the model failed: see above\n", "other"),
        ("README.md", "epoch 1 loss 2.0\nepoch 2 loss 1.0\n", "other"),
        ("model.safetensors.index.json", '{"weight_map": {"a": "b"}}', "checkpoint"),
        ("weights.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "checkpoint"),
        ("work.ipynb", '{"cells": []}', "code"),
        ("output.md", "# Run 3\n" + LOG * 20, "log"),
        ("README.md", "# A model\nIt was trained like this:\n" + "Prose about it.\n" * 30 + LOG * 4, "other"),
        ("result_stats.json", json.dumps({"args": {"lr": 0.1}, "val_loss": [3.0, 2.5, 2.25, 2.0, 1.5]}), "metrics"),
        ("result_stats.json", json.dumps([{"round": at, "train_loss": 2.0 - at / 10} for at in range(9)]), "metrics"),
        ("model.json", json.dumps({"layers": [64, 64, 64, 64], "loss": "mse", "betas": [0.9, 0.999]}), "config"),
        ("trainer_state.py", STATE, "metrics"),
        ("settings.py", "LOSSES = {\n    'a': 1,\n}\nloss = 0.5\n", "code"),
        ("notes.txt", "A long preamble.\n" * 2_000 + LOG * 2_000, "log"),
        ("licence.txt", "No warranty of any kind.\n" * 4_000, "other"),
        ("best.pth.tar", "x", "checkpoint"),
        ("images.tar", "x", "data"),
        ("profile.json", json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}), "trace"),
    ],
)
def test_texts(tmp_path: Path, name: str, content: str, role: Role) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    (file,) = Run(Scope.of(tmp_path)).files
    assert file.role == role


def test_a_dump_of_the_flight_recorder_is_no_checkpoint(tmp_path: Path) -> None:
    entry = {"collective_seq_id": 7, "profiling_name": "nccl:all_reduce", "state": "scheduled"}
    dump = {"version": "2.4", "pg_config": {"0": {"ranks": "[0, 1]"}}, "entries": [entry]}
    (tmp_path / "nccl_trace_rank_0").write_bytes(pickle.dumps(dump))
    (tmp_path / "state").write_bytes(pickle.dumps({"version": 1, "entries": [1, 2], "model": "x"}))
    assert [file.role for file in Run(Scope.of(tmp_path)).files] == ["trace", "checkpoint"]


@pytest.mark.parametrize(
    ("name", "content", "role"),
    [
        ("events.1234.host", EVENTS, "metrics"),
        ("tb_run", EVENTS, "metrics"),
        ("final.best", WEIGHTS, "checkpoint"),
        ("classifier.bin", pickle.dumps({"w": 1}, 4), "checkpoint"),
        ("dataset.pkl", pickle.dumps([1, 2, 3], 4), "data"),
        ("tokens_000.bin", bytes(range(256)) * 8, "data"),
        ("features", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", "data"),
        ("train.log", bytes(range(256)) * 8, "other"),
    ],
)
def test_binaries(tmp_path: Path, name: str, content: bytes, role: Role) -> None:
    (tmp_path / name).write_bytes(content)
    (file,) = Run(Scope.of(tmp_path)).files
    assert file.role == role


@pytest.mark.parametrize(
    ("path", "number", "kind"),
    [
        ("rank_3.stderr.log", 3, "rank"),
        ("logs/rank12/train.log", 12, "rank"),
        ("train.rank=0.log", 0, "rank"),
        ("local_rank-1.out", 1, "rank"),
        ("tlog/abc/attempt_0/5/stderr.log", 5, "rank"),
        ("node2/rank7.log", 7, "rank"),
        ("worker-4.log", 4, "worker"),
        ("out_gpu1.txt", 1, "gpu"),
        ("2.err", 2, "process"),
    ],
)
def test_ranks_in_names(path: str, number: int, kind: str) -> None:
    found = rank_in_name(path)
    assert found is not None
    assert (found.number, found.kind.removeprefix("local_")) == (number, kind)


@pytest.mark.parametrize("path", ["train.log", "slurm-123456.out", "pretrained_2.log", "run_2024.log", "drank5.log"])
def test_names_without_a_rank(path: str) -> None:
    assert rank_in_name(path) is None


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("[rank0]: x\n[rank1]: y\n", (0, 1)),
        ("[default0]:x\n[default3]:y\n", (0, 3)),
        ("0: epoch 1\n1: epoch 1\n0: epoch 2\n1: epoch 2\n", (0, 1)),
        ("[1,0]<stdout>:x\n[1,2]<stderr>:y\n", (0, 2)),
        ("100: loss 3\n200: loss 2\n300: loss 1\n", ()),
        ("epoch 1: loss 2\n", ()),
    ],
)
def test_ranks_mixed_in_one_log(text: str, ranks: tuple[int, ...]) -> None:
    assert ranks_in(text) == ranks


def test_the_job_and_its_launcher() -> None:
    text = b"srun: error: node3: task 1: Exited\nE1116 torch/distributed/elastic/multiprocessing/api.py:1002] failed\n"
    found = read_cluster(io.BytesIO(text), "logs/slurm-8812345_3.out")
    assert (found.job, found.launchers) == ("8812345", ("torchrun", "slurm"))


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=2_000), name=st.sampled_from(["a", "a.log", "a.cfg", "a.bin", "a.json", "samples/a.csv"])
)
def test_no_bytes_make_recognising_fail(tmp_path: Path, content: bytes, name: str) -> None:
    recognise(content)
    read_cluster(io.BytesIO(content), name)
    (tmp_path / "samples").mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    assert all(file.role for file in Run(Scope.of(tmp_path)).files)


def test_labels_of_srun_are_ranks_when_several_speak() -> None:
    lines = [f"{rank}: step {step} loss {1 / (step + rank + 1):.4f}\n" for step in range(900) for rank in (1, 0, 2)]
    for count in (30, len(lines)):  # line by line, and in blocks
        series = {row.original: row for row in read_log(io.BytesIO("".join(lines[:count]).encode()), "slurm.out")[0]}
        assert set(series) == {"loss", "rank1:loss", "rank2:loss"}
        assert series["loss"].at.tolist() == list(range(count // 3))
        assert series["rank2:loss"].lines.tolist() == list(range(3, count + 1, 3))


def test_numbered_epochs_are_no_ranks() -> None:
    lines = [f"{epoch}: loss {1 / (epoch + 1):.4f}\n" for epoch in range(20)]
    (series,) = read_log(io.BytesIO("".join(lines).encode()), "train.log")[0]
    assert series.original == "loss"
    assert len(series) == 20


@pytest.mark.slow
def test_the_context_package_tells_of_the_job(tmp_path: Path) -> None:
    text = "srun: job 8812345 queued\n" + "".join(f"{n % 2}: step {n // 2} loss {1 / (n + 1):.4f}\n" for n in range(40))
    (tmp_path / "slurm-8812345.out").write_text(text)
    (tmp_path / "train_rank3.log").write_text("".join(f"step {n} loss {1 / (n + 1):.4f}\n" for n in range(9)))
    (tmp_path / "train.log").write_text("".join(f"step {n} loss {1 / (n + 1):.4f}\n" for n in range(9)))
    job, rank = gather_context(tmp_path).cluster
    assert (job.path, job.job, job.ranks, job.launchers) == ("slurm-8812345.out", "8812345", [0, 1], ["slurm"])
    assert (rank.path, rank.rank, rank.kind) == ("train_rank3.log", 3, "rank")
