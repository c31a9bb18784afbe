"""Checkpoints that attack their reader: a finding or a clear refusal each, inside the sandbox, and nothing executed."""

from __future__ import annotations

import enum
import io
import json
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.hostile_inputs import PICKLE_BOMBS
from traindx.readers import Run, Scope
from traindx.readers.checkpoints import read_checkpoint, read_weights
from traindx.runtime import Toolbelt

pytestmark = pytest.mark.slow


def header(entries: dict[str, Any], data: bytes = b"") -> bytes:
    raw = json.dumps(entries).encode()
    return len(raw).to_bytes(8, "little") + raw + data


def entry(shape: list[Any], offsets: list[Any], dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def archive(pickled: bytes, compressed: bool = False, **records: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as made:
        made.writestr("m/data.pkl", pickled)
        for name, content in records.items():
            made.writestr(f"m/data/{name.removeprefix('r')}", content)
    return out.getvalue()


def tensor(sizes: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, elements: int = 4) -> bytes:
    """A pickle of one tensor with these numbers, whatever they are."""

    def whole(number: int) -> bytes:
        return b"\x8a\x08" + number.to_bytes(8, "little", signed=True)

    def row(numbers: tuple[int, ...]) -> bytes:
        return b"(" + b"".join(map(whole, numbers)) + b"t"

    storage = (
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + whole(elements)
        + b"tQ"
    )
    built = (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + whole(offset) + row(sizes) + row(strides) + b"\x89Nt" + b"R"
    )
    return b"\x80\x02}X\x08\x00\x00\x00a.weight" + built + b"s."


def saved(value: object) -> bytes:
    out = io.BytesIO()
    torch.save(value, out)
    return out.getvalue()


def quantised() -> bytes:
    with warnings.catch_warnings(action="ignore"):  # torch means to give them up; old files stay
        made = torch.quantize_per_tensor(torch.randn(8, 8), 0.1, 3, torch.qint8)
    return saved({"a.weight": made, "b.weight": torch.randn(3, 3)})


def sparse() -> bytes:
    return saved({"a.weight": torch.eye(50).to_sparse(), "b.weight": torch.randn(3, 3)})


FILES: dict[str, Callable[[], bytes]] = {
    "bomb in the pickle": lambda: archive(b"\x80\x02" + b"0" * (80 << 20), compressed=True),
    "bomb in a storage": lambda: archive(tensor((4,), (1,)), compressed=True, r0=bytes(200 << 20)),
    "negative sizes": lambda: archive(tensor((-5, 3), (3, 1)), r0=bytes(16)),
    "negative offset": lambda: archive(tensor((4,), (1,), -7), r0=bytes(16)),
    "offset beyond the end": lambda: archive(tensor((4,), (1,), 1 << 40), r0=bytes(16)),
    "a tensor of exabytes": lambda: archive(tensor((1 << 40, 1 << 40), (1 << 40, 1), elements=1 << 60), r0=bytes(16)),
    "strides of nought": lambda: archive(tensor((1 << 20, 1 << 20), (0, 0)), r0=bytes(16)),
    "header of exabytes": lambda: struct.pack("<Q", 1 << 62) + b'{"a"',
    "shape of exabytes": lambda: header({"a": entry([1 << 47, 1 << 47], [0, 16])}, bytes(16)),
    "negative shape": lambda: header({"a": entry([-1, 4], [0, 16])}, bytes(16)),
    "offsets backwards": lambda: header({"a": entry([4], [16, 0])}, bytes(16)),
    "offsets that are text": lambda: header({"a": entry(["x"], ["0", None])}, bytes(16)),
    "overlapping tensors": lambda: header({f"t{n}": entry([4], [0, 16]) for n in range(1000)}, bytes(16)),
    "nested header": lambda: header({}) [:8] + b'{"a":' + b"[" * 100_000,
    "quantised": quantised,
    "sparse": sparse,
    **{f"pickle of {name}": partial(bytes, content) for name, content in PICKLE_BOMBS.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_it_is_looked_at_and_the_worker_lives(name: str, tmp_path: Path) -> None:
    ending = "safetensors" if FILES[name]()[8:9] == b"{" else "pt"
    (tmp_path / f"model.{ending}").write_bytes(FILES[name]())
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        result = toolbelt.call("inspect_checkpoint")
        counted = toolbelt.call("count_parameters")
    assert result.status == "ok", result.reason
    assert counted.status in {"ok", "no_data"}, counted.reason


@pytest.mark.parametrize(
    "name", ["header of exabytes", "shape of exabytes", "negative shape", "offsets backwards", "offsets that are text"]
)
def test_absurd_headers_are_damage(name: str, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(FILES[name]())
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        result = toolbelt.call("inspect_checkpoint")
    assert [signal.id for signal in result.signals] == ["checkpoint-damaged"]


def test_a_million_tiny_tensors_are_bounded() -> None:
    many = {f"t{n}.weight": entry([1], [4 * n, 4 * n + 4]) for n in range(300_000)}
    content = header(many, bytes(4 * len(many)))
    handle = io.BytesIO(content)
    described, _ = read_checkpoint(handle, "model.safetensors")
    assert 0 < len(described.tensors) <= 200_001
    assert read_weights(handle, described).tensors <= 200_001


class Runs:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, how: str) -> None:
        self.how = how

    def __reduce__(self) -> tuple[Any, ...]:
        import os
        import subprocess

        return {
            "system": (os.system, ("touch MARKER",)),
            "popen": (subprocess.Popen, (["touch", "MARKER"],)),
            "eval": (eval, ("open('MARKER', 'w')",)),
            "exec": (exec, ("open('MARKER', 'w')",)),
            "import": (__import__, ("antigravity",)),
        }[self.how]


@pytest.mark.parametrize("how", ["system", "popen", "eval", "exec", "import"])
@pytest.mark.parametrize("name", ["model.pt", "model.pkl", "data/samples.pkl", "optimizer.bin"])
def test_code_is_named_and_never_run(how: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(
        saved({"w": torch.randn(2, 2), "x": Runs(how)}) if name == "model.pt" else pickle.dumps([Runs(how)])
    )
    run = Run(Scope.of(tmp_path / "run"))
    commands = [call for row in (*run.checkpoints, *run.pickles) for call in row.commands]
    assert len(commands) == 1
    with Toolbelt(Scope.of(tmp_path / "run")) as toolbelt:
        result = toolbelt.call("inspect_checkpoint")
    assert [signal.id for signal in result.signals] == ["checkpoint-runs-code"]
    assert not list(tmp_path.rglob("MARKER"))


class Kind(enum.Enum):
    """An enum, which some versions of Python pickle by `getattr`."""

    A = 1


def test_everyday_pickles_are_no_attack(tmp_path: Path) -> None:
    import argparse
    import datetime
    import pathlib

    held = {
        "args": argparse.Namespace(lr=0.1, out=pathlib.PurePosixPath("runs")),
        "when": datetime.datetime(2026, 1, 1),
        "kind": Kind.A,
        "model": {"w.weight": torch.randn(2, 2)},
        "cut": slice(1, 2),
    }
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(held))
    torch.save(held, tmp_path / "last.pt")
    run = Run(Scope.of(tmp_path))
    assert [call for row in (*run.checkpoints, *run.pickles) for call in row.commands] == []
