"""One home per fact: error texts, aliases and file magic stand once, everything else asks."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "orchestrator" / "traindx"
SOURCES = sorted([*ENGINE.rglob("*.py"), *(ROOT / "tools").glob("*.py")])

# fact, its home, and who may say it for another reason
FACTS = [
    (r"PK\x03\x04", "vocabulary/file_magic.py", ()),
    (r"\x1f\x8b", "vocabulary/file_magic.py", ()),
    (r"\x93NUMPY", "vocabulary/file_magic.py", ()),
    (r"\x89HDF", "vocabulary/file_magic.py", ()),
    ("SQLite format 3", "vocabulary/file_magic.py", ()),
    ("git-lfs", "vocabulary/file_magic.py", ()),
    ('"learning_rate"', "vocabulary/settings.py", ()),
    ('"num_epochs"', "vocabulary/settings.py", ()),
    ("max_grad_norm|", "vocabulary/settings.py", ("pipeline/request/mentions.py",)),  # what people say, not a key
    ("CUDA out of memory|", "", ()),
    ("OutOfMemoryError", "", ()),
    ("RESOURCE_EXHAUSTED", "", ()),
    ("No space left", "", ("readers/logs/errors.py",)),  # a filter over bytes before lines are taken apart
    ("Segmentation fault", "", ()),
    ("slurmstepd: error:", "", ()),
    ("DUE TO TIME LIMIT", "", ()),
]


@pytest.mark.parametrize(("fact", "home", "also"), FACTS, ids=[fact for fact, _, _ in FACTS])
def test_a_fact_has_one_home(fact: str, home: str, also: tuple[str, ...]) -> None:
    """Without a home in code the fact stands in a data file under `prompts/`."""
    places = {
        path.relative_to(ENGINE).as_posix() if ENGINE in path.parents else path.name
        for path in SOURCES
        if fact in path.read_text(encoding="utf-8")
    }
    assert places <= {home, *also}


def test_texts_of_errors_stand_under_prompts() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "prompts" / "error_patterns").glob("*.yaml"))
    for fact, home, _ in FACTS:
        assert home or fact.rstrip("|") in texts
