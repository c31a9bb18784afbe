"""What can be given as PATH: files, several of them, archives, standard input, a folder of runs."""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx import Diagnosis, TraindxError, diagnose
from traindx.api import gather_context

pytestmark = pytest.mark.slow

CAUSES = {"lr-schedule-spike", "learning-rate-too-high"}
Command = Callable[..., subprocess.CompletedProcess[str]]


def test_several_paths_are_one_run(broken_run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "conf" / "settings.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes((broken_run / "config.yaml").read_bytes())
    diagnosis = diagnose([broken_run / "metrics.csv", elsewhere], "loss went up")
    assert diagnosis.root_causes[0].id in CAUSES
    sources = {Path(piece.source).name for piece in diagnosis.root_causes[0].evidence}
    assert sources == {"metrics.csv", "settings.yaml"}
    assert all(piece.verified for piece in diagnosis.root_causes[0].evidence)


def test_of_several_paths_nothing_else_is_looked_at(broken_run: Path) -> None:
    package = gather_context([broken_run / "metrics.csv", broken_run / "train.log"])
    assert package.artifacts.config == []
    assert package.artifacts.model_code == []


@pytest.mark.parametrize("kind", ["zip", "gztar", "tar", "xztar"])
def test_an_archive_is_looked_at_and_gone_afterwards(
    broken_run: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    archive = shutil.make_archive(str(tmp_path / "run"), kind, broken_run.parent, broken_run.name)
    diagnosis = diagnose(archive, "loss went up")
    assert diagnosis.root_causes[0].id in CAUSES
    assert diagnosis.root_causes[0].confidence >= 0.9
    assert list(temporary.iterdir()) == []


def test_a_hostile_archive_writes_nowhere_else(tmp_path: Path) -> None:
    archive = tmp_path / "evil.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("../outside.log", "/tmp/absolute-outside.log", "ok/train.log"):
            data = b"epoch 1 loss 1.0\n"
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("passwd.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    package = gather_context(archive)
    assert package.artifacts.training_logs == ["ok/train.log", "tmp/absolute-outside.log"]
    assert not (tmp_path / "outside.log").exists()
    assert not Path("/tmp/absolute-outside.log").exists()
    assert any("left out" in row for row in package.missing)


def test_a_truncated_archive_gives_what_it_holds_or_one_sentence(broken_run: Path, tmp_path: Path) -> None:
    whole = Path(shutil.make_archive(str(tmp_path / "run"), "tar", broken_run.parent, broken_run.name))
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert isinstance(diagnose(cut), Diagnosis)
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(broken, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.log", "epoch 1 loss 1.0\n" * 1000)
    damaged = bytearray(broken.read_bytes())
    damaged[40:60] = bytes(20)
    broken.write_bytes(damaged)
    with pytest.raises(TraindxError, match="the archive is damaged"):
        diagnose(broken)


def test_a_log_on_standard_input(broken_run: Path) -> None:
    command = [sys.executable, "-m", "traindx", "diagnose", "-", "-m", "loss went up", "--json"]
    with (broken_run / "train.log").open("rb") as log:
        done = subprocess.run(command, stdin=log, capture_output=True, text=True, cwd="/", check=False)
    diagnosis = Diagnosis.model_validate_json(done.stdout)
    assert diagnosis.root_causes[0].id in CAUSES
    assert {piece.source for piece in diagnosis.root_causes[0].evidence} == {"stdin.log"}


@pytest.fixture
def sweep(tmp_path: Path, broken_run: Path, healthy_run: Path) -> Path:
    for name, source in (("a", healthy_run), ("b", broken_run), ("c", healthy_run)):
        folder = tmp_path / "outputs" / name
        folder.mkdir(parents=True)
        for file in ("metrics.csv", "config.yaml"):
            shutil.copy(source / file, folder)
    return tmp_path / "outputs"


def test_the_only_failed_run_of_a_folder_is_picked(sweep: Path) -> None:
    diagnosis = diagnose(sweep)
    assert diagnosis.root_causes[0].id in CAUSES
    assert [(row.path, row.failed, row.healthy) for row in diagnosis.runs] == [
        ("a", False, True), ("b", True, False), ("c", False, True),
    ]  # fmt: skip
    assert any("1 of them failed; this is the diagnosis of `b`" in row for row in diagnosis.provenance.notes)


@pytest.mark.slow
def test_of_several_failed_runs_the_worst_is_diagnosed_and_the_others_are_listed(sweep: Path, traindx: Command) -> None:
    shutil.copytree(sweep / "b", sweep / "d")
    diagnosis = diagnose(sweep)
    assert diagnosis.root_causes[0].id in CAUSES
    assert [row.path for row in diagnosis.runs if row.failed] == ["b", "d"]
    said = traindx("diagnose", sweep).stdout
    assert "d (failed): " in said
    assert "a: healthy" in said
    assert "FAILED" in traindx("gather", sweep).stdout


def test_the_message_picks_the_run(sweep: Path) -> None:
    shutil.copytree(sweep / "b", sweep / "run-17")
    assert diagnose(sweep, "is run 17 broken?").root_causes[0].id in CAUSES
    shutil.copytree(sweep / "a", sweep / "run-18")
    picked = diagnose(sweep, "how did run-18 do?")
    assert picked.status == "healthy"
    assert any("`run-18` was examined: the message names it" in row for row in picked.provenance.notes)


def test_runs_that_are_all_healthy_are_healthy(sweep: Path) -> None:
    shutil.rmtree(sweep / "b")
    diagnosis = diagnose(sweep)
    assert diagnosis.status == "healthy"
    assert [row.healthy for row in diagnosis.runs] == [True, True]


def test_the_folders_of_one_run_are_not_several_runs(tmp_path: Path, broken_run: Path) -> None:
    for name in ("rank_0", "rank_1", "train", "val"):
        (tmp_path / name).mkdir()
        shutil.copy(broken_run / "train.log", tmp_path / name / "train.log")
    assert gather_context(tmp_path).runs == []
    single = tmp_path / "val"
    (single / "logs").mkdir()
    (single / "tables").mkdir()
    shutil.move(single / "train.log", single / "logs" / "train.log")
    shutil.copy(broken_run / "metrics.csv", single / "tables" / "metrics.csv")
    assert gather_context(single).runs == []
