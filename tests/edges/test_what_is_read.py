"""Content decides what a file is, a reader's fault costs one file, and an answer goes no further than what was read."""

import gzip
import json
import pickle
import random
from pathlib import Path

import pytest

from tests.edges.conftest import Answer, causes, falling

pytestmark = pytest.mark.slow

NAN = {"non-finite-loss", "unguarded-math", "learning-rate-too-high", "mixed-precision-overflow", "exploding-gradients"}


def program(functions: int) -> str:
    """A training script of some length, with format strings that look like metrics."""
    head = "import torch\nfrom torch import nn\n\n\n"
    body = "".join(
        f"def block_{number}(x, scale={number}.5):\n"
        f'    """Block {number}."""\n'
        "    y = x * scale\n"
        "    return torch.relu(y)\n\n\n"
        for number in range(functions)
    )
    end = (
        "for step in range(200):\n"
        "    loss = model(step)\n"
        '    print(f"step {step} loss {loss:.4f} val_loss:{val_loss:.4f}")\n'
    )
    return head + body + end


@pytest.mark.parametrize("name", ["4f2c.txt", "run.log", "output"])
def test_a_log_that_opens_with_its_own_source_is_read_behind_it(tmp_path: Path, answer: Answer, name: str) -> None:
    listing = program(400)
    (tmp_path / name).write_text(listing + "=" * 80 + "\n" + falling(120, nan_from=70))
    found = answer(tmp_path)
    assert causes(found)[0] in NAN
    lines = [int(row["locator"].split()[1].rstrip(",")) for row in found["root_causes"][0]["evidence"]]
    assert min(lines) > listing.count("\n"), "a format string of the listing is no value"


@pytest.mark.parametrize("name", ["training_notes.md", "console.rst", "JOB-77"])
def test_a_log_under_the_name_of_a_document_is_read(tmp_path: Path, answer: Answer, name: str) -> None:
    (tmp_path / name).write_text("# run 7\n" + falling(150, nan_from=90))
    assert causes(answer(tmp_path))[0] in NAN


@pytest.mark.parametrize("name", ["result_stats.json", "artifact_03.json", "stats.bak"])
def test_a_history_under_a_foreign_name_is_read(tmp_path: Path, answer: Answer, name: str) -> None:
    losses = [2.3 / (1 + 0.1 * epoch) for epoch in range(20)] + [float("nan")] * 20
    (tmp_path / name).write_text(json.dumps({"train_loss": losses, "epoch": list(range(40))}))
    assert causes(answer(tmp_path))[0] in NAN


def test_a_state_file_called_as_a_program_is_read(tmp_path: Path, answer: Answer) -> None:
    rows = [{"step": step, "epoch": step / 100, "loss": 2.3 if step < 300 else "NaN"} for step in range(0, 600, 10)]
    for number, row in enumerate(rows[:30]):
        row["loss"] = 2.3 / (1 + 0.1 * number)
    (tmp_path / "trainer_state.py").write_text(json.dumps({"log_history": rows, "global_step": 600}, indent=1))
    assert causes(answer(tmp_path))[0] in NAN


def test_a_flight_recorder_is_no_checkpoint(tmp_path: Path, gathered: Answer) -> None:
    entry = {"frames": [], "record_id": 3, "profiling_name": "nccl:all_reduce", "state": "scheduled"}
    for rank in range(4):
        dump = {"version": "2.2", "pg_config": {}, "pg_status": {}, "entries": [entry]}
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump))
        (tmp_path / f"trace_{rank}.pkl").write_bytes(pickle.dumps(dump))
    (tmp_path / "train.log").write_text(falling(50))
    assert gathered(tmp_path)["artifacts"]["checkpoints"] == []


@pytest.mark.parametrize("number", ["123456789", "20260118093055123", "9" * 40])
def test_long_numbers_that_never_change_hide_no_folder(tmp_path: Path, answer: Answer, number: str) -> None:
    rows = falling(400, nan_from=300).splitlines(keepends=True)
    (tmp_path / "train.log").write_text("".join(f"job {number} {row}" for row in rows))
    (tmp_path / "other.log").write_text("nothing to see\n" * 20)
    assert causes(answer(tmp_path))[0] in NAN


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path, answer: Answer) -> None:
    (tmp_path / "train.log").write_text(falling(200, nan_from=150))
    (tmp_path / "model.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    (tmp_path / "events.out.tfevents.1700000000.host").write_bytes(random.Random(5).randbytes(3000))
    (tmp_path / "mlflow.db").write_bytes(b"SQLite format 3\0" + random.Random(6).randbytes(4000))
    found = answer(tmp_path)
    assert found["status"] == "diagnosis_complete"
    assert "non-finite-loss" in json.dumps(found), "the log was read"
    said = json.dumps([found["missing"], found["unread"]])
    assert all(name in said for name in ("model.safetensors", "events.out.tfevents", "mlflow.db"))


BANNER = "launching train.py with 8 workers\nconfig: lr=0.01 batch_size=32\nloading data\n"
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 81, in <module>\n'
    "    loss.backward()\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB\n"
)


def two_attempts() -> str:
    return BANNER + falling(60) + CRASH + BANNER + falling(400)


def write_as(folder: Path, form: str, text: str) -> None:
    if form == "gzip":
        (folder / "train.log.gz").write_bytes(gzip.compress(text.encode()))
    elif form == "two gzips":
        half = len(text) // 2
        (folder / "train.log.gz").write_bytes(gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode()))
    else:
        (folder / "train.log").write_bytes(text.encode(form))


