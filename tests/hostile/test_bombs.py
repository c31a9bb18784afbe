"""Input without end and archives that burst: bounded by default, said in the report, raised by an option."""

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.hostile.conftest import spooled
from tests.shells import Shell
from traindx import TraindxError
from traindx.contract.remark import Notable
from traindx.pipeline.archives import ALWAYS_BYTES, is_archive, unpack
from traindx.pipeline.inputs import laid_out

LINE = b"epoch 1 loss 0.5\n"


def unpacked(archive: Path, folder: Path, most: int | None = None) -> tuple[int, list[str]]:
    remarks: list[str] = []
    folder.mkdir()
    unpack(archive, folder, most, remarks)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), remarks


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_bomb_is_unpacked_to_a_hundred_times_its_size(tmp_path: Path, kind: str) -> None:
    bomb, size = tmp_path / f"run.{kind}", ALWAYS_BYTES + (8 << 20)
    if kind == "zip":
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("train.log", "w") as file:
            file.write(bytes(size))
    else:
        with tarfile.open(bomb, "w:gz") as archive_:
            member = tarfile.TarInfo("train.log")
            member.size = size
            archive_.addfile(member, io.BytesIO(bytes(size)))
    count, remarks = unpacked(bomb, tmp_path / "bounded")
    assert count == ALWAYS_BYTES
    assert len(remarks) == 1
    assert isinstance(remarks[0], Notable)
    assert "--max-input" in remarks[0]
    assert unpacked(bomb, tmp_path / "raised", most=2 * ALWAYS_BYTES) == (size, [])


def test_an_ordinary_archive_is_unpacked_in_full(tmp_path: Path) -> None:
    archive = tmp_path / "run.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("train.log")
        member.size = 100_000 * len(LINE)
        tar.addfile(member, io.BytesIO(LINE * 100_000))
    assert unpacked(archive, tmp_path / "out") == (member.size, [])


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 and then nothing of a zip", gzip.compress(b"no tar")[:-4], bytes(5000), b"\x00\xff\x12" * 700],
    ids=["empty", "cut-zip", "cut-gzip", "zeros", "noise"],
)
@pytest.mark.parametrize("name", ["run.zip", "run.tar.gz"])
def test_a_broken_archive_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with (
        pytest.raises(TraindxError, match=r"the archive (is damaged|is empty|holds no file)"),
        laid_out(tmp_path / name),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.zip", LINE),
        ("model.pth.tar", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x00"),
        ("train.log", b"PK\x03\x04"),
    ],
)
def test_what_is_no_archive_is_read_as_it_is(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert not is_archive(tmp_path / name)


def test_a_checkpoint_in_a_zip_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.pth.tar", "w") as archive:
        for name in ("model/data.pkl", "model/version", "model/data/0"):
            archive.writestr(name, "3")
    with laid_out(tmp_path / "model.pth.tar") as (place, _):
        assert place == tmp_path / "model.pth.tar"


SPOOL = """
import sys
from pathlib import Path
from traindx.pipeline.spool import spool
remarks = []
path = spool(Path(sys.argv[1]), int(sys.argv[2]), remarks)
print(*remarks)
"""


def spool_of(data: bytes, folder: Path, most: int) -> tuple[bytes, str]:
    """What a process keeps of its standard input."""
    done = subprocess.run(
        [sys.executable, "-c", SPOOL, str(folder), str(most)], input=data, capture_output=True, check=True
    )
    return (folder / "stdin.log").read_bytes(), done.stdout.decode().strip()


def test_a_long_input_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    lines = [f"step {number} loss 0.5\n".encode() for number in range(20_000)]
    text = b"".join(lines)
    kept, remark = spool_of(text, tmp_path, 100_000)
    assert len(kept) <= 100_200
    head, _, rest = kept.partition(b"\n[traindx: ")
    marker, _, tail = rest.partition(b"]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert tail.startswith(b"step ")
    assert f"{len(text) - len(head) - len(tail):,} bytes" in marker.decode()
    assert "left out" in remark
    assert [path.name for path in tmp_path.iterdir()] == ["stdin.log"]


@pytest.mark.parametrize("count", [0, 1, 50_000, 99_999, 100_000])
def test_a_short_input_is_kept_to_the_letter(tmp_path: Path, count: int) -> None:
    text = (LINE * (count // len(LINE) + 1))[:count]
    assert spool_of(text, tmp_path, 100_000) == (text, "")


@pytest.mark.slow
def test_an_endless_input_comes_to_an_end(shell: Shell, tmp_path: Path) -> None:
    done = shell("yes 'epoch 1 loss 0.5' | traindx diagnose - --max-input 4M --json")
    assert done.returncode == 0, done.stderr
    assert any("standard input" in row for row in json.loads(done.stdout)["notable"])
    assert spooled(tmp_path) == []


@pytest.mark.slow
def test_the_report_says_without_being_asked_what_was_left_out(shell: Shell) -> None:
    done = shell("seq -f 'step %g loss 0.5' 300000 | traindx diagnose - --max-input 1M")
    assert "between them were left out" in " ".join(done.stdout.split())
