"""TensorBoard event files: every style of scalar, and every way in which a file may be broken."""

from __future__ import annotations

import io
import math
import random
import struct
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers import trackers
from traindx.readers.model import Series
from traindx.readers.trackers import Found, points, tensorboard, tfrecord

FLOAT, DOUBLE, INT32, STRING, INT64, BRAIN, HALF = 1, 2, 3, 7, 9, 14, 19


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _crc(length)) + data + struct.pack("<I", _crc(data))


def _event(step: int, *values: bytes, time: float = 1e9) -> bytes:
    at = _number(2, step) if step else b""
    return b"\x09" + struct.pack("<d", time + step) + at + _bytes(5, b"".join(_bytes(1, value) for value in values))


def _old(tag: str, value: float) -> bytes:
    return _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def _metadata(plugin: str, content: bytes = b"") -> bytes:
    return _bytes(9, _bytes(1, _bytes(1, plugin.encode()) + (_bytes(2, content) if content else b"")))


def _new(tag: str, dtype: int, data: bytes, plugin: str = "scalars") -> bytes:
    return _bytes(1, tag.encode()) + _bytes(8, _number(1, dtype) + _bytes(2, b"") + data) + _metadata(plugin)


VERSION = b"\x09" + struct.pack("<d", 1e9) + _bytes(3, b"brain.Event:2")


def _file(events: Iterable[bytes]) -> bytes:
    return b"".join(map(_record, [VERSION, *events]))


def _read(raw: bytes) -> Found:
    kind = trackers.recognise("events.out.tfevents.1.host", raw[: trackers.HEAD])
    assert kind == "tensorboard"
    return trackers.read(kind, io.BytesIO(raw), "events")


def _series(raw: bytes) -> dict[str, Series]:
    return {series.original: series for series in _read(raw).series}


def test_old_and_new_style_give_the_same_series() -> None:
    steps = range(400)
    raw = _file(
        _event(step, _old("loss/train", 1 / (step + 1)), _new("loss/val", DOUBLE, _bytes(4, struct.pack("<d", step))))
        for step in steps
    )
    found = _series(raw)
    train, val = found["loss/train"], found["loss/val"]
    assert (train.name, val.name, train.axis, train.source) == ("train/loss", "val/loss", "step", "events")
    np.testing.assert_array_equal(train.values, (1 / (np.arange(400) + 1)).astype(np.float32))
    np.testing.assert_array_equal(val.values, np.arange(400))
    np.testing.assert_array_equal(val.at, np.arange(400))
    assert train.lines.tolist() == list(range(2, 402))


@pytest.mark.parametrize(
    ("dtype", "data", "value"),
    [
        (FLOAT, _bytes(4, struct.pack("<f", 1.5)), 1.5),
        (FLOAT, _bytes(5, struct.pack("<f", 1.5)), 1.5),
        (FLOAT, b"\x2d" + struct.pack("<f", 1.5), 1.5),
        (FLOAT, b"", 0.0),
        (DOUBLE, _bytes(6, struct.pack("<d", -2.25)), -2.25),
        (DOUBLE, b"\x31" + struct.pack("<d", math.inf), math.inf),
        (HALF, _bytes(4, struct.pack("<e", 0.5)), 0.5),
        (HALF, _bytes(13, _varint(0x3800)), 0.5),
        (BRAIN, _bytes(4, b"\x80\x3f"), 1.0),
        (BRAIN, _bytes(13, _varint(0xBF80)), -1.0),
        (INT32, _bytes(7, _varint(-7)), -7),
        (INT32, _number(7, 300), 300),
        (INT64, _bytes(10, _varint(1 << 40)), 1 << 40),
        (INT64, _bytes(4, struct.pack("<q", -(1 << 40))), -(1 << 40)),
    ],
)
@pytest.mark.parametrize("count", [1, 50])
def test_every_number_type(dtype: int, data: bytes, value: float, count: int) -> None:
    found = _series(_file(_event(step, _new("m", dtype, data)) for step in range(count)))
    assert found["m"].values.tolist() == [value] * count
    assert found["m"].at.tolist() == list(range(count))


