"""Which files are the model, the loop, the data and the entry point, found by content and by following imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers import Run, Scope
from traindx.readers.code.codebase import read_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.coverage import Covered, Limits

MODEL = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
DATA = "from torch.utils.data import Dataset\nclass Rows(Dataset):\n    def __getitem__(self, i):\n        return i\n"
LOOP = "def fit_one(model, opt, batch):\n    loss = model(batch)\n    loss.backward()\n    opt.step()\n"


def _units(folder: Path, files: dict[str, str]) -> tuple[dict[str, CodeUnit], list[str]]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    run = Run(Scope.of(folder))
    units, remarks = read_code(run.scope, run.files)
    return {unit.path: unit for unit in units}, remarks


def test_a_package_is_followed_from_its_entry_point(tmp_path: Path) -> None:
    units, remarks = _units(
        tmp_path,
        {
            "train.py": "from proj.models import Net\nfrom proj import data\nimport proj.engine.loop as loop\n"
            "if __name__ == '__main__':\n    main()\n",
            "proj/__init__.py": "",
            "proj/models/__init__.py": "from .net import Net\n",
            "proj/models/net.py": MODEL,
            "proj/data.py": DATA,
            "proj/engine/loop.py": LOOP,
            "proj/settings.py": "LR = 0.1\nBATCH = 32\nSEED = 1\n",
            "old/net.py": MODEL,
            "tests/test_net.py": "import torch\n",
        },
    )
    assert remarks == []
    assert {path: sorted(unit.roles) for path, unit in units.items() if unit.reached} == {
        "train.py": ["entry-point"],
        "proj/__init__.py": ["utility"],
        "proj/models/__init__.py": ["utility"],
        "proj/models/net.py": ["model"],
        "proj/data.py": ["data-pipeline"],
        "proj/engine/loop.py": ["training-loop"],
    }
    assert units["proj/settings.py"].roles == {"config"}
    assert units["tests/test_net.py"].roles == {"test"}
    assert not units["old/net.py"].reached


def test_a_flat_script_that_nobody_imports_is_an_entry_point(tmp_path: Path) -> None:
    units, _ = _units(
        tmp_path, {"go.py": "import net\nfor x in y:\n    loss.backward()\n", "net.py": MODEL + "print(1)\n"}
    )
    assert units["go.py"].roles == {"entry-point", "training-loop"}
    assert units["net.py"].roles == {"model"}
    assert units["net.py"].reached


def test_a_launch_script_names_the_entry_point(tmp_path: Path) -> None:
    files = {
        "run.sh": "#!/bin/bash\ntorchrun --nproc 8 -m src.pre.go --lr 1\n",
        "src/pre/go.py": "import deep\n",
        "src/deep.py": MODEL,
    }
    units, _ = _units(tmp_path, files)
    assert units["src/pre/go.py"].reached
    assert units["src/deep.py"].reached


def test_a_notebook_is_code_with_lines_of_its_own(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["import net\n", "!nvidia-smi"], "outputs": [], "execution_count": 1},
        {"cell_type": "code", "source": ["what is this ?"], "outputs": [], "execution_count": None},
        {"cell_type": "code", "source": ["for b in d:\n", "    loss.backward()"], "outputs": [], "execution_count": 2},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    units, _ = _units(tmp_path, {"train.ipynb": text, "net.py": MODEL})
    unit = units["train.ipynb"]
    assert "training-loop" in unit.roles
    assert units["net.py"].reached
    loop = unit.tree.body[-1]
    assert "for b in d:" in text.split("\n")[unit.file_line(loop.lineno) - 1]


def test_a_large_repository_is_read_from_its_entry_point_within_bounds(tmp_path: Path) -> None:
    files = {f"lib/part{n}/mod{n}.py": "x = 1\n" for n in range(300)}
    files |= {"zz/go.py": "from lib.part250 import mod250\nif __name__ == '__main__':\n    f()\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    run = Run(Scope.of(tmp_path))
    found, remarks = read_code(run.scope, run.files, most_bytes=180)
    units = {unit.path: unit for unit in found}
    assert units["lib/part250/mod250.py"].reached
    assert len(units) < 30
    assert remarks == [f"{len(units)} of 301 code files were read: entry points and their imports first"]


@pytest.mark.slow
def test_every_file_of_a_large_repository_is_read(tmp_path: Path) -> None:
    for n in range(3_000):
        body = "optimizer.zero_grad\n" if n == 2_500 else "import torch\n\n\ndef f(x):\n    return torch.relu(x)\n"
        (tmp_path / f"mod{n}.py").write_text(body)
    run = Run(Scope.of(tmp_path))
    assert len(run.code) == 3_000
    assert Covered("code files", "files", 3_000, 3_000) in run.coverage
    assert not run.remarks
    hurried = Run(Scope.of(tmp_path), limits=Limits(seconds=0.0))
    assert not hurried.code
    assert Covered("code files", "files", 0, 3_000) in hurried.coverage


def test_broken_code_and_circles_of_imports(tmp_path: Path) -> None:
    units, remarks = _units(tmp_path, {"a.py": "import b\nf()\n", "b.py": "import a\nimport b\n", "c.py": "def (:\n"})
    assert set(units) == {"a.py", "b.py"}
    assert "`c.py`" in remarks[0]


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=300), st.text(alphabet="import from.\nx()*", max_size=60).map(str.encode)))
def test_no_bytes_make_reading_code_fail(tmp_path: Path, content: bytes) -> None:
    for name in ("train.py", "x.ipynb", "run.sh", "pkg/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    run = Run(Scope.of(tmp_path))
    read_code(run.scope, run.files)
