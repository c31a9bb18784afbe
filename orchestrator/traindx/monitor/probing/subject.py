"""What a probe is let loose on: a script with its arguments, or a function that gives the objects."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from traindx.contract import Value
from traindx.errors import UnreadableInput, UsageError
from traindx.monitor.probing.watching import Bounds


@dataclass(frozen=True)
class Subject:
    """The user's code, and the folder that it needs."""

    folder: Path
    """what is copied"""
    start: Path
    """where it runs, relative to `folder`"""
    script: Path | None = None
    """relative to `folder`"""
    arguments: tuple[str, ...] = ()
    target: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    memory_mb: int = 8192
    network: bool = False

    @property
    def command(self) -> str:
        """What runs, as one would type it."""
        if self.target:
            return f"python -c 'call {self.target}()'"
        inside = Path(*[".."] * len(self.start.parts)) / (self.script or "")
        return shlex.join(["python", str(inside), *self.arguments])


class Request(Value):
    """What the child is told."""

    probe: str
    script: str = ""
    arguments: list[str] = Field(default_factory=list)
    target: str = ""
    bounds: Bounds
    writable: list[str]
    network: bool = False
    result: str
    parent: int
    seed: int | None = None


def subject_of(
    script: str | None,
    target: str | None,
    folder: str | None,
    arguments: tuple[str, ...],
    bounds: Bounds,
    **more: object,
) -> Subject:
    """From what the user typed; raises `UsageError` or `UnreadableInput`."""
    if bool(script) == bool(target):
        raise UsageError("give `--script FILE` or `--target MODULE:FUNCTION`, one of them")
    here = Path.cwd().resolve()
    if target:
        if ":" not in target or not all(target.split(":", 1)):
            raise UsageError(f"`--target` must be MODULE:FUNCTION, not `{target}`")
        root = Path(folder).resolve() if folder else here
        return Subject(root, _start(here, root), None, (), target, bounds, **more)  # type: ignore[arg-type]
    path = Path(script or "")
    if not path.is_file():
        raise UnreadableInput(path, "it is a folder" if path.is_dir() else "there is no such file")
    real = path.resolve()
    root = Path(folder).resolve() if folder else _usual(real, here)
    if root not in real.parents:
        raise UsageError(f"`{path}` does not lie in `{root}`: give the folder that holds it with `--folder`")
    start = _start(here, root) if here == root or root in here.parents else real.parent.relative_to(root)
    return Subject(root, start, real.relative_to(root), arguments, "", bounds, **more)  # type: ignore[arg-type]


def _usual(script: Path, here: Path) -> Path:
    """The folder that one stands in, where the script lies below it; else the script's own."""
    too_wide = {Path(here.anchor), Path.home().resolve()}
    return here if here in script.parents and here not in too_wide else script.parent


def _start(here: Path, root: Path) -> Path:
    return here.relative_to(root) if here == root or root in here.parents else Path()
