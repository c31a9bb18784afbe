"""Real shells, devices and limits: what a hostile tester would reach for."""

from pathlib import Path

import pytest

from tests.shells import Shell, device, shell_with


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a line of bash in which `traindx` is the command; its temporary files go below `tmp_path`."""
    spool = tmp_path / "spool"
    spool.mkdir()
    return shell_with(spool)


@pytest.fixture
def full_device(tmp_path: Path) -> Path:
    """A device on which there is never any space: a node of our own, so that no test can spoil the system's."""
    return device(tmp_path / "full", 7)


@pytest.fixture
def null_device(tmp_path: Path) -> Path:
    return device(tmp_path / "null", 3)


def spooled(tmp_path: Path) -> list[str]:
    """What a command has left among the temporary files."""
    return [path.name for path in (tmp_path / "spool").iterdir()]
