"""A job that was started again in the same log: the last attempt is judged unless the message says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.api import diagnose

HEAD = "Loading data from /data\nNamespace(lr=0.1, epochs=10)\nmodel has 12,000 parameters\n"
DIED = (
    'Traceback (most recent call last):\n  File "train.py", line 10, in <module>\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
)


def _records(count: int) -> str:
    return "".join(f"step {at} loss {0.5 + 4.5 * 0.9**at:.4f}\n" for at in range(count))


@pytest.mark.slow
def test_an_earlier_error_is_not_the_last_ones_cause(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(HEAD + _records(40) + DIED + HEAD + _records(60))
    last = diagnose(tmp_path)
    assert last.status == "healthy"
    assert any("2 attempts" in note and "the last" in note for note in last.provenance.notes)
    first = diagnose(tmp_path, "why did the first attempt die?")
    assert first.root_causes[0].id == "cuda-out-of-memory"
    assert any("number 1" in note for note in first.provenance.notes)
