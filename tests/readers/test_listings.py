"""A log that shows its own program: each part is read as what it is, at the lines of the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from traindx.readers import Run, Scope
from traindx.readers.folder.listings import _signs_in, find_listings
from traindx.readers.logs.textlog import records_in
from traindx.readers.native.library import library


def records(last: int) -> str:
    """Lines of a run that learns."""
    return "".join(f"step {at} loss {5 - 0.05 * at:.3f}\n" for at in range(last))


PROGRAM = '''"""Train a small thing."""
import torch
from torch import nn

LR = 0.01

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

# step 10 loss 2.0
def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9)
    for step in range(100):
        loss = 0.5 * net.layer(torch.ones(4)).sum()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss:.4f} RuntimeError: none")
        if loss > 1e3:
            raise RuntimeError("CUDA out of memory")

main()
'''
RULE = "=" * 80 + "\n"
LINES = PROGRAM.count("\n")


def _run(folder: Path, text: str, name: str = "a1b2c3.txt") -> Run:
    (folder / name).write_text(text)
    return Run(Scope.of(folder))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (PROGRAM + RULE + records(30), LINES + 2),
        (RULE + PROGRAM + RULE + records(30), LINES + 3),
        (records(30) + RULE + PROGRAM, 1),
        ("device: cuda\n" + PROGRAM + records(30), LINES + 2),
        (
            PROGRAM + RULE + "# kernels.py\n" + RULE + PROGRAM.replace("main", "other") + RULE + records(30),
            2 * LINES + 5,
        ),
        (PROGRAM.replace("\n", "\r\n") + records(30), LINES + 1),
    ],
    ids=["before", "under a rule", "behind", "after a line", "two files", "windows"],
)
def test_the_log_around_a_program_is_read_at_its_own_lines(tmp_path: Path, text: str, first: int) -> None:
    run = _run(tmp_path, text)
    (file,) = run.files
    assert file.role == "log"
    (loss,) = [row for row in run.series if row.name == "train/loss"]
    assert len(loss) == 30
    assert int(loss.lines[0]) == first
    assert run.lines(file.path, first, first)[0].startswith("step 0 loss")
    assert run.errors == []


def test_the_program_is_code_of_the_run(tmp_path: Path) -> None:
    run = _run(tmp_path, "host: a\n" + RULE + PROGRAM + RULE + records(30))
    (unit,) = run.code
    assert "entry-point" in unit.roles
    assert unit.reached
    (rate,) = [row for row in run.settings if row.key == "LR"]
    assert run.lines(rate.source, rate.line, rate.line) == ["LR = 0.01"]
    assert rate.coded


def test_a_program_that_the_folder_holds_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    run = _run(tmp_path, PROGRAM + RULE + records(30))
    assert [unit.path for unit in run.code] == ["train.py"]


def test_a_program_alone_stays_code(tmp_path: Path) -> None:
    (file,) = _run(tmp_path, PROGRAM * 20).files
    assert file.role == "code"


@pytest.mark.parametrize(
    "text",
    [
        "import error: no module named foo\nfrom here import nothing works\ndef main() failed\n" * 5,
        records(50),
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import torch\nImportError: no\n',
        "class weights: 0.5\nfrom epoch 3 on\n" + records(40),
    ],
)
def test_words_of_a_log_are_no_program(text: str) -> None:
    assert find_listings(io.BytesIO(text.encode())) == []


def test_records_that_python_could_read_end_the_program() -> None:
    (listing,) = find_listings(io.BytesIO((PROGRAM + "epoch: 1\nloss: 0.5\nepoch: 2\nloss: 0.4\n").encode()))
    assert listing.last == LINES


def test_a_statement_of_a_newer_python_does_not_end_a_program() -> None:
    newer = PROGRAM.replace("net = Net()", "net = Net()\n    print(f'{net.get('name')}')")
    (listing,) = find_listings(io.BytesIO((newer + RULE + records(5)).encode()))
    assert listing.first == 1
    assert listing.last >= LINES


def test_a_format_is_no_value() -> None:
    assert records_in('    print(f"step {step} loss {loss:.4f}")\n' * 3) == 0
    assert records_in('{"step": 3, "loss": 0.5}\n' * 3) == 3


@pytest.mark.parametrize("sign", ["import torch\n", "async def run():\n", "if __name__ == '__main__':\n", "def a(\n"])
def test_a_program_is_seen_in_a_large_log(sign: str) -> None:
    around = records(30_000).encode()
    program = b"import os\n\n\ndef f():\n    a = 1\n    b = 2\n    return a + b\n\n\n" + b"class A:\n    x = 1\n"
    (found,) = find_listings(io.BytesIO(around + program + around))
    assert (found.first, found.last) == (30_001, 30_011)
    assert find_listings(io.BytesIO(around + b"from here on\nclassy\n" + around)) == []
    assert _signs_in(around + sign.encode() + around) == [len(around)]


def test_the_compiled_search_finds_what_a_plain_one_finds() -> None:
    code = library()
    if code is None:
        pytest.skip("no C compiler when this was installed")
    allowed = np.zeros((2, 256), dtype=np.bool_)
    allowed[0, ord("a")] = allowed[1, [ord("b"), ord("\n")]] = True
    for seed in range(200):
        letters = np.random.default_rng(seed).choice(np.frombuffer(b"\nabc", dtype=np.uint8), seed % 40)
        text = bytes(letters)
        plain = [
            at + 1 for at in range(len(text)) if text[at : at + 1] == b"\n" and text[at + 1 : at + 3] in {b"ab", b"a\n"}
        ]
        assert code.line_like(letters, allowed) == (plain[0] if plain else -1)
