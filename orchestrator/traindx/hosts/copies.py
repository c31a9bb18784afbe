"""Folders of ours that a host reads, kept as they are here."""

from __future__ import annotations

from pathlib import Path

from traindx.hosts.steps import Edit, Step


def copied(source: Path, target: Path) -> list[Step]:
    """The steps that make `target` hold the files of `source`; none for files that it holds already."""
    steps: list[Step] = []
    wanted = {path.relative_to(source): path.read_bytes() for path in _files(source)}
    for name, content in wanted.items():
        place = target / name
        if not place.is_file() or place.read_bytes() != content:
            steps.append(Edit(place, content, ours=True))
    steps += [Edit(path, None, ours=True) for path in _files(target) if path.relative_to(target) not in wanted]
    return steps


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
