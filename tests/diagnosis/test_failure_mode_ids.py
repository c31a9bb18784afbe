"""Ids of failure modes: published, and named nowhere unless they exist or are reserved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from traindx.diagnosis.catalog import load_catalog

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = {
    name: specialist
    for specialist, names in yaml.safe_load((ROOT / "prompts" / "failure_mode_ids.yaml").read_text()).items()
    for name in names
}
PAGES = sorted([*(ROOT / "prompts").rglob("*.md"), *(ROOT / "prompts").rglob("*.j2"), *(ROOT / "agents").glob("*.md")])
# Words between backticks that look like an id and are a command, a package or a message of the kernel.
OTHER = {"nvidia-smi", "oom-kill", "nccl-tests", "py-spy", "opencv-python", "scikit-learn", "libstdcxx-ng"}


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_a_page_names_only_ids_that_the_catalog_has(page: Path) -> None:
    """Whoever is sent to an id finds its page: ids that are reserved and not built are promised nowhere."""
    named = set(re.findall(r"`([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`", page.read_text(encoding="utf-8")))
    assert named <= {*load_catalog(), *OTHER, *{path.stem for path in (ROOT / "agents").glob("*.md")}}


def test_every_failure_mode_is_published_for_its_specialist() -> None:
    for mode in load_catalog().values():
        assert PUBLISHED.get(mode.id) == mode.specialist, f"`{mode.id}` is not in prompts/failure_mode_ids.yaml"
