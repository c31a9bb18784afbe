"""The state of the code behind a run, from `.git` and from what runs record; no git command is run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers import RunFile, Scope
from traindx.readers.code.git import GitState, read_git

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DIFF = "diff --git a/train.py b/train.py\n--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-lr = 1\n+lr = 2\n"


def _read(folder: Path) -> tuple[list[GitState], list[str]]:
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path)]
    files = [RunFile(str(path.relative_to(folder)), "other", path.stat().st_size) for path in paths]
    return read_git(Scope.of(folder), files)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to make a real repository")
def test_a_real_repository_loose_packed_and_detached(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@y")
        done = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "feature/lr")
    (tmp_path / "a.py").write_text("x = 1\n")
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    (loose,), _ = _read(tmp_path)
    assert (loose.commit, loose.branch, loose.source) == (commit, "feature/lr", ".git/refs/heads/feature/lr")
    git("pack-refs", "--all")
    (packed,), _ = _read(tmp_path)
    assert (packed.commit, packed.branch, packed.source) == (commit, "feature/lr", ".git/packed-refs")
    git("checkout", "-q", "--detach")
    (detached,), _ = _read(tmp_path)
    assert (detached.commit, detached.branch) == (commit, "")


@pytest.mark.parametrize(
    ("name", "text", "dirty"),
    [
        ("git_commit.txt", f"{COMMIT}\n", None),
        ("git_info.txt", f"branch: main\ncommit: {COMMIT}\n", None),
        ("commit.txt", f"{COMMIT[:10]}-dirty\n", True),
        ("git_status.txt", f"HEAD {COMMIT}\nChanges not staged for commit:\n modified: a.py\n", True),
        ("wandb/run-1/files/wandb-metadata.json", json.dumps({"git": {"commit": COMMIT}, "host": "x"}, indent=1), None),
        ("metadata.json", json.dumps({"git_commit": COMMIT, "dirty": True}), True),
        ("run.json", json.dumps({"experiment": {"repositories": [{"commit": COMMIT, "dirty": False}]}}), False),
    ],
)
def test_what_runs_record(tmp_path: Path, name: str, text: str, dirty: bool | None) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    (state,), remarks = _read(tmp_path)
    assert COMMIT.startswith(state.commit)
    assert (state.dirty, state.source, remarks) == (dirty, name, [])
    assert state.commit in text.split("\n")[state.line - 1]


def test_a_diff_beside_the_record_makes_it_dirty(tmp_path: Path) -> None:
    (tmp_path / "git_commit.txt").write_text(COMMIT)
    (tmp_path / "code.diff").write_text(DIFF)
    (state,), _ = _read(tmp_path)
    assert (state.dirty, state.diff, state.changed) == (True, "code.diff", ("train.py",))
    (tmp_path / "code.diff").write_text("")
    (state,), _ = _read(tmp_path)
    assert state.dirty is None


def test_a_worktree_that_leads_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /somewhere/else\n")
    assert _read(tmp_path) == ([], ["`.git` points to a repository outside the run folder, which is not read"])


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(
        st.binary(max_size=200), st.sampled_from([b"ref: refs/../../x", b"ref: refs/heads/\xff", b"{}", b"[]"])
    )
)
def test_no_bytes_make_reading_git_fail(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").mkdir(exist_ok=True)
    for name in (".git/HEAD", ".git/packed-refs", "git_commit.txt", "metadata.json", "code.diff"):
        (tmp_path / name).write_bytes(content)
    _read(tmp_path)
