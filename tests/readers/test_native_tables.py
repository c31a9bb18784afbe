"""Plain tables are read by compiled code where the package has it, and nothing else changes."""

from __future__ import annotations

import io
import random
import shutil
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.definitions.content import TOOLS
from traindx.readers import Scope
from traindx.readers.model import Series
from traindx.readers.native.library import library
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.nativerows import native_rows
from traindx.runtime import Toolbelt

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="the package was built without a compiler")

HEADER = ["epoch", "step", "loss", "val_loss", "lr"]
_CELL = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(-10, 10).map(lambda value: f"{value:.3f}"),
    st.sampled_from(["", "nan", "-nan", "NaN", "inf", "-Infinity", "5.", ".5", "+7", "1e400", "1E-400", " 0.5", "1_0"]),
    st.sampled_from(["None", "12%", "é", "0x1p3", "nan(1)", "-", "1e", "#", "0.1" + "0" * 40]),
)


def _same(raw: bytes) -> None:
    """Three ways give the same: numpy, compiled block by block, compiled on several cores from a real file."""
    by_numpy = read_csv(io.BytesIO(raw), "m.csv", compiled=False)
    with tempfile.TemporaryFile() as file:
        file.write(raw)
        _alike(by_numpy, read_csv(file, "m.csv"))
    _alike(by_numpy, read_csv(io.BytesIO(raw), "m.csv"))


def _alike(expected: list[Series], found: list[Series]) -> None:
    assert [(row.name, row.original, row.axis) for row in found] == [
        (row.name, row.original, row.axis) for row in expected
    ]
    for a, b in zip(found, expected, strict=True):
        assert a.lines.tolist() == b.lines.tolist()
        assert a.texts == b.texts
        assert a.restarts == b.restarts
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.at, b.at)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_CELL, min_size=5, max_size=5), min_size=1, max_size=12), st.sampled_from(",;\t|"))
@pytest.mark.slow
def test_whatever_the_cells_are(rows: list[list[str]], separator: str) -> None:
    # As many plain rows as it takes to leave the reader for small tables.
    plain = [["1", str(n), "0.25", "", "1e-3"] for n in range(900)]
    _same("\n".join(separator.join(row) for row in [HEADER, *plain, *rows]).encode())


@needs_compiler
def test_plain_blocks_are_taken_and_others_are_left() -> None:
    reader = native_rows()
    assert reader is not None
    found = reader.read(b"1,,0.1\n2,7 ,nan\r\n", ",", 3, spelt=True)
    assert found is not None
    (step, steps, all_of_them, _), (loss, losses, present, spell) = found.named(["step", "loss", ""])
    assert (step, steps.tolist(), all_of_them) == ("step", [1.0, 2.0], None)
    assert (loss, losses[1], present is not None and present.tolist()) == ("loss", 7.0, [False, True])
    assert spell(np.array([1])) == b"7\n"
    odd = [
        b"1,2\n\n3,4\n",
        b"1,2,3\n",
        b"1\n",
        b"a,2\n",
        b"1,2%\n",
        b"1,nan(ind)\n",
        b"1,2e\n",
        b"1,1_0\n",
        b"1,.\n",
        b"1,-\n",
    ]
    for data in [*odd, b"1,+-2\n", b"1,2 3\n", b"1,0x1\n", b"1,\xe9\n", b"1,\0\n", b",\n", b"\n", b"1,infi\n"]:
        assert reader.read(data, ",", 2, spelt=False) is None, data


@needs_compiler
@settings(max_examples=examples(300))
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False).map(repr),
            st.from_regex(r"[-+]?[0-9]{1,24}(\.[0-9]{0,24})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
            # exactly between two doubles, which is where rounding goes wrong
            st.integers(2**52, 2**53 - 1).flatmap(lambda m: st.integers(0, 10).map(lambda e: str((2 * m + 1) * 2**e))),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_every_value_is_the_nearest_double(cells: list[str]) -> None:
    reader = native_rows()
    assert reader is not None
    found = reader.read("\n".join(cells).encode(), ",", 1, spelt=False)
    assert found is not None
    assert [struct.pack("d", value) for value in found.columns[0][0]] == [struct.pack("d", float(c)) for c in cells]


def test_a_package_without_the_library_has_no_compiled_reader(tmp_path: Path) -> None:
    assert library(tmp_path / "libnumbers.so") is None
    (tmp_path / "libnumbers.so").write_bytes(b"not a library")
    assert library(tmp_path / "libnumbers.so") is None


@pytest.mark.slow
def test_a_changed_header_an_empty_line_and_a_torn_row_in_a_large_table() -> None:
    chance = random.Random(3)
    rows = [",".join(HEADER)]
    for n in range(60_000):
        rows.append(f"{n // 100},{n},{chance.gauss(0, 1)!r},{'' if n % 50 else chance.random()!r},{1e-3 / (n + 1)!r}")
    rows.insert(30_000, "")
    rows.insert(40_000, "7,39990,0.5")
    rows.insert(50_000, "step,epoch,loss")
    _same("\n".join(rows).encode())
    _same("\r\n".join(rows).encode())
    _same(b"\xef\xbb\xbf" + "\n".join(rows).encode())


@pytest.mark.slow
def test_the_confined_worker_reads_a_large_table_to_the_last_bit(tmp_path: Path) -> None:
    chance = random.Random(4)
    losses = [chance.random() for _ in range(500_000)]
    filler = "0.12345678901234567," * 3
    with (tmp_path / "metrics.csv").open("w") as file:
        file.write("step,loss,a_loss,b_loss,c_loss,d\n")
        file.writelines(f"{step},{loss!r},{filler}1\n" for step, loss in enumerate(losses))
    assert (tmp_path / "metrics.csv").stat().st_size > 32 << 20
    with Toolbelt(Scope.of(tmp_path), [TOOLS]) as toolbelt:
        result = toolbelt.call("extract_training_metrics", timeout=60)
    assert result.status == "ok"
    series = {row["original"]: row for row in result.output["series"]}
    assert series["loss"]["points"] == len(losses)
    assert series["loss"]["first"] == losses[0]
    assert series["loss"]["last"] == losses[-1]
    assert series["loss"]["lowest"] == min(losses)
