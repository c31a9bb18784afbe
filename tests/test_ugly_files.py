"""Files as crashes, full disks and odd tools leave them: a clear remark, and the rest is still read."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.api import gather_context

pytestmark = pytest.mark.slow

GOOD = "epoch,train_loss\n" + "".join(f"{n},{2.0 / n:.4f}\n" for n in range(1, 21))
LOG = "".join(f"step {n} loss {2.0 / n:.4f}\n" for n in range(1, 501))


def event_file(records: int, cut: int) -> bytes:
    """Records framed as TensorBoard does, the last one cut; checksums are left zero, as a reader may not mind."""
    body = b"".join(struct.pack("<QI", 24, 0) + bytes(24) + bytes(4) for _ in range(records))
    return body[: len(body) - cut]


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


UGLY: dict[str, tuple[str, Callable[[], bytes]]] = {
    "truncated gzip": ("old.log.gz", lambda: gzip.compress(LOG.encode() * 50)[:-200]),
    "nul tail": ("train.log", lambda: LOG.encode() + b"\0" * 500_000),
    "utf-16": ("train.log", lambda: LOG.encode("utf-16")),
    "latin-1": ("train.log", lambda: ("Höhe: größer\n" + LOG).encode("latin-1")),
    "one huge line": ("train.log", lambda: LOG.encode() + b"x" * 60_000_000),
    "a million columns": (
        "metrics_wide.csv",
        lambda: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n" + b"1," * 999_999 + b"1\n",
    ),
    "json nested deep": ("history.json", lambda: nested(10_000)),
    "event file cut": ("events.out.tfevents.1.host", lambda: event_file(50, 13)),
}


@pytest.mark.parametrize(("name", "content"), UGLY.values(), ids=UGLY)
def test_an_ugly_file_does_not_hide_the_rest(tmp_path: Path, name: str, content: Callable[[], bytes]) -> None:
    (tmp_path / "metrics.csv").write_text(GOOD)
    (tmp_path / name).write_bytes(content())
    package = gather_context(tmp_path)
    good = [row for row in package.series if row.source == "metrics.csv" and row.name == "train/loss"]
    assert [row.points for row in good] == [20]


@pytest.mark.parametrize("kind", ["nul tail", "utf-16", "latin-1", "one huge line"])
def test_what_is_readable_of_it_is_read(tmp_path: Path, kind: str) -> None:
    name, content = UGLY[kind]
    (tmp_path / name).write_bytes(content())
    losses = [row for row in gather_context(tmp_path).series if row.name == "train/loss"]
    assert [row.points for row in losses] == [500]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("truncated gzip", "gz"),
        ("a million columns", "metrics_wide.csv"),
        ("json nested deep", "history.json"),
        ("nul tail", "`train.log`: it holds 500,000 zero bytes"),
        ("utf-16", "`train.log`: it is UTF-16 text"),
        ("latin-1", "`train.log`: it holds bytes that are not UTF-8"),
    ],
)
def test_what_is_not_read_is_said(tmp_path: Path, kind: str, said: str) -> None:
    name, content = UGLY[kind]
    (tmp_path / name).write_bytes(content())
    assert any(said in row for row in gather_context(tmp_path).missing)


def test_a_link_to_an_endless_device_is_remarked(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(GOOD)
    (tmp_path / "zero.log").symlink_to("/dev/zero")
    package = gather_context(tmp_path)
    assert any("zero.log" in row for row in package.missing)
    assert package.series


def test_a_gzipped_log_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "train.log.gz").write_bytes(gzip.compress(LOG.encode()))
    package = gather_context(tmp_path)
    assert package.artifacts.training_logs == ["train.log.gz"]
    assert [row.points for row in package.series if row.name == "train/loss"] == [500]
