"""The files that probes keep their answers in."""

from __future__ import annotations

import re

NAME = re.compile(r"(?:^|/)traindx-probe-[\w.-]+\.json$")


def file_name(probe: str) -> str:
    """What the file of a probe is called so that a diagnosis finds it."""
    return f"traindx-probe-{probe}.json"
