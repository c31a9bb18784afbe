"""Large tables go through Arrow's parser where it is installed, and nothing else changes."""

from __future__ import annotations

import io
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traindx.artifacts import Scope
from traindx.artifacts.tables.arrowtable import parser
from traindx.artifacts.tables.csvtable import read_csv
from traindx.content import TOOLS
from traindx.toolbelt import Belt

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pyarrow.csv")

HEADER = ["epoch", "step", "loss", "val_loss", "lr"]
_CELL = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(-10, 10).map(lambda value: f"{value:.3f}"),
    st.sampled_from(["", "nan", "-nan", "NaN", "inf", "-Infinity", "5.", ".5", "+7", "1e400", "1E-400", " 0.5", "1_0"]),
    st.sampled_from(["None", "12%", "é", "0x1p3", "nan(1)", "-", "1e", "#", "0.1" + "0" * 40]),
)


def _same(raw: bytes) -> None:
    by_arrow, by_numpy = read_csv(io.BytesIO(raw), "m.csv", large=0), read_csv(io.BytesIO(raw), "m.csv")
    assert [(row.name, row.original, row.axis) for row in by_arrow] == [
        (row.name, row.original, row.axis) for row in by_numpy
    ]
    for a, b in zip(by_arrow, by_numpy, strict=True):
        assert a.lines.tolist() == b.lines.tolist()
        assert a.texts == b.texts
        assert a.restarts == b.restarts
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.at, b.at)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_CELL, min_size=5, max_size=5), min_size=1, max_size=12), st.sampled_from(",;\t|"))
def test_whatever_the_cells_are(rows: list[list[str]], separator: str) -> None:
    # As many plain rows as it takes to leave the reader for small tables.
    plain = [["1", str(n), "0.25", "", "1e-3"] for n in range(900)]
    _same("\n".join(separator.join(row) for row in [HEADER, *plain, *rows]).encode())


def test_plain_blocks_are_taken_and_others_are_left() -> None:
    arrow = parser()
    assert arrow is not None
    found = arrow.columns(b"1,,0.1\n2,7,nan\n", ",", ["step", "loss", ""])
    assert found is not None
    (step, steps, all_of_them, _), (loss, losses, present, spell) = found
    assert (step, steps.tolist(), all_of_them) == ("step", [1.0, 2.0], None)
    assert (loss, losses[1], present is not None and present.tolist()) == ("loss", 7.0, [False, True])
    assert spell(np.array([1])) == b"7\n"
    for odd in (b"1,2\n\n3,4\n", b"1,2,3\n", b"1\n", b"a,2\n", b"1,2%\n", b"1,nan(ind)\n"):
        assert arrow.columns(odd, ",", ["step", "loss"]) is None


def test_a_changed_header_an_empty_line_and_a_torn_row_in_a_large_table() -> None:
    chance = random.Random(3)
    rows = [",".join(HEADER)]
    for n in range(60_000):
        rows.append(f"{n // 100},{n},{chance.gauss(0, 1)!r},{'' if n % 50 else chance.random()!r},{1e-3 / (n + 1)!r}")
    rows.insert(30_000, "")
    rows.insert(40_000, "7,39990,0.5")
    rows.insert(50_000, "step,epoch,loss")
    _same("\n".join(rows).encode())


def test_the_confined_worker_reads_a_large_table_to_the_last_bit(tmp_path: Path) -> None:
    chance = random.Random(4)
    losses = [chance.random() for _ in range(500_000)]
    filler = "0.12345678901234567," * 3
    with (tmp_path / "metrics.csv").open("w") as file:
        file.write("step,loss,a_loss,b_loss,c_loss,d\n")
        file.writelines(f"{step},{loss!r},{filler}1\n" for step, loss in enumerate(losses))
    assert (tmp_path / "metrics.csv").stat().st_size > 32 << 20
    with Belt(Scope.of(tmp_path), [TOOLS]) as belt:
        result = belt.call("extract_training_metrics", timeout=60)
    assert result.status == "ok"
    series = {row["original"]: row for row in result.output["series"]}
    assert series["loss"]["points"] == len(losses)
    assert series["loss"]["first"] == losses[0]
    assert series["loss"]["last"] == losses[-1]
    assert series["loss"]["lowest"] == min(losses)


def test_without_large_tables_pyarrow_is_not_imported(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "metrics.csv").write_text("step,loss\n" + "".join(f"{n},{1 / (n + 1)!r}\n" for n in range(50_000)))
    program = (
        "import sys; from traindx.artifacts.tables.csvtable import read_csv\n"
        "with open('metrics.csv', 'rb') as file: found = read_csv(file, 'metrics.csv')\n"
        "assert len(found[0]) == 50_000 and 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
