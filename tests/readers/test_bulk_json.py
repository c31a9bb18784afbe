"""JSON lines read by the block give what parsing every line gives: same points, same order, same spelling."""

from __future__ import annotations

import io
import json
import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from tests.readers.test_bulk import _same
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.model import Series
from traindx.readers.native.library import Library, library
from traindx.readers.tables.jsonlines import JsonLines, cells_of
from traindx.readers.tables.record import Records
from traindx.readers.tables.table import read_jsonl


def _slow(raw: bytes) -> list[Series]:
    records = Records()
    for number, line in enumerate(raw.decode(errors="replace").split("\n"), 1):
        records.row((name, text, number) for name, text in cells_of(line) or ())
    return records.columns.series("metrics.jsonl")


def _fast(raw: bytes, size: int, code: Library | None) -> list[Series]:
    records = Records()
    bulk = JsonLines(records, code)
    for first, data in RawBlocks(io.BytesIO(raw), size):
        bulk.block(first, data)
    return records.columns.series("metrics.jsonl")


_FORMS = [
    '{{"step": {n}, "loss": {v}, "lr": {w}}}',
    '{{"step": {n}, "loss": {v}}}',
    '{{"epoch": {v}, "step": {n}, "train": {{"loss": {w}, "top5": {x}}}}}',
    '{{"a": {{"b": {{"c": {{"d": {{"e": {{"f": {v}}}, "g": {w}}}}}}}}}, "step": {n}}}',
    '{{"ts": "2026-01-02T03:{n:02d}:{k:02d}Z", "step": {n}, "loss": {v}}}',
    '{{"step": {n}, "betas": [0.9, {v}, 00], "loss": {w}}}',
    '{{"step": {n}, "betas": [0.9, {n}, {{"x": {v}}}], "loss": {w}}}',
    '{{"step": {n:03d}, "loss": {v}}}',
    '{{"step": "{n}", "loss": "{v}"}}',
    '{{"loss": {v}, "loss": {w}, "step": {n}}}',
    '{{"key": "layer{k}/loss", "value": {v}, "step": {n}}}',
    '{{"metric": "{n}", "value": {v}, "step": {n}}}',
    '{{"message": "say \\"{n}\\" \\u00e{k}", "step": {n}, "loss": {v}}}',
    '{{"épreuve{k}": {v}, "step": {n}}}',
    '{{"ok": true, "none": null, "loss": {v}, "share": "{k}%"}}',
    '  {{ "loss" : {v} , "step" : {n} }}  ',
    '{{"loss": {v}, "step": {n}}} trailing {n}',
    "[{v}, {n}]",
    "step {n} loss {v}",
    '{{"loss": {v}',
    "",
]
_SPELLED = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(json.dumps),
    st.floats(0, 1e-3).map(json.dumps),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        ["NaN", "-Infinity", "1E5", "1e+05", "-0", "0.0", "01", "+1", "1_000", "null", '"0.5"', '" 7"', "1." + "0" * 70]
    ),
    st.decimals(min_value=0, max_value=10, places=17).map(str),
)


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(_FORMS), st.lists(st.tuples(_SPELLED, _SPELLED, _SPELLED), min_size=1, max_size=4)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 40),
    st.integers(1_000, 8_000),
)
@example([('{{"step": {n}, "loss": {v}}}', [("01", "1", "1"), ("11", "1", "1")])], 30, 1_000)
@example([('{{"step": {n}, "loss": {v}}}', [("11", "1", "1"), ("01", "1", "1")])], 30, 1_000)
@example([('{{"step": {n}, "loss": {v}}}', [("1." + "0" * 70, "1", "1"), ("0.5", "1", "1")])], 30, 1_000)
def test_blocks_give_what_lines_give(
    forms: list[tuple[str, list[tuple[str, str, str]]]], times: int, size: int
) -> None:
    lines = [
        form.format(n=(7 * turn + place) % 1000, k=place, v=v, w=w, x=x)
        for turn in range(times)
        for place, (form, spelled) in enumerate(forms)
        for v, w, x in [spelled[turn % len(spelled)]]
    ]
    raw = "\n".join(lines).encode()
    for code in (None, library()):
        _same(_fast(raw, size, code), _slow(raw))


@settings(max_examples=examples(100))
@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\r" not in line), max_size=30), st.integers(1, 6))
def test_any_bytes_give_what_lines_give(lines: list[bytes], times: int) -> None:
    raw = b"\n".join([b'{"loss": 1' + line + b"}" for line in lines] * times)
    if not any(byte in raw for byte in (b"\0", b"\x1b", b"\b")):
        _same(_fast(raw, 500, library()), _slow(raw))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_is_read_in_blocks(end: str) -> None:
    chance = random.Random(2)
    lines = [
        json.dumps({"step": n, "loss": chance.random(), "eval": {"loss": chance.random()} if n % 7 else {"acc": 1}})
        for n in range(4_000)
    ]
    raw = end.join([*lines, "not json", '{"step": 4000, "loss": NaN}', ""]).encode()
    found = read_jsonl(io.BytesIO(raw), "metrics.jsonl", block=20_000)
    _same(found, _slow(raw.replace(b"\r\n", b"\n")))
    assert [(row.original, len(row)) for row in found] == [("loss", 4_001), ("eval/acc", 572), ("eval/loss", 3_428)]
