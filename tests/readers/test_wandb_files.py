"""The binary file of Weights & Biases: history, configuration, the end of the run, and broken files."""

from __future__ import annotations

import io
import json
import math
import struct
import zlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers import trackers
from traindx.readers.trackers import Found

BLOCK = 32 << 10
HISTORY, CONFIG, CONSOLE, RUN, EXIT = 2, 5, 13, 17, 18


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _item(path: str, value: object) -> bytes:
    keys = b"".join(_bytes(2, key.encode()) for key in path.split("."))
    return _bytes(1, keys + _bytes(16, json.dumps(value).encode()))


def _history(step: int, **values: object) -> bytes:
    items = b"".join(_item(name.replace("__", "."), value) for name, value in values.items())
    return _bytes(HISTORY, items + _item("_step", step) + _item("_timestamp", 1e9 + step))


def _console(line: str) -> bytes:
    return _bytes(CONSOLE, _bytes(3, line.encode()))


def _exit(code: int) -> bytes:
    return _bytes(EXIT, _varint(1 << 3) + _varint(code) if code else b"")


def _file(*records: bytes) -> bytes:
    raw = bytearray(b":W&B" + struct.pack("<HB", 0xBEE1, 0))
    for record in records:
        left, first = record, True
        while left or first:
            room = BLOCK - len(raw) % BLOCK
            if room < 7:
                raw += b"\0" * room
                continue
            part, left = left[: room - 7], left[room - 7 :]
            kind = (1 if first else 4) if not left else (2 if first else 3)
            raw += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
    return bytes(raw)


def _read(raw: bytes) -> Found:
    kind = trackers.recognise("anything.bin", raw[: trackers.HEAD])
    assert kind == "wandb"
    return trackers.read(kind, io.BytesIO(raw), "run-1.wandb")


def test_history_by_step_with_nested_names() -> None:
    raw = _file(*(_history(step * 2, loss=1 / (step + 1), val__loss=2.0) for step in range(10)), _exit(0))
    found = _read(raw)
    loss, val = found.series
    assert [(series.original, series.name, series.axis, series.place) for series in (loss, val)] == [
        ("loss", "train/loss", "step", "record"),
        ("val/loss", "val/loss", "step", "record"),
    ]
    np.testing.assert_allclose(loss.values, 1 / (np.arange(10) + 1))
    assert loss.at.tolist() == list(range(0, 20, 2))
    assert loss.lines.tolist() == list(range(1, 11))
    assert loss.walls is not None
    assert loss.walls[3] == 1e9 + 6
    assert found.remarks == []
    assert trackers.quote("wandb", io.BytesIO(raw), 3).startswith("loss 0.333333333, val/loss 2, _step 4")


def test_values_that_are_not_finite() -> None:
    found = _read(_file(_history(0, loss=math.nan), _history(1, loss="Infinity"), _history(2, loss="high"), _exit(0)))
    np.testing.assert_array_equal(found.series[0].values, [math.nan, math.inf])


def test_pictures_tables_and_lists_are_no_series() -> None:
    histogram = {"_type": "histogram", "values": [1, 2], "bins": [0, 1, 2]}
    nested = _bytes(HISTORY, _item("h._type", "histogram") + _item("h.count", 3) + _item("loss", 1.0))
    found = _read(_file(_history(0, picture=histogram, sizes=[1, 2], loss=2.0), nested, _exit(0)))
    assert [(series.original, len(series)) for series in found.series] == [("loss", 2)]
    assert found.remarks == ["not read: 2 histograms"]


def test_configuration_and_its_updates() -> None:
    start = _bytes(4, _item("lr", 3e-4) + _item("model", {"layers": 2}) + _item("_wandb", {"cli": 1}))
    git = _bytes(21, _bytes(2, b"c0ffee"))
    found = _read(_file(_bytes(RUN, start + git), _bytes(CONFIG, _item("lr", 1e-4)), _exit(0)))
    assert {setting.key: (setting.value, setting.line) for setting in found.settings} == {
        "lr": (1e-4, 2),
        "model.layers": (2, 1),
        "git.commit": ("c0ffee", 1),
    }


def test_a_failed_run_says_its_code_and_its_last_error() -> None:
    lines = ["Traceback (most recent call last):\n", "RuntimeError: CUDA out of memory\n", "wandb: bye\n"]
    found = _read(_file(*map(_console, lines), _exit(1)))
    assert found.remarks == [
        "the run ended with exit code 1",
        "its console ends with `RuntimeError: CUDA out of memory`",
    ]


def test_a_run_that_was_killed_has_no_exit() -> None:
    assert _read(_file(_history(0, loss=1.0))).remarks == [
        "it has no exit record: the run was killed or is still running"
    ]


def test_records_over_several_blocks() -> None:
    rows = [_history(step, loss=float(step), note="x" * (step * 900)) for step in range(120)]
    found = _read(_file(*rows, _exit(0)))
    assert found.series[0].values.tolist() == list(range(120))
    assert found.remarks == []


def test_a_cut_tail_leaves_the_rest() -> None:
    found = _read(_file(*(_history(step, loss=float(step)) for step in range(1000)))[:-3])
    assert found.series[0].values.tolist() == list(range(999))
    assert found.remarks[0] == "it is truncated in record 1,000; the records before it were read"


def test_a_damaged_block_costs_that_block_only() -> None:
    raw = bytearray(_file(*(_history(step, loss=float(step)) for step in range(2000)), _exit(0)))
    raw[BLOCK + 20_000] ^= 0xFF
    found = _read(bytes(raw))
    values = found.series[0].values
    assert 1500 < len(values) < 2000
    assert (values[0], values[-1]) == (0, 1999)
    assert found.remarks[0] == "1 of its blocks are damaged; their content was left out"


@settings(max_examples=examples(150))
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=12), st.integers(0, 2000))
def test_no_damage_raises(damage: list[tuple[int, int]], cut: int) -> None:
    raw = bytearray(_file(*(_history(step, loss=1.0) for step in range(40)), _exit(0)))
    for place, byte in damage:
        raw[place % len(raw)] = byte
    trackers.read("wandb", io.BytesIO(bytes(raw[: len(raw) - cut])), "run.wandb")


@settings(max_examples=examples(150))
@given(st.lists(st.binary(max_size=60), max_size=10), st.sampled_from([HISTORY, CONFIG, CONSOLE, RUN, EXIT]))
def test_no_record_raises(records: list[bytes], number: int) -> None:
    trackers.read("wandb", io.BytesIO(_file(*records, *(_bytes(number, data) for data in records))), "run.wandb")