def test_values_that_are_not_finite() -> None:
    found = _series(_file(_event(step, _old("loss", math.nan if step % 2 else -math.inf)) for step in range(20)))
    np.testing.assert_array_equal(found["loss"].values, [-math.inf, math.nan] * 10)


def test_metadata_may_stand_in_the_first_event_only() -> None:
    bare = _bytes(1, b"curve") + _bytes(8, _number(1, FLOAT) + _bytes(4, struct.pack("<f", 1.0)))
    raw = _file([_event(0, _new("curve", FLOAT, _bytes(4, b"\0" * 8), "pr_curves")), *[_event(1, bare)] * 20])
    assert "curve" not in _series(raw)
    assert _series(_file([_event(1, bare)] * 20))["curve"].values.tolist() == [1.0] * 20


def test_negative_and_large_steps_and_steps_that_go_back() -> None:
    steps = [-1, 5, 1 << 40, 3, 127, 128, 16384, 0, 2]
    found = _series(_file(_event(step, _old("loss", 1.0)) for step in steps))
    assert found["loss"].at.tolist() == steps


@pytest.mark.slow
def test_many_tags_of_one_length_keep_their_own_values() -> None:
    random.seed(1)
    events, expected = [], dict[str, list[float]]()
    for step in range(300):
        for layer in random.sample(range(100), 20):
            value = float(np.float32(random.random()))
            events.append(_event(step, _old(f"layer{layer:02}/norm", value)))
            expected.setdefault(f"layer{layer:02}/norm", []).append(value)
    assert {tag: series.values.tolist() for tag, series in _series(_file(events)).items()} == expected


def test_layouts_mixed_within_one_length() -> None:
    """A step of two bytes with a short tag is as long as a step of one byte with a longer one."""
    events, expected = [], dict[str, list[float]]()
    for step in range(100, 160):
        for tag in ("abcd", "abcde", "vwxyz"):
            for style in (_old(tag, step), _new(f"{tag}!", FLOAT, _bytes(5, struct.pack("<f", step)))):
                events.append(_event(step, style))
            expected.setdefault(tag, []).append(step)
            expected.setdefault(f"{tag}!", []).append(step)
    assert {tag: series.values.tolist() for tag, series in _series(_file(events)).items()} == expected


def test_hyper_parameters_and_texts_are_settings() -> None:
    def entry(key: str, value: bytes) -> bytes:
        return _bytes(1, _bytes(1, key.encode()) + _bytes(2, value))

    start = _bytes(
        3,
        entry("lr", b"\x11" + struct.pack("<d", 3e-4))
        + entry("optimizer", _bytes(3, b"adamw"))
        + entry("amp", _number(4, 1)),
    )
    hparams = _bytes(1, b"_hparams_/session_start_info") + _metadata("hparams", start)
    ended = _bytes(1, b"_hparams_/session_end_info") + _metadata("hparams", _bytes(4, _number(1, 2)))
    text = _new("notes/text_summary", STRING, _bytes(8, b"first try"), "text")
    found = _read(_file([_event(0, hparams), _event(0, text), _event(9, ended)]))
    assert [(setting.key, setting.value, setting.line) for setting in found.settings] == [
        ("lr", 3e-4, 2),
        ("optimizer", "adamw", 2),
        ("amp", True, 2),
        ("notes", "first try", 3),
    ]
    assert found.remarks == ["it says that the session ended in failure", "it has no scalars"]


def test_pictures_and_histograms_are_counted_not_read() -> None:
    histogram = _bytes(1, b"weights") + _bytes(5, b"\x09" + b"\0" * 8)
    image = _bytes(1, b"sample") + _bytes(4, b"\x08\x01")
    found = _read(_file([_event(1, histogram), _event(2, histogram), _event(3, image), _event(3, _old("loss", 1.0))]))
    assert [series.original for series in found.series] == ["loss"]
    assert found.remarks == ["not read: 2 histograms, 1 image"]


