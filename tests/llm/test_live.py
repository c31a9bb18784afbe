"""`benchmarks/live.py` runs a labelled folder with whatever speaks the Messages protocol."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.kit import Serve, is_sceptic
from tests.llm.minds import Honest, agreeing, opening
from traindx.evaluation.case import find_cases
from traindx.testing import Received, Turn

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = ("lit-clip", "lit-clip-healthy")


def test_it_prints_before_after_and_alone(served: Serve) -> None:
    by_message = {case.truth.message: case for case in find_cases(BENCHMARKS / "corpus") if case.name in NAMES}

    def act(request: Received) -> Turn:
        said = re.search(r'^The user says: (".*")$', opening(request), re.M)
        assert said is not None
        return Honest(by_message[json.loads(said[1])])(request)

    server = served(act, forever=True)
    server.script(agreeing, when=is_sceptic, forever=True)
    shown = subprocess.run(
        [sys.executable, str(BENCHMARKS / "live.py"), str(BENCHMARKS / "corpus"), "--only", *NAMES],
        check=True, capture_output=True, text=True,
        env={**os.environ, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "test-key"},
    ).stdout  # fmt: skip
    assert "failing: first cause right: local alone 1 of 1 | model before 1 of 1 | after 1 of 1" in shown
    assert "healthy: no alarm: local alone 1 of 1 | model before 1 of 1 | after 1 of 1" in shown
    assert re.search(r"turns: median 1; tokens: [\d,]{5,7}; \$0\.\d\d", shown)
    assert "citations refused: 0 of 1; sentences changed: 0 of 1" in shown
