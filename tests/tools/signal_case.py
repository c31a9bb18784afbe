"""A case for a signal: small real files, the tool that reads them, what it must say and what it must not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData

Files = Mapping[str, str | bytes | Callable[[], bytes]]


@dataclass(frozen=True)
class Case:
    """One folder; a function writes a file when the test runs. `silent` names what nearly applies, and does not."""

    tool: str
    name: str
    files: Files
    fires: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        return f"{self.tool}: {self.name}"


def case(tool: str, name: str, files: Files, fires: str = "", silent: str = "") -> Case:
    """The signals as words, to keep tables readable."""
    return Case(tool, name, files, frozenset(fires.split()), frozenset(silent.split()))


def check(found: Case, folder: Path) -> None:
    """Write the files, ask the tool, and compare; every claim has words and every citation stands in its file."""
    assert found.fires or found.silent
    heard = _heard(found, folder)
    assert not found.fires - heard, f"missing; heard {sorted(heard)}"
    assert not found.silent & heard


def _heard(found: Case, folder: Path) -> set[str]:
    for name, content in found.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        written = content() if callable(content) else content
        (folder / name).write_bytes(written if isinstance(written, bytes) else written.encode())
    tool = load(found.tool)
    try:
        output = call(tool, Run(Scope.of(folder)))
    except NoData:
        return set()
    for signal in output.signals:
        assert signal.id in tool.emits
        assert signal.claim
        for place in signal.citations:
            if place.locator.startswith("line "):
                line = int(place.locator.removeprefix("line ").split(",")[0])
                assert place.quote in (folder / place.source).read_bytes().decode().split("\n")[line - 1]
            assert (folder / place.source).is_file()
    return {signal.id for signal in output.signals}


def table(axis: str = "epoch", every: int = 1, /, **columns: Sequence[float]) -> dict[str, str]:
    """A metrics table with one row an epoch, or one every so many steps."""
    rows = zip(*columns.values(), strict=True)
    body = "\n".join(f"{number * every},{','.join(map(str, row))}" for number, row in enumerate(rows, 1))
    return {"metrics.csv": f"{axis},{','.join(columns)}\n{body}\n"}


def falling(points: int = 30, floor: float = 0.3, noise: float = 0.01, start: float = 2.0) -> list[float]:
    """A curve that learns: from `floor + start` to near its floor."""
    wobble = np.random.default_rng(0).normal(0, noise, points)
    curve: list[float] = (floor + start * np.exp(-5 * np.arange(points) / points) + wobble).round(6).tolist()
    return curve


def broken(points: int = 30, at: int = 18, by: float = 3.0) -> list[float]:
    """A curve that learns, and stands higher by so much from one point on."""
    return [value + (by if index >= at else 0.0) for index, value in enumerate(falling(points))]


def lost(points: int, tail: Sequence[float] = (), nans: int = 5) -> list[float]:
    """A curve that learns, goes through `tail`, and is NaN from there on."""
    return [*falling(points), *tail, *[float("nan")] * nans]


HEAD = "import torch\nfrom torch import nn\n\n\n"


def script(body: str) -> dict[str, str]:
    return {"train.py": HEAD + body + "\n"}


def trained(script: str, **columns: list[float]) -> dict[str, str]:
    return {"train.py": "import torch\nimport torch.nn as nn\n" + script, **table(loss=falling(), **columns)}


def log(lines: list[str]) -> dict[str, str]:
    return {"train.log": "\n".join(lines) + "\n"}


def losses(points: int = 30, after: str = "") -> list[str]:
    return [f"epoch {n} loss {value:.4f}" for n, value in enumerate(falling(points), 1)] + ([after] if after else [])


def wobble(points: int, size: float = 0.01) -> np.ndarray:
    return np.random.default_rng(7).normal(0, size, points)


def jumped(back: float) -> list[float]:
    """Learns, jumps at the fortieth of eighty points, and comes back within about `back` points."""
    level = np.array(falling(80, 0.2, 0.005))
    level[40:] += 1.5 * np.exp(-np.arange(40) / back)
    return [round(float(value), 5) for value in level]
