"""Reading whole blocks at once gives what reading line by line gives: same points, same order, same spelling."""

from __future__ import annotations

import io
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers.logs import textlog
from traindx.readers.logs.bulk.blocks import Bulk
from traindx.readers.logs.bulk.digits import Text, decimals
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.logs.textlog import LogReader
from traindx.readers.model import Series
from traindx.readers.native.library import Library, library
from traindx.readers.series.columns import Columns


def _slow(raw: bytes, labelled: bool = False) -> list[Series]:
    reader = LogReader(labelled=labelled)
    for first, data in RawBlocks(io.BytesIO(raw)):
        reader.block(first, data.decode(errors="replace"))
    return reader.columns.series("train.log")


def _fast(
    raw: bytes, size: int, code: Library | None = None, labelled: bool = False, columns: Columns | None = None
) -> list[Series]:
    reader = LogReader(columns, labelled=labelled)
    bulk = Bulk(reader, code)
    for first, data in RawBlocks(io.BytesIO(raw), size):
        bulk.block(first, data)
        bulk.bound()
    bulk.finish()
    return reader.columns.series("train.log")


def _same(fast: list[Series], slow: list[Series]) -> None:
    assert [(found.name, found.original, found.axis) for found in fast] == [
        (found.name, found.original, found.axis) for found in slow
    ]
    for a, b in zip(fast, slow, strict=True):
        assert a.lines.tolist() == b.lines.tolist()
        assert a.texts == b.texts
        assert a.restarts == b.restarts
        for mine, other in ((a.values, b.values), (a.at, b.at), (a.steps, b.steps), (a.epochs, b.epochs)):
            assert (mine is None) == (other is None)
            if mine is not None and other is not None:
                np.testing.assert_array_equal(mine, other)
                assert np.array_equal(np.signbit(mine), np.signbit(other)) or np.isnan(mine).any()


_FORMS = [
    "第 {n} 轮  训练损失 {v}  验证RMSE {w}",
    "第{n}轮\uff0c训练损失\uff1a{v}\uff0c准确率\uff1a{w}%",
    "迭代{n} 损失{v} 学习率 {x}",
    "iter {n}: loss {v}, time {w}ms, mfu {x}%",
    "step {n}: train loss {v}, val loss {w}",
    "step:{n}/500 train_loss:{v} step_avg:{w}ms",
    "2026-01-02 03:04:{n:02d},{n:03d} - trainer - INFO - step {n} | loss {v} | lr {w}",
    "{{'loss': {v}, 'grad_norm': {w}, 'learning_rate': {x}, 'epoch': {n}}}",
    "Epoch {n}/20",
    "loss: {v}",
    "layer{k}.weight grad_norm: {v} step {n}",
    "[{n}/9][{k}/100] Loss_D: {v} Loss_G: {w}",
    "Test set: Average loss: {v}, Accuracy: {n}/100 ({k}%)",
    "{n:02d}:{k:02d}:07 step {n} loss {v}",
    "{k}:{n} step {n} loss {v}",
    "ünïcode épreuve {n} loss {v}",
    "step {n}, tokens 1,{n:03d},000 loss {v}",
    "step {n},{k} loss {v}",
    "step {n} loss {v}\rstep {n} loss {w}",
    "nothing to see here",
    "wrote file{k}.{n}.bin in {v} s",
    "step {n} loss {v} loss {w}",
    "[rank{k}]: step {n} loss {v}",
    "checkpoint 20260102030405{k} of run 123456789012 written, step {n} loss {v}",
    "loss: tensor({v}, device='cuda:{k}', grad_fn=<NllLossBackward0>)",
    "",
]
_SPELLED = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.floats(-100, 100).map(lambda value: f"{value:.4f}"),
    st.floats(0, 1e-3).map(lambda value: f"{value:.3e}"),
    st.integers(0, 10**20).map(str),
    st.sampled_from(["nan", "NaN", "-inf", "1,234.5", ".5", "3.", "-0.25", "0.0003174296321763842", "1e400", "12e5"]),
    st.decimals(min_value=0, max_value=10, places=17).map(str),
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(_FORMS), st.lists(st.tuples(_SPELLED, _SPELLED, _SPELLED), min_size=1, max_size=4)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 60),
    st.integers(1_000, 8_000),
)
@example([("loss: {v}", [("nan", "1", "1")])], 30, 1_000)
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


@settings(max_examples=examples(150))
@given(st.lists(st.binary(max_size=60), max_size=40), st.integers(1, 6), st.integers(200, 2_000))
def test_any_bytes_give_what_lines_give(lines: list[bytes], times: int, size: int) -> None:
    raw = b"\n".join(lines * times)
    for code in (None, library()):
        _same(_fast(raw, size, code), _slow(raw))


