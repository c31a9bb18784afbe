"""The shares of a model's parameters as a picture."""

from __future__ import annotations

import base64
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope

CODE = """
from torch import nn

embedding = nn.Embedding(9000, 64)
encoder = nn.Linear(64, 64)
head = nn.Linear(64, 10)
"""


@pytest.mark.parametrize("name", ["count_parameters", "analyze_architecture"])
def test_bars_are_drawn_when_asked_for(name: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(CODE)
    tool = load(name)
    assert call(tool, Run(Scope.of(tmp_path))).pictures == {}
    pictures = call(tool, Run(Scope.of(tmp_path)), format="both").pictures
    picture = ET.fromstring(pictures["svg"])  # noqa: S314 (our own text)
    bars = [one for one in picture.iter() if one.tag.endswith("rect")]
    assert len(bars) >= 2
    assert float(bars[0].get("width", 0)) == max(float(one.get("width", 0)) for one in bars)
    assert base64.b64decode(pictures["png"])[:8] == b"\x89PNG\r\n\x1a\n"