def test_a_file_without_scalars_says_so() -> None:
    found = _read(_file([]))
    assert (found.series, found.remarks) == ([], ["it has no scalars"])


def _losses(count: int) -> bytes:
    return _file(_event(step, _old("loss", step)) for step in range(count))


@pytest.mark.parametrize("cut", [1, 4, 20, 40])
def test_a_cut_tail_leaves_the_rest(cut: int) -> None:
    found = _read(_losses(100)[:-cut])
    assert found.series[0].values.tolist() == list(range(99))
    assert found.remarks == ["it is truncated in record 101; the records before it were read"]


def test_a_tail_of_zeros_leaves_the_rest() -> None:
    found = _read(_losses(100) + b"\0" * 100_000)
    assert len(found.series[0]) == 100
    assert found.remarks == ["it ends in zeros or damage; 101 records were read"]


def test_a_damaged_length_is_stepped_over() -> None:
    raw = bytearray(_losses(100))
    size = len(_record(_event(50, _old("loss", 50))))
    raw[-30 * size] ^= 0xFF
    found = _read(bytes(raw))
    assert found.series[0].values.tolist() == [*range(70), *range(71, 100)]
    assert "damaged from byte" in found.remarks[0]


def test_a_damaged_value_is_left_out() -> None:
    raw = bytearray(_losses(100))
    raw[-5] ^= 0xFF
    found = _read(bytes(raw))
    assert found.series[0].values.tolist() == list(range(99))
    assert found.remarks == ["1 records do not match their checksum and were left out"]


def test_records_longer_than_the_memory_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "CHUNK", 4096)
    image = _bytes(1, b"sample") + _bytes(4, b"\x08\x01" + _bytes(4, b"x" * 20_000))
    events = [_event(step, _old("loss", step)) for step in range(300)]
    raw = _file([*events[:150], _event(7, image), *events[150:]])
    found = _read(raw)
    assert found.series[0].values.tolist() == list(range(300))
    assert found.series[0].lines[-1] == 302
    assert found.remarks == []


def test_a_record_is_quoted_in_words() -> None:
    raw = _losses(100)
    assert trackers.quote("tensorboard", io.BytesIO(raw), 43) == "step 41: loss 41"
    assert trackers.quote("tensorboard", io.BytesIO(raw), 9999) == ""


def test_a_data_set_of_records_is_no_event_file() -> None:
    assert trackers.recognise("train.tfrecord", _record(_bytes(1, b"features"))) is None
    assert trackers.recognise("scalars.bin", _file([])) == "tensorboard"


@settings(max_examples=examples(150))
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=12), st.integers(0, 3000))
def test_no_damage_raises(damage: list[tuple[int, int]], cut: int) -> None:
    raw = bytearray(_losses(60))
    for place, byte in damage:
        raw[place % len(raw)] = byte
    tensorboard.read(io.BytesIO(bytes(raw[: len(raw) - cut])), "events")


@settings(max_examples=examples(150))
@given(st.lists(st.binary(max_size=80), max_size=20))
def test_no_record_raises(records: list[bytes]) -> None:
    found = tensorboard.read(io.BytesIO(b"".join(_record(data) for data in records for _ in range(7))), "events")
    assert isinstance(found.remarks, list)


@settings(max_examples=examples(100))
@given(st.binary(max_size=400))
def test_any_bytes_are_read(raw: bytes) -> None:
    for kind in ("tensorboard", "wandb", "sqlite"):
        trackers.read(kind, io.BytesIO(raw), "file")
    trackers.recognise("metrics/loss", raw)


def test_too_many_points_are_thinned_but_every_nan_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_POINTS", 1000)
    monkeypatch.setattr(tfrecord, "CHUNK", 4096)
    found = _read(_file(_event(step, _old("loss", math.nan if step == 777 else step)) for step in range(3000)))
    (series,) = found.series
    assert series.thinned == 4
    assert 700 < len(series) <= 1000
    assert (series.at[0], 777 in series.at, series.at[-1] > 2990) == (0, True, True)
    assert found.remarks == ["it holds more than 1,000 points; one in 4 was kept"]