_MARKS = [
    "[rank{r}]: ",
    "{r}: ",
    "{r:2d}: ",
    "[{r}]: ",
    "[default{r}]:",
    "rank {r} | ",
    "[GPU{r}] ",
    "2026-01-02 03:04:05 [rank{r}] INFO ",
]
_SAID = ["step {n} loss {v}", "step {n} loss {v} lr {w}", "val loss {v}", "Epoch {n}/9", "words only", "loss: {v}, {w}"]


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(_MARKS),
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(_SAID), _SPELLED, _SPELLED), min_size=1, max_size=14),
    st.integers(1, 30),
    st.integers(800, 6_000),
    st.booleans(),
)
def test_mixed_ranks_give_what_lines_give(
    mark: str, said: list[tuple[int, str, str, str]], times: int, size: int, labelled: bool
) -> None:
    raw = "\n".join(
        mark.format(r=rank) + form.format(n=turn, v=v, w=w) for turn in range(times) for rank, form, v, w in said
    ).encode()
    slow = _slow(raw, labelled)
    for code in (None, library()):
        _same(_fast(raw, size, code, labelled), slow)
        # Without spelling, the lines of many blocks are told apart at once.
        unspelt = [replace(row, texts=()) for row in slow]
        without = _fast(raw, size, code, labelled, Columns(most_texts=0))
        _same([replace(row, texts=()) for row in without], unspelt)


def test_ranks_are_thinned_alike_however_they_are_told_apart() -> None:
    lines = [f"[rank{rank}]: step {step} loss {rank + step % 7}\n" for step in range(3_000) for rank in range(8)]
    raw = "".join(lines).encode()
    few = [_fast(raw, 4_000, library(), columns=Columns(9_000, texts)) for texts in (0, 10**6)]
    assert few[0][0].thinned > 1
    _same(*([replace(row, texts=()) for row in found] for found in few))


@pytest.mark.parametrize("mark", ["[rank{r}]: ", "{r:2d}: ", "[{r}]: ", "[default{r}]:"])
def test_each_rank_has_its_own_series_whatever_the_launcher_calls_it(mark: str) -> None:
    chance = random.Random(9)
    lines = []
    for step in range(300):
        for rank in chance.sample(range(16), 16):
            value = "nan" if rank == 11 and step > 250 else f"{rank + step / 1000:.3f}"
            lines.append(f"{mark.format(r=rank)}step {step} loss {value}\n")
    found, _ = textlog.read_log(io.BytesIO("".join(lines).encode()), "train.log")
    assert len(found) == 16
    assert {len(series) for series in found} == {300}
    spoilt = [series.original for series in found if np.isnan(series.values).any()]
    assert spoilt == ["rank11:loss"]
    assert [series.original for series in found if not series.original.startswith("rank")] == ["loss"]


def test_numbers_before_the_lines_of_one_process_are_no_ranks() -> None:
    text = "".join(f"{epoch}: step {epoch} loss {1 / (epoch + 1):.3f}\n" for epoch in range(400))
    found, _ = textlog.read_log(io.BytesIO(text.encode()), "train.log")
    assert not any(series.original.startswith("rank") for series in found)


@pytest.mark.slow
def test_a_long_log_of_several_forms() -> None:
    chance = random.Random(3)
    lines = []
    for n in range(4_000):
        lines.append(f"iter {n}: loss {chance.random() * 10:.4f}, time {chance.gauss(100, 30):.2f}ms, mfu 40.1%")
        if n % 50 == 0:
            lines.append(f"step {n}: train loss {chance.random():.4f}, val loss {chance.random()!r}")
        if n % 777 == 0:
            lines.append(f"iter {n}: loss nan, time 1,234.5ms, mfu -1.00%")
    raw = "\n".join(lines).encode()
    for size in (10_000, 50_000, 1 << 20):
        for code in (None, library()):
            _same(_fast(raw, size, code), _slow(raw))


def test_a_file_is_read_in_blocks_and_small_ones_by_line() -> None:
    text = "".join(f"step {n} loss {n}.5\n" for n in range(10_000)).encode()
    assert len(text) > textlog._SMALL
    _same(textlog.read_log(io.BytesIO(text), "train.log")[0], _slow(text))


@given(st.lists(st.tuples(st.integers(0, 10**22 - 1), st.integers(0, 22)), min_size=1, max_size=50))
def test_decimals_are_the_nearest_doubles(numbers: list[tuple[int, int]]) -> None:
    texts = [f"{value:0{places + 1}d}" for value, places in numbers]
    texts = [
        f"{text[: len(text) - places]}.{text[len(text) - places :]}"
        for text, (_, places) in zip(texts, numbers, strict=True)
    ]
    text = Text(" ".join(texts).encode())
    ends = np.cumsum([len(word) + 1 for word in texts]) - 1
    starts = ends - [len(word) for word in texts]
    points = starts + [word.index(".") for word in texts]
    found, exact = decimals(
        text.digits(points, points - starts), text.digits(ends, ends - points - 1), ends - points - 1
    )
    for word, value, sure in zip(texts, found.tolist(), exact.tolist(), strict=True):
        assert not sure or value == float(word), word
    assert text.spelled(starts, ends).decode().split() == texts


@pytest.mark.parametrize("text", ["0.1", "0.30000000000000004", "123456.789012", "0.1234567890123456"])
def test_usual_decimals_need_no_second_look(text: str) -> None:
    raw = Text(text.encode())
    end, point = np.array([len(text)]), np.array([text.index(".")])
    found, exact = decimals(raw.digits(point, point), raw.digits(end, end - point - 1), end - point - 1)
    assert exact.all()
    assert found[0] == float(text)
