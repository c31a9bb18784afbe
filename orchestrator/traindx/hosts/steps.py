"""What changes on a machine: files with a backup of what was there, and commands of the hosts themselves."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traindx.errors import TraindxError

BACKUP = ".before-traindx"
_LONGEST_SECONDS = 120
_MOST_NAMED = 3


class StepFailed(TraindxError):
    """A change could not be made; those before it were."""


@dataclass(frozen=True)
class Edit:
    """A file as it will be; `after` is nothing where it will be gone.

    `ours`: nobody else writes it, or what it held before us is kept already, so that it needs no backup. `said` is
    what is shown instead of the difference.
    """

    path: Path
    after: bytes | None
    ours: bool = False
    said: str = ""

    def shown(self) -> str:
        """The change for a person: a diff, or one line where the whole file is ours."""
        if self.said or self.ours or self.after is None:
            return self.said or f"{'remove' if self.after is None else 'write'} {self.path}"
        before = self.path.read_bytes() if self.path.is_file() else b""
        rows = difflib.unified_diff(
            before.decode("utf-8", "replace").splitlines(),
            self.after.decode("utf-8", "replace").splitlines(),
            str(self.path),
            str(self.path),
            lineterm="",
            n=1,
        )
        return "\n".join(rows)

    def carry_out(self) -> None:
        """Write the file in one go; what was there is kept beside it the first time."""
        path = Path(os.path.realpath(self.path))
        try:
            if self.after is None:
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            backup = backup_of(path)
            if path.is_file() and not self.ours and not backup.exists():
                shutil.copy2(path, backup)
            _replace(path, self.after)
        except OSError as error:
            raise StepFailed(f"`{self.path}` cannot be written: {(error.strerror or str(error)).lower()}") from None


@dataclass(frozen=True)
class RemovedFolder:
    """A folder of ours that will be gone."""

    path: Path

    def shown(self) -> str:
        """In one line."""
        return f"remove {self.path}"

    def carry_out(self) -> None:
        """Remove it with all that is in it."""
        try:
            shutil.rmtree(self.path)
        except OSError as error:
            raise StepFailed(f"`{self.path}` cannot be removed: {(error.strerror or str(error)).lower()}") from None


@dataclass(frozen=True)
class Command:
    """A command of the host's own."""

    words: tuple[str, ...]

    def shown(self) -> str:
        """As it would be typed."""
        return "run " + " ".join(self.words)

    def carry_out(self) -> None:
        """Run it; raises with its last line where it fails."""
        try:
            done = subprocess.run(
                self.words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_LONGEST_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StepFailed(f"`{self.shown()[4:]}` could not be run: {error}") from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
            raise StepFailed(f"`{self.shown()[4:]}` failed: {said}")


Step = Edit | RemovedFolder | Command


def backup_of(path: Path) -> Path:
    """Where the former content of a file is kept: beside the file itself, where a link leads to it."""
    place = Path(os.path.realpath(path))
    return place.with_name(place.name + BACKUP)


def undone(path: Path, after: bytes | None, *, same: bool) -> list[Step]:
    """Take our entry out of a file: back to its backup, to the letter, where that says the `same` as what is left."""
    backup = backup_of(path)
    if backup.is_file() and same:
        back = Edit(path, backup.read_bytes(), ours=True, said=f"put {path} back as it was")
        return [back, Edit(backup, None, ours=True)]
    said = f"take our entry out of {path}" if after is not None else f"remove {path}, which was ours"
    return [Edit(path, after, ours=True, said=said)]


def summary(steps: Sequence[Step]) -> list[str]:
    """The steps for a person, with many files of ours in one line."""
    own = [step for step in steps if isinstance(step, Edit) and step.ours and step.after is not None and not step.said]
    if len(own) <= _MOST_NAMED:
        return [step.shown() for step in steps]
    folder = os.path.commonpath([step.path for step in own])
    rest = [step.shown() for step in steps if step not in own]
    return [f"write {len(own)} files in {folder}", *rest]


def carry_out(steps: Sequence[Step]) -> None:
    """Make the changes, one after another."""
    for step in steps:
        step.carry_out()


def _replace(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
        new.write(content)
    Path(new.name).chmod(mode)
    Path(new.name).replace(path)
