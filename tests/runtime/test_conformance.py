"""Every tool in `tools/` describes itself, refuses bad input clearly and changes nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt, tool_names

LOG = "".join(f"epoch {epoch} step {epoch * 100} loss {2.3 / epoch:.4f} lr 0.001\n" for epoch in range(1, 30))
EXAMPLE = {
    "train.log": LOG + 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: odd\n',
    "metrics.csv": "step,loss\n" + "".join(f"{step},{1 / step}\n" for step in range(1, 40)),
    "config.json": '{"lr": 0.001, "optimizer": "adam"}\n',
    "train.py": "import torch\nmodel = torch.nn.Linear(2, 2)\nfor step in range(3):\n    model(torch.ones(2))\n",
}
# What a required field is given; any other gets the text of `path`.
SAMPLES: dict[str, object] = {"path": "train.log", "pattern": "loss"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Toolbelt]]:
    folder = tmp_path_factory.mktemp("conformance") / "run"
    folder.mkdir()
    for name, text in EXAMPLE.items():
        (folder / name).write_text(text)
    with Toolbelt(Scope.of(folder)) as toolbelt:
        yield folder, toolbelt
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", tool_names())
@pytest.mark.slow
def test_a_tool_keeps_to_the_rules(
    name: str, run: tuple[Path, Toolbelt], fingerprint: Callable[[Path], dict[str, str]]
) -> None:
    folder, toolbelt = run
    before = fingerprint(folder)
    specs = toolbelt.specs()
    assert not toolbelt.problems
    spec = specs[name]
    fields = spec.input_schema.get("properties", {})
    assert len(spec.description) > 20
    assert not [field for field, schema in fields.items() if not schema.get("description")]
    assert all(re.fullmatch(r"[a-z0-9-]+", signal) and meaning for signal, meaning in spec.emits.items())

    refused = toolbelt.call(name, {"no_such_field": 1})
    assert refused.status == "failed"
    assert "there is no field `no_such_field`" in refused.reason or "pip install" in refused.reason

    given = {field: SAMPLES.get(field, SAMPLES["path"]) for field in spec.input_schema.get("required", [])}
    result = toolbelt.call(name, given, timeout=20.0)
    assert not re.match(r"\w+(Error|Exception)\b", result.reason), result.reason
    assert (result.status == "ok") == bool(result.output)
    assert {signal.id for signal in result.signals} <= set(spec.emits)
    assert fingerprint(folder) == before
