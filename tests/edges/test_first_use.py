"""What somebody meets who uses the command for the first time: defaults, completion, diffs and plain reports."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.edges.conftest import Answer, causes, falling, plain
from tests.shells import Shell

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "lr-schedule-spike"


def applies(diff: str, run: Path) -> bool:
    """Whether `git apply --check` takes a diff."""
    git = ["git", "apply", "--check", "--whitespace=nowarn", "-"]
    return subprocess.run(git, input=diff.encode(), cwd=run, capture_output=True, check=False).returncode == 0


# diffs

LOOP = """import torch
from torch import nn

EPOCHS = {epochs}
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.{optimizer}(model.parameters(), lr={lr})
criterion = nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
"""


def too_high(run: Path) -> str:
    (run / "train.py").write_text(LOOP.format(epochs=30, optimizer="Adam", lr=2.0))
    rows = [f"epoch {epoch} loss {2.0 + epoch**2:.3f} lr 2.0\n" for epoch in range(30)]
    (run / "train.log").write_text("".join(rows))
    return "the loss explodes"


def overfits(run: Path) -> str:
    (run / "config.yaml").write_text("epochs: 60\nbatch_size: 32\nlr: 0.001\ndropout: 0.0\n")
    rows = [f"{e},{1.5 / (1 + e / 4):.4f},{0.8 + 0.02 * abs(e - 9):.4f}\n" for e in range(60)]
    (run / "metrics.csv").write_text("epoch,train_loss,val_loss\n" + "".join(rows))
    return "validation gets worse"


def carries_its_graph(run: Path) -> str:
    (run / "train.py").write_text(
        "import torch\nfrom torch import nn\n\nmodel = nn.GRU(8, 16)\nhead = nn.Linear(16, 1)\n"
        "optimizer = torch.optim.Adam(model.parameters())\nhidden = None\nfor x, y in loader:\n"
        "    out, hidden = model(x, hidden)\n    loss = ((head(out) - y) ** 2).mean()\n    optimizer.zero_grad()\n"
        "    loss.backward()\n    optimizer.step()\n"
    )
    (run / "train.log").write_text(
        "step 1 loss 1.0\nTraceback (most recent call last):\n"
        '  File "train.py", line 12, in <module>\n    loss.backward()\n'
        "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they"
        " have already been freed).\n"
    )
    return "second backward fails"


def steps_the_schedule_per_batch(run: Path) -> str:
    (run / "train.py").write_text(
        LOOP.format(epochs=90, optimizer="SGD", lr=0.1)
        .replace("criterion =", "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)\ncriterion =")
        .replace("        optimizer.step()\n", "        optimizer.step()\n        scheduler.step()\n")
    )
    (run / "train.log").write_text(falling(90).replace("step", "epoch"))
    return "it stops learning in the first epoch"


def runs_out_of_memory(run: Path) -> str:
    (run / "config.json").write_text('{"batch_size": 64, "lr": 0.001, "epochs": 3}\n')
    (run / "train.log").write_text(falling(30) + "torch.cuda.OutOfMemoryError: CUDA out of memory.\n")
    return "oom"


@pytest.mark.parametrize(
    "broken", [too_high, overfits, carries_its_graph, steps_the_schedule_per_batch, runs_out_of_memory]
)
def test_an_ordinary_fix_is_a_diff_that_applies(tmp_path: Path, answer: Answer, broken: object) -> None:
    said = broken(tmp_path)  # type: ignore[operator]
    found = answer(tmp_path, said)
    (first, *_) = found["root_causes"]
    assert first["fix"]["diff"], (first["id"], first["fix"]["summary"])
    assert applies(first["fix"]["diff"], tmp_path)


@pytest.mark.parametrize(
    "end",
    [
        "torch.cuda.OutOfMemoryError: CUDA out of memory.",
        "OSError: [Errno 28] No space left on device",
        "slurmstepd: error: *** JOB 7 CANCELLED AT 2026-01-03T11:00:00 DUE TO TIME LIMIT ***",
        "ModuleNotFoundError: No module named 'flash_attn'",
    ],
)
def test_a_fix_without_a_diff_says_what_is_unknown(tmp_path: Path, answer: Answer, end: str) -> None:
    (tmp_path / "train.log").write_text(falling(60) + end + "\n")
    (first, *_) = answer(tmp_path)["root_causes"]
    assert first["fix"]["diff"] is None
    assert "No diff: " in first["fix"]["summary"]


# defaults, completion, schemas, exit codes


def test_without_a_path_the_current_folder_is_read(shell: Shell, broken_run: Path) -> None:
    done = shell('cd "$RUN" && traindx diagnose', RUN=broken_run)
    assert done.returncode == 0
    assert SHOWN in done.stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_there_is_a_completion_for_each_shell(shell: Shell, name: str) -> None:
    done = shell(f"traindx completion {name}")
    assert done.returncode == 0
    assert "diagnose" in done.stdout
    assert "fail-on" in done.stdout


@pytest.mark.parametrize("place", ["pyproject.toml", ".traindx/config.toml"])
def test_defaults_stand_in_a_file(shell: Shell, broken_run: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    table = "[tool.traindx.diagnose]\n" if place.startswith("py") else "[diagnose]\n"
    (tmp_path / place).write_text(table + 'format = "json"\nfail-on = "high"\n')
    done = shell('cd "$HERE" && traindx diagnose "$RUN"', HERE=tmp_path, RUN=broken_run)
    if done.returncode == 2:
        (tmp_path / place).write_text(table.replace(".diagnose", "").replace("[diagnose]\n", "") + 'fail-on = "high"\n')
        done = shell('cd "$HERE" && traindx diagnose "$RUN" --json', HERE=tmp_path, RUN=broken_run)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN


def test_the_schemas_are_printed(shell: Shell) -> None:
    for name in ("diagnosis", "context"):
        found = json.loads(shell(f"traindx schema {name}").stdout)
        assert "properties" in found


def test_the_documents_tell_of_exit_codes_and_platforms() -> None:
    assert "130" in (ROOT / "README.md").read_text()
    platforms = (ROOT / "docs" / "platforms.md").read_text()
    assert all(word in platforms for word in ("macOS", "Windows", "Landlock", "3.10", "3.14"))


# exceptions


def test_an_exception_shows_the_users_own_line_and_what_is_known_of_it(tmp_path: Path, shell: Shell) -> None:
    program = (
        "import json\n\n\ndef load(path):\n    rows = json.load(open(path))\n    return rows['trian']\n\n\nload('a')\n"
    )
    (tmp_path / "prepare.py").write_text(program)
    trace = (
        "Traceback (most recent call last):\n  File \"/home/me/prepare.py\", line 9, in <module>\n    load('a')\n"
        "  File \"/home/me/prepare.py\", line 6, in load\n    return rows['trian']\n           ~~~~^^^^^^^^^\n"
        "KeyError: 'trian'\n"
    )
    (tmp_path / "train.log").write_text(trace)
    report = shell('traindx diagnose "$RUN"', RUN=tmp_path).stdout
    assert "rows = json.load(open(path))" in report, "the code around the line"
    assert "prepare.py, line" in report
    assert "key" in plain(report).lower().replace("keyerror", "")
    assert "issue tracker" not in report


# layout


@pytest.mark.parametrize("width", [50, 72, 100])
def test_wrapped_quotes_keep_their_indent(tmp_path: Path, shell: Shell, width: int) -> None:
    rows = falling(120, nan_from=80).splitlines()
    words = " ".join(f"field_{number} 0.{number}" for number in range(12))
    (tmp_path / "train.log").write_text("".join(f"{row} {words}\n" for row in rows))
    report = shell(f'COLUMNS={width} traindx diagnose "$RUN"', RUN=tmp_path).stdout
    lines = report.splitlines()
    first = next(at for at, line in enumerate(lines) if line.lstrip().startswith("> step"))
    indent = len(lines[first]) - len(lines[first].lstrip())
    rest = []
    for line in lines[first + 1 :]:
        if "field_" not in line:
            break
        rest.append(len(line) - len(line.lstrip()))
    assert rest
    assert min(rest) > indent
    assert len(set(rest)) == 1


def test_markdown_says_each_thing_once(shell: Shell, broken_run: Path) -> None:
    report = shell('traindx diagnose "$RUN" --format markdown', RUN=broken_run).stdout
    text = re.sub(r"```.*?```", "", report, flags=re.DOTALL)
    sentences = [plain(one) for one in re.split(r"(?<=[.:])\s+|\n\n|\n- ", text)]
    long = [one for one in sentences if len(one) > 60]
    assert sorted(long) == sorted(set(long))


def test_a_piped_chat_shows_the_questions(shell: Shell, broken_run: Path) -> None:
    done = shell("printf 'when did it start?\\nbest val loss?\\n' | traindx chat \"$RUN\"", RUN=broken_run)
    assert "when did it start?" in done.stdout
    assert "best val loss?" in done.stdout


# the first line


def test_what_is_being_read_is_said_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "train.log").open("w") as file:
        for block in range(40):
            file.write(falling(8_000, 2.3 / (1 + block), first=block * 8_000))
    command = [sys.executable, "-m", "traindx", "diagnose", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")
    assert process.stderr is not None
    line = process.stderr.readline()
    running = process.poll() is None
    process.communicate(timeout=120)
    assert line == f"traindx: reading {tmp_path}\n"
    assert running


def test_health_and_causes_are_told_apart(tmp_path: Path, answer: Answer) -> None:
    (tmp_path / "train.log").write_text(falling(200))
    assert causes(answer(tmp_path)) == []