@pytest.mark.parametrize("form", ["utf-8", "gzip", "two gzips", "utf-16", "utf-8-sig"])
def test_the_last_attempt_is_judged_and_not_by_the_error_of_the_first(
    tmp_path: Path, answer: Answer, form: str
) -> None:
    write_as(tmp_path, form, two_attempts())
    found = answer(tmp_path)
    assert found["status"] == "healthy", causes(found)
    assert any("attempts" in row for row in [*found["notable"], *found["missing"]])


@pytest.mark.parametrize("form", ["utf-8", "gzip", "utf-16"])
def test_the_message_picks_an_attempt(tmp_path: Path, answer: Answer, form: str) -> None:
    write_as(tmp_path, form, two_attempts())
    found = answer(tmp_path, "the first attempt died, why?")
    assert causes(found)[0] == "cuda-out-of-memory"
    (evidence, *_) = found["root_causes"][0]["evidence"]
    assert "CUDA out of memory" in evidence["quote"]
    assert evidence["verified"]


def test_seeds_trained_one_after_another_are_runs_of_their_own(tmp_path: Path, answer: Answer) -> None:
    log = "".join(f"seed {seed}\n" + falling(80, nan_from=40 if seed == 2 else None) for seed in range(4))
    (tmp_path / "train.log").write_text(log)
    found = answer(tmp_path)
    assert causes(found)[0] in NAN
    assert "resume-discontinuity" not in causes(found)


def test_a_new_start_is_no_resumption(tmp_path: Path, answer: Answer) -> None:
    (tmp_path / "train.log").write_text(BANNER + falling(150) + BANNER + falling(300))
    assert causes(answer(tmp_path)) == []


def test_a_break_far_down_a_long_table_is_seen(tmp_path: Path, answer: Answer) -> None:
    rows = 150_000
    text = "".join(f"{row},{2.0 / (1 + row / 5000) + 0.3:.4f}\n" for row in range(rows))
    broken = "".join(f"{row},nan\n" for row in range(rows, rows + 500))
    rest = "".join(f"{row},0.3\n" for row in range(rows + 500, rows + 600))
    (tmp_path / "metrics.csv").write_text("step,loss\n" + text + broken + rest.replace("0.3", "nan"))
    assert causes(answer(tmp_path))[0] in NAN


def test_the_failed_one_of_a_sweep_of_three_hundred_is_found(tmp_path: Path, answer: Answer) -> None:
    for number in range(300):
        folder = tmp_path / f"trial_{number:03d}"
        folder.mkdir()
        (folder / "train.log").write_text(falling(40, nan_from=20 if number == 271 else None))
    found = answer(tmp_path)
    assert found["status"] != "healthy"
    assert "trial_271" in json.dumps(found)


def test_what_was_read_of_how_much_is_told(tmp_path: Path, gathered: Answer) -> None:
    for number in range(450):
        (tmp_path / f"part_{number}.py").write_text(f"def part_{number}():\n    return {number}\n")
    (tmp_path / "train.log").write_text(falling(100))
    rows = {(row["what"], row["unit"]): row for row in gathered(tmp_path)["coverage"]}
    assert rows["code files", "files"]["read"] == 450
    assert rows["logs", "files"]["read"] == rows["logs", "files"]["of"] == 1


def test_an_archive_of_the_same_line_is_judged_by_its_end_too(tmp_path: Path, answer: Answer) -> None:
    line = b"UserWarning: tokenizers parallelism is off, see the documentation of the library\n"
    with gzip.open(tmp_path / "train.log.gz", "wb", compresslevel=9) as file:
        file.write(falling(200).encode())
        for _ in range(60):
            file.write(line * 20_000)
        file.write(falling(50, first=200, nan_from=0).encode())
    found = answer(tmp_path)
    assert found["status"] != "healthy"
    assert causes(found)[0] in NAN
    (quoted,) = [row for row in found["root_causes"][0]["evidence"] if "nan" in row["quote"]][:1]
    assert quoted["verified"]
    assert any("its end were read" in row for row in found["missing"])


@pytest.mark.parametrize("name", ["best.pth.tar", "model_best.pth.tar"])
def test_weights_under_their_old_suffix_are_a_checkpoint(tmp_path: Path, gathered: Answer, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps({"epoch": 3, "state_dict": {}}, protocol=2))
    (tmp_path / "train.log").write_text(falling(50))
    assert gathered(tmp_path)["artifacts"]["checkpoints"] == [name]


def test_two_checkpoints_of_a_run_are_one_run(tmp_path: Path, gathered: Answer) -> None:
    rows = [{"step": step, "loss": 2.3 / (1 + step / 50), "learning_rate": 1e-4} for step in range(10, 410, 10)]
    for end in (200, 400):
        folder = tmp_path / "out" / f"checkpoint-{end}"
        folder.mkdir(parents=True)
        history = [row for row in rows if row["step"] <= end]
        (folder / "trainer_state.json").write_text(json.dumps({"log_history": history, "global_step": end}))
    assert gathered(tmp_path)["runs"] == []


def test_hundreds_of_gradient_tags_are_gradient_norms(tmp_path: Path, gathered: Answer) -> None:
    tags = [f"gradients/encoder.layers.{layer}.{part}" for layer in range(100) for part in ("weight", "bias")]
    rows = []
    for step in range(30):
        rows.append(json.dumps({"step": step, "loss": 2.0 / (step + 1), **dict.fromkeys(tags, 0.01 * (step + 1))}))
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    found = gathered(tmp_path)
    assert not any("gradient norm is not logged" in row for row in found["missing"]), found["missing"]
