"""Errors and warnings in logs: real ones with their place and frames, and nothing that merely sounds like one."""

from __future__ import annotations

import io

import pytest

from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.unusual import UnusualLines
from traindx.readers.model import LogError
from traindx.readers.native.library import library

_TRACEBACK = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 14, in <module>
    main()
    ^^^^^^
  File "/home/u/model.py", line 7, in main
    raise ValueError("bad")
ValueError: bad
"""


def _read(text: str) -> list[LogError]:
    return read_errors(io.BytesIO(text.encode()), "train.log")


def test_a_traceback_is_its_last_line_with_the_frames() -> None:
    (found,) = _read("epoch 1 loss 2.0\n" + _TRACEBACK)
    assert (found.line, found.text, found.kind) == (8, "ValueError: bad", "error")
    assert found.frames == (("/home/u/train.py", 14), ("/home/u/model.py", 7))


@pytest.mark.parametrize("prefix", ["[rank1]: ", "2026-01-02 03:04:05,678 ERROR ", "(Worker pid=12, ip=10.0.0.1) "])
def test_tracebacks_behind_prefixes(prefix: str) -> None:
    (found,) = _read("".join(prefix + line + "\n" for line in _TRACEBACK.splitlines()))
    assert (found.line, found.text, len(found.frames)) == (7, f"{prefix}ValueError: bad", 2)


@pytest.mark.parametrize("mark", ["{}: ", "{:2d}: ", "[{}]: "])
def test_a_label_before_every_line_hides_no_traceback(mark: str) -> None:
    said = [f"{mark.format(rank)}step {step} loss 0.5\n" for step in range(40) for rank in (0, 2, 1)]
    fall = [mark.format(2) + line + "\n" for line in _TRACEBACK.splitlines()]
    others = [line for line in said if not line.startswith(mark.format(2))]
    mixed = [line for pair in zip(fall, others, strict=False) for line in pair]
    (found,) = _read("".join([*said, *mixed, *said]))
    assert found.text == f"{mark.format(2)}ValueError: bad".strip()
    assert found.frames == (("/home/u/train.py", 14), ("/home/u/model.py", 7))


@pytest.mark.parametrize("rule", [20, 90])
def test_a_traceback_in_a_box(rule: int) -> None:
    box = (
        "╭" + "─" * rule + " Traceback (most recent call last) " + "─" * rule + "╮\n"
        "│ /home/u/train.py:14 in main                          │\n"
        "│                                                      │\n"
        "│   13 │   for batch in loader:                        │\n"
        "│ ❱ 14 │   │   loss = step(batch)                      │\n"
        "│ /home/u/model.py:7 in step                           │\n"
        '│ ❱  7 │   raise ValueError("bad")                    │\n'
        "╰──────────────────────────────────────────────────────╯\n"
        "ValueError: bad\n"
    )
    (found,) = _read("epoch 1 loss 2.0\n" + box + "epoch 2 loss 1.0\n")
    assert (found.line, found.text, found.code) == (10, "ValueError: bad", 'raise ValueError("bad")')
    assert found.frames == (("/home/u/train.py", 14), ("/home/u/model.py", 7))


@pytest.mark.parametrize("before", ["", "10it [00:07,  1.39it/s]"])
def test_what_a_logger_stumbles_over_is_ignored(before: str) -> None:
    (found,) = _read(f"{before}--- Logging error ---\n{_TRACEBACK}")
    assert found.ignored


def test_the_line_that_raised_is_kept() -> None:
    (found,) = _read(_TRACEBACK)
    assert found.code == 'raise ValueError("bad")'
    (bare,) = _read('Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: bad\n')
    assert bare.code == ""


def test_a_traceback_that_never_ends_is_given_up() -> None:
    begun = '[rank3]: Traceback (most recent call last):\n[rank3]:   File "a.py", line 1, in f\n'
    others = "".join(f"[rank0]: step {n} loss 0.5\n" for n in range(150_000))
    late = "[rank3]: ValueError: of something else\n"
    (found,) = _read(begun + others + late)
    assert (found.text, found.frames) == ("[rank3]: ValueError: of something else", ())


def test_ranks_that_interleave_keep_their_own_frames() -> None:
    lines = _TRACEBACK.splitlines()
    other = [line.replace("14", "99").replace("bad", "worse") for line in lines]
    log = "".join(f"[rank0]: {a}\n[rank1]: {b}\n" for a, b in zip(lines, other, strict=True))
    first, second = _read(log)
    assert (first.frames[0][1], second.frames[0][1]) == (14, 99)


def test_the_first_of_a_chain_comes_first() -> None:
    chain = _TRACEBACK + "\nThe above exception was the direct cause of the following exception:\n\n"
    found = _read(chain + _TRACEBACK.replace("ValueError: bad", "RuntimeError: later"))
    assert [log_error.text for log_error in found] == ["ValueError: bad", "RuntimeError: later"]


def test_an_exception_with_no_message_and_a_custom_name() -> None:
    assert [found.text for found in _read(_TRACEBACK.replace("ValueError: bad", "mypkg.Stop"))] == ["mypkg.Stop"]


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "slurmstepd: error: Detected 1 oom-kill event(s) in step 1.batch",
        "Killed",
        "RuntimeError: CUDA error: device-side assert triggered",
        "2026-01-02 03:04:05,678 - ERROR - cannot reach the data server",
        "[CRITICAL] disk quota exceeded",
        "Segmentation fault (core dumped)",
    ],
)
def test_lines_that_end_a_run(line: str) -> None:
    (found,) = _read(f"epoch 1 loss 2.0\n{line}\n")
    assert (found.line, found.text, found.kind) == (2, line, "error")


@pytest.mark.parametrize(
    "line",
    [
        "epoch 3 val_error: 0.1 error rate 0.25",
        "the error went down, no exception was raised",
        'prompt: "RuntimeError: CUDA out of memory"',
        "'Traceback' is a word",
        "> ValueError: quoted from a forum",
        "error_weight: 0.5",
        "loaded Warning_signs dataset",
    ],
)
def test_words_that_are_no_errors(line: str) -> None:
    assert _read(f"{line}\n") == []


def test_generated_samples_are_no_errors() -> None:
    sample = (
        "--- sample at step 500 ---\nslurmstepd: error: Detected 1 oom-kill event(s)\n"
        + _TRACEBACK
        + "--- end of sample ---\n"
    )
    assert _read(f"step 500 loss 2.0\n{sample}step 550 loss 1.9\n") == []
    (found,) = _read(f"{sample}step 550 loss 1.9\nValueError: real\n")
    assert found.text == "ValueError: real"


def test_warnings_are_counted_not_repeated() -> None:
    log = "".join(f"[WARNING] step {n}: gradients overflow, scale {2**n}\n" for n in range(1, 9))
    (found,) = _read(log)
    assert (found.kind, found.line, found.count) == ("warning", 1, 8)


def test_a_python_warning() -> None:
    (found,) = _read(
        "/x/lr_scheduler.py:216: UserWarning: `lr_scheduler.step()` before `optimizer.step()`\n  warnings.warn(\n"
    )
    assert (found.kind, found.line) == ("warning", 1)


def test_a_chain_is_marked() -> None:
    chain = _TRACEBACK + "\nDuring handling of the above exception, another exception occurred:\n\n"
    found = _read(chain + _TRACEBACK.replace("ValueError: bad", "RuntimeError: later"))
    assert [(row.text, row.follows) for row in found] == [("ValueError: bad", 0), ("RuntimeError: later", 7)]


def test_the_last_place_of_an_error_that_comes_again() -> None:
    (found,) = _read(_TRACEBACK + "epoch 2 loss 1.0\n" + _TRACEBACK)
    assert (found.line, found.last_line, found.count) == (7, 15, 2)


def test_the_summary_of_a_launcher_names_the_rank_that_failed_first() -> None:
    rows = [
        "[0]:",
        "  time      : 2025-03-01_01:44:02",
        "  rank      : 3 (local_rank: 1)",
        "  exitcode  : -11 (pid: 8)",
    ]
    (found,) = _read("\n".join(["Root Cause (first observed failure):", *rows, "====", "rank : 5", ""]))
    assert (found.text, found.rank, found.line) == ("exitcode  : -11 (pid: 8)", 3, 5)


def test_the_rank_that_a_line_names() -> None:
    (found,) = _read("[rank5]: ValueError: bad\n")
    assert found.rank == 5


def test_large_logs_give_the_same_with_compiled_code_and_without() -> None:
    step = "[rank{rank}]: step {n} loss 0.{n} val_error: 0.25\n"
    odd = {
        400: "[WARNING] step 400: gradients overflow, scale 1024\n",
        900: "Resuming training from checkpoint at step 900\n",
        20_000: "".join(f"[rank3]: {line}\n" for line in _TRACEBACK.splitlines()),
        41_000: "[WARNING] step 41000: gradients overflow, scale 2\n",
        41_001: "Resuming training from checkpoint at step 41001\n",
        59_999: "RuntimeError: NCCL error: the last one\n",
    }
    text = "".join(odd.get(n, step.format(rank=n % 8, n=n)) for n in range(60_000)).encode()
    told: list[tuple[list[LogError], list[int]]] = []
    for compiled in (True, False):
        resumed: list[int] = []
        told.append((read_errors(io.BytesIO(text), "train.log", None, resumed.append, compiled=compiled), resumed))
    assert told[0] == told[1]
    assert [row.kind for row in told[0][0]] == ["warning", "error", "error"]
    assert len(told[0][1]) == 2


def test_lines_that_are_usual_are_given_once() -> None:
    block = "".join(f"step {n:05d} loss 0.5\n" for n in range(6_000)).encode()
    unusual = UnusualLines()
    assert {line for _, line in unusual.of(block)} == {b"step  loss .", b""} - ({b""} if library() else set())
    unusual.call_usual([True] * 6_000)
    rest = unusual.of(block + b"step 12345 loss nan\n")
    assert rest == [(6_000, b"step  loss nan")] if library() else len(rest) == 6_002
