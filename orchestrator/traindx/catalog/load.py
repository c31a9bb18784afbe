"""Reading the catalog; a wrong file is named with its line."""

from __future__ import annotations

import re
from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from traindx import frontmatter
from traindx.catalog.mode import HEADINGS, Evidenced, FailureMode
from traindx.content import PROMPTS
from traindx.errors import DefinitionError, did_you_mean

FOLDER = PROMPTS / "failure_modes"


def load_catalog(folder: Path = FOLDER) -> dict[str, FailureMode]:
    """Every failure mode by id; raises `DefinitionError` at the first wrong file."""
    modes = {path.stem: _load(path) for path in sorted(folder.glob("*.md"))}
    for mode in modes.values():
        for follower in mode.leads_to:
            if follower not in modes:
                path = folder / f"{mode.id}.md"
                raise DefinitionError(path, 1, f"`leads_to` names `{follower}`.{did_you_mean(follower, modes)}")
    try:
        TopologicalSorter({mode.id: mode.leads_to for mode in modes.values()}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise DefinitionError(
            folder / f"{circle[0]}.md", 1, f"`leads_to` runs in a circle: {' -> '.join(circle)}"
        ) from None
    return modes


def load_healthy() -> Evidenced:
    """What speaks for a healthy run, in the same terms as what speaks for a failure."""
    return frontmatter.parse(PROMPTS / "healthy.md").into(Evidenced)


def check_signals(modes: Collection[Evidenced], vocabulary: Collection[str], folder: Path = FOLDER) -> None:
    """Raise `DefinitionError` for a signal that no tool declares."""
    for mode in modes:
        for signal in mode.signals:
            if signal not in vocabulary:
                path = folder / f"{mode.id}.md"
                parsed = frontmatter.parse(path)
                hint = did_you_mean(signal, vocabulary)
                raise DefinitionError(
                    path, parsed.line(("signals", signal)), f"no tool emits the signal `{signal}`.{hint}"
                )


def _load(path: Path) -> FailureMode:
    parsed = frontmatter.parse(path)
    mode = parsed.into(FailureMode)
    if mode.id != path.stem:
        raise parsed.error("id", f"`id: {mode.id}` and the file name `{path.name}` differ")
    headings = tuple(re.findall(r"^## (.+?)\s*$", parsed.body, re.MULTILINE))
    if headings != HEADINGS:
        wrong = next((name for name in headings if name not in HEADINGS), None)
        said = f"has the heading `{wrong}`" if wrong else f"has {len(headings)} headings"
        raise DefinitionError(path, parsed.body_line, f"{said}; the headings are, in this order: {', '.join(HEADINGS)}")
    return mode.model_copy(update={"body": parsed.body})
