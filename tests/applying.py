"""Applying a diff the way a user does."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import yaml

from traindx.readers.configs.tomltext import read_toml


def apply(diff: str, folder: Path) -> None:
    """Apply a diff with git in a folder that need not be a repository; fails where git refuses it."""
    git = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(git, input=diff.encode(), cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, f"{done.stderr.decode()}\n{diff}"


def changed_files(diff: str) -> list[str]:
    """The files that a diff changes."""
    return [line.removeprefix("+++ b/").rstrip("\n") for line in diff.splitlines() if line.startswith("+++ b/")]


def parses(path: Path) -> bool:
    """Whether a file is still what its name says; raises where it is not."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        ast.parse(text)
    elif path.suffix in {".json", ".ipynb"}:
        json.loads(text)
    elif path.suffix in {".yaml", ".yml"}:
        yaml.safe_load(text)
    elif path.suffix == ".toml":
        assert list(read_toml(text, print))
    return True
