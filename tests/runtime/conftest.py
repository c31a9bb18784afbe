"""What the tests of the toolbelt share: a run folder, tools written on the spot, and a look at what is left behind."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt

_TOOL = '''
from __future__ import annotations

{imports}

from pydantic import Field

from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """What is asked."""

    text: str = Field(default="", description="anything")


class Answer(ToolOutput):
    """What is answered."""

    text: str


@tool({options})
def {name}(request: Input, run: Run) -> Answer:
    """Do what the test says."""
{body}
'''

WriteTool = Callable[..., Path]


def tool_source(name: str, body: str, imports: str = "", options: str = "") -> str:
    return _TOOL.format(name=name, body=indent(dedent(body).strip(), "    "), imports=imports, options=options)


@pytest.fixture
def write_tool(tmp_path: Path) -> WriteTool:
    """Writes a tool with the given body into `tools/` of the test's folder."""

    def write(name: str, body: str, imports: str = "", options: str = "") -> Path:
        path = tmp_path / "tools" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(tool_source(name, body, imports, options))
        return path

    return write


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "train.log").write_text("epoch 1 loss 0.5\nepoch 2 loss nan\n")
    return folder


@pytest.fixture
def toolbelt(tmp_path: Path, run_folder: Path) -> Iterator[Toolbelt]:
    """A toolbelt over the run folder; tools must be written before it is asked for."""
    with Toolbelt(Scope.of(run_folder), [tmp_path / "tools"]) as toolbelt:
        yield toolbelt


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file below a folder with its content, mode, owner and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = f"{content} {status.st_mode} {status.st_uid} {status.st_mtime_ns} {status.st_ctime_ns}"
    return found


def workers_of(parent: int) -> set[int]:
    """The worker processes that `parent` started: its number is on their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                dead = "\nState:\tZ" in (entry / "status").read_text()
            except OSError:
                continue
            if not dead and any(b"traindx.worker" in word for word in words) and str(parent).encode() in words:
                found.add(int(entry.name))
    return found


@pytest.fixture(name="fingerprint")
def _fingerprint() -> Callable[[Path], dict[str, str]]:
    return fingerprint


@pytest.fixture(name="workers_of")
def _workers_of() -> Callable[[int], set[int]]:
    return workers_of


@pytest.fixture(scope="session")
def make_tool_source() -> Callable[..., str]:
    return tool_source


@pytest.fixture(autouse=True, scope="module")
def nothing_left_behind() -> Iterator[None]:
    """When the tests of a file are through, every worker they started is gone."""
    before = workers_of(os.getpid())
    yield
    assert workers_of(os.getpid()) == before
