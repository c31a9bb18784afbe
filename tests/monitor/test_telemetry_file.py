"""The file of a monitor: whole lines whatever happens, bounded, and never a reason to stop training."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.monitor.trainings import measured, mlp, rows
from traindx.monitor import Monitor
from traindx.monitor.reporting import Reporter
from traindx.monitor.telemetry_file import TelemetryFile, row_text

LOOP = """
import sys, time, torch
from traindx.monitor import Monitor
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
with Monitor(model, optimizer, folder=sys.argv[1]) as monitor:
    for step in range(1, 100_000):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step(); monitor.step(loss)
        print(step, time.time(), flush=True)
        time.sleep(0.01)
"""


def test_what_json_has_no_number_for_is_still_json() -> None:
    line = row_text({"a": float("nan"), "b": float("-inf"), "c": 1 / 3, "d": True, "e": None, "f": 1795119064.4821})
    read = json.loads(line, parse_constant=pytest.fail)
    assert read == {"a": "NaN", "b": "-Infinity", "c": 0.333333, "d": True, "e": None, "f": 1795119064.482}


def test_the_file_stays_below_its_size_and_keeps_events_the_newest_and_some_of_the_oldest(tmp_path: Path) -> None:
    path, most = tmp_path / "telemetry.jsonl", 20_000
    file = TelemetryFile(path, Reporter(), most)
    for step in range(1, 5_001):
        file.write({"step": step, "event": "seen"} if step == 70 else {"step": step, "loss": 1 / step})
        if step % 500 == 0:
            file.write({"step": step, "val_loss": 2 / step})
        assert path.stat().st_size <= most
    file.close()
    told = rows(tmp_path, path.name)
    steps = [row["step"] for row in told]
    assert steps == sorted(steps)
    assert steps[-40:] == [*range(4_962, 5_001), 5_000]
    assert {"step": 70, "event": "seen"} in told
    # Of the first half of the run there is as much as of any other part of it, and of every kind of row.
    assert len([step for step in steps if step < 2_500]) > 60
    assert len([row for row in told if "val_loss" in row]) >= 8
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_a_killed_run_leaves_every_row_up_to_its_last_second(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", LOOP, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = [process.stdout.readline().split() for _ in range(150)]
    process.send_signal(signal.SIGKILL)
    printed += [line.split() for line in process.stdout.read().splitlines() if len(line.split()) == 2]
    process.wait()
    process.stdout.close()
    told = rows(tmp_path)
    last_step, last_time = int(printed[-1][0]), float(printed[-1][1])
    assert told[-1]["step"] <= last_step + 1
    assert last_time - told[-1]["timestamp"] <= 1.0


def test_a_run_that_is_taken_up_again_goes_on_in_the_same_file_after_half_a_line(tmp_path: Path) -> None:
    (tmp_path / "traindx-monitor.jsonl").write_bytes(b'{"step":1,"loss":2}\n{"step":2,"lo')
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path) as monitor:
        monitor.step(one.step(0))
    lines = (tmp_path / "traindx-monitor.jsonl").read_text().splitlines()
    assert lines[:2] == ['{"step":1,"loss":2}', '{"step":2,"lo']
    assert all(json.loads(line) for line in lines[2:])


def test_a_second_monitor_of_the_same_folder_writes_to_a_file_of_its_own(tmp_path: Path) -> None:
    one, other = mlp(), mlp()
    with Monitor(one.model, folder=tmp_path) as first, Monitor(other.model, folder=tmp_path) as second:
        assert first.path != second.path
    with Monitor(one.model, folder=tmp_path) as third:
        assert third.path == first.path


@pytest.mark.parametrize("obstacle", ["full", "folder", "file"])
def test_a_file_that_cannot_be_written_is_told_of_once_and_training_goes_on(
    obstacle: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "runs"
    if obstacle == "file":
        folder.write_text("in the way")
    else:
        folder.mkdir()
        target = folder / "traindx-monitor.jsonl"
        target.symlink_to("/dev/full") if obstacle == "full" else target.mkdir()
    one = mlp()
    with caplog.at_level(logging.WARNING), Monitor(one.model, one.optimizer, folder=folder, every=1) as monitor:
        for number in range(40):
            loss = one.step(number)
            monitor.step(loss)
    assert loss.isfinite()
    assert len(caplog.records) == 1
    assert "traindx-monitor.jsonl" in caplog.text


def test_a_file_that_was_closed_from_outside_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = mlp()
    monitor = Monitor(one.model, one.optimizer, folder=tmp_path, every=1)
    monitor.step(one.step(0))
    held = monitor._file._handle
    assert held is not None
    os.close(held)
    for number in range(30):
        monitor.step(one.step(number))
    monitor.close()
    monitor.close()
    monitor.step(1.0)
    assert len(caplog.records) == 1


@pytest.mark.slow
def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys, torch\nfrom traindx.monitor import Monitor\nmodel = torch.nn.Linear(2, 1)\n"
        "monitor = Monitor(model, folder=sys.argv[1], every=1)\nmonitor.step(1.0)\n"
        "child = os.fork()\nmonitor.step(2.0 if child else 3.0)\n"
        "os._exit(0) if not child else os.waitpid(child, 0)\nmonitor.close()\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], check=True, timeout=120)
    assert measured(tmp_path, "loss") == [1.0, 2.0]


def test_a_row_is_there_before_the_next_step_begins(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        for number in range(3):
            monitor.step(one.step(number))
            assert rows(tmp_path)[-1]["step"] == number + 1
    assert time.time() - rows(tmp_path)[-1]["timestamp"] < 3600
