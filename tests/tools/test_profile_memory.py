"""Memory: every generation of out-of-memory messages, tables in logs, snapshots, growth with its error."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.tools.calling import call, load
from tests.tools.signal_case import losses
from traindx.readers import Run, Scope
from traindx.readers.logs.memory_text import GIB, read_out_of_memory, read_usage

OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 15.78 GiB total capacity; 14.20 GiB already"
    " allocated; 12.75 MiB free; 14.30 GiB reserved in total by PyTorch)"
)
OLDEST = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.50 GiB already"
    " allocated; 5.06 MiB free; 700.00 MiB cached)"
)
NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of"
    " which 1.06 GiB is free. {others}Including non-PyTorch memory, this process has {own} GiB memory in use. Of the"
    " allocated memory {allocated} GiB is allocated by PyTorch, and {unused} GiB is reserved by PyTorch but"
    " unallocated."
    " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True."
)
FRAMES = 'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    main()\n'
PLAIN = NEW.format(others="", own="78.07", allocated="76.90", unused="0.65")
SCATTERED = NEW.format(others="", own="78.07", allocated="55.00", unused="22.50")
SHARED = NEW.format(others="Process 4711 has 40.10 GiB memory in use. ", own="37.90", allocated="36.10", unused="1.20")
EVALUATES = "import torch\n\n\ndef train():\n    pass\n\n\ndef evaluate(model, loader):\n    return model(loader)\n"


def profiled(folder: Path, **files: str) -> Any:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return call(load("profile_memory"), Run(Scope.of(folder)))


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        (OLD, {"tried": 1.5, "total": 15.78, "allocated": 14.2, "pool": 14.3, "unused": 0.1}),
        (OLDEST, {"tried": 20 / 1024, "total": 7.93, "allocated": 6.5, "pool": 700 / 1024}),
        (PLAIN, {"tried": 2.0, "total": 79.15, "free": 1.06, "allocated": 76.9, "unused": 0.65, "in_use": 78.07}),
        ("MPS backend out of memory (MPS allocated: 18.00 GB, other allocations: 1 KB, max allowed: 18.13 GB). Tried to"
         " allocate 1 GB on private pool.", {"total": 18.13e9 / GIB, "allocated": 18e9 / GIB, "tried": 1e9 / GIB}),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.", {"tried": 16.0}),
        ("Limit:            10737418240\nInUse:  9663676416\n", {"total": 10.0}),
        ("CUDA out of memory.", {}),
        ("CUDA out of memory. Tried to allocate ....1.. GiB", {}),
    ],
)  # fmt: skip
def test_amounts_are_read_from_every_message(text: str, amounts: dict[str, float]) -> None:
    told = read_out_of_memory(text)
    for name, size in amounts.items():
        assert (told.of(name) or 0) / GIB == pytest.approx(size, abs=0.01), name
    assert bool(told.amounts) == bool(amounts)


@pytest.mark.parametrize(
    ("message", "before", "held", "first"),
    [
        (PLAIN, 0, "too large for the device", "Halve the batch size"),
        (PLAIN, 12, "a larger batch or a longer sequence", "cap the length"),
        (OLD, 0, "14.2 GiB of 15.8 GiB", "Halve"),
        (SCATTERED, 0, "fragmentation", "expandable_segments"),
        (SHARED, 0, "process 4711 (40.1 GiB)", "Free the device first"),
        ("RuntimeError: CUDA out of memory.", 0, "this run's own", "Halve"),
    ],
)
def test_what_held_the_memory_and_what_to_change_first(
    tmp_path: Path, message: str, before: int, held: str, first: str
) -> None:
    lines = losses(before) if before else ["loading"]
    output = profiled(tmp_path, train__log="\n".join(lines) + f"\n{FRAMES}{message}\n")
    assert held in output.out_of_memory
    assert first in output.change_first
    assert [signal.id for signal in output.signals] == ["memory-held-by"]


def test_evaluation_is_named(tmp_path: Path) -> None:
    frames = FRAMES + '  File "train.py", line 9, in evaluate\n    return model(loader)\n'
    output = profiled(tmp_path, train__py=EVALUATES, train__log="\n".join(losses(9)) + f"\n{frames}{PLAIN}\n")
    assert "`evaluate`" in output.out_of_memory
    assert "inference_mode" in output.change_first


def test_growth_explains_the_end(tmp_path: Path) -> None:
    rows = "\n".join(f"step {n} loss {2 - n / 100:.3f} mem_gb {4 + n / 10:.2f}" for n in range(1, 60))
    output = profiled(tmp_path, train__log=f"{rows}\n{FRAMES}{PLAIN}\n")
    assert {signal.id for signal in output.signals} == {"memory-grows", "memory-held-by"}
    assert "kept from step to step" in output.change_first
    assert "grows" in output.courses[0].growth


def smi(used: int) -> list[str]:
    return [
        "|   0  NVIDIA A100-SXM4-80GB          On | 00000000:00:04.0 Off |                    0 |",
        f"| N/A   34C    P0              60W / 400W |  {used}MiB / 81920MiB |     97%      Default |",
    ]


def test_tables_of_nvidia_smi_are_a_series(tmp_path: Path) -> None:
    text = "\n".join(line for n in range(12) for line in (f"epoch {n} loss {2 - n / 10}", *smi(20_000 + 900 * n)))
    output = profiled(tmp_path, train__log=text + "\n")
    course = next(row for row in output.courses if "GPU 0" in row.series)
    assert (course.start, course.end, course.unit) == (20_000, 29_900, "MiB")
    assert "memory-grows" in {signal.id for signal in output.signals}
    steady = "\n".join(line for _ in range(12) for line in smi(20_000))
    assert {signal.id for signal in profiled(tmp_path, train__log=steady + "\n").signals} == {"memory-steady"}


def test_queries_monitors_and_summaries_are_read() -> None:
    lines = [
        "2026/01/01 10:00:00.000, 0, 98 %, 14523 MiB, 16160 MiB",
        "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk     fb",
        "    1     43     35      -      0      0      0      0    877   1380   1021",
        "| Allocated memory      |   14.5 GiB |   15.2 GiB |  402.1 GiB |  387.6 GiB |",
        "the memory of the model | is | fine",
        "    x     43",
    ]
    found = [(row.what, row.used >> 20) for row in read_usage(enumerate(lines, 1))]
    assert found == [("GPU 0", 14523), ("GPU 1", 1021), ("allocated memory", 14848)]


class Command:
    """What a hostile snapshot holds."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        import os

        return os.system, ("touch MARKER",)


def test_a_snapshot_says_which_line_holds_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frames = [
        {"filename": "/usr/lib/python3/site-packages/torch/nn/linear.py", "line": 3, "name": "forward"},
        {"filename": "/home/me/train.py", "line": 41, "name": "step"},
    ]
    block = {"size": 3 << 30, "state": "active_allocated", "frames": frames}
    idle = {"size": 1 << 30, "state": "inactive", "frames": frames}
    segment = {"total_size": 4 << 30, "allocated_size": 3 << 30, "blocks": [block, idle]}
    held = {"segments": [segment], "device_traces": [[]], "extra": Command()}
    (tmp_path / "memory_snapshot.pickle").write_bytes(pickle.dumps(held))
    (snapshot,) = profiled(tmp_path).snapshots
    assert (snapshot.reserved, snapshot.allocated) == ("4 GiB", "3 GiB")
    assert snapshot.largest == {"/home/me/train.py:41": "3 GiB"}
    assert not (tmp_path / "MARKER").exists()
