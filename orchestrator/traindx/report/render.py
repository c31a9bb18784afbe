"""One name per format: the terminal and JSON are built in, every template is another.

A template is `prompts/report/NAME.md.j2` (any ending before `.j2`), or `.traindx/reports/NAME.txt.j2` of a project; it
is given `diagnosis` and `title`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traindx.contract import ContextPackage, Diagnosis
from traindx.definitions.content import PROMPTS
from traindx.errors import UnknownName

BUILT_IN = ("terminal", "json")
FOLDER = PROMPTS / "report"


@dataclass(frozen=True)
class Page:
    """How the reader sees: columns, colour, and whether every detail is wanted."""

    width: int = 80
    color: bool = False
    verbose: bool = False


def templates(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """The formats that are templates, ours first, by name."""
    found: dict[str, Path] = {}
    for folder in (FOLDER, *folders):
        for path in sorted(folder.glob("[!_.]*.j2")):
            found.setdefault(path.name.split(".")[0], path)
    return found


def check_format(form: str, folders: Sequence[Path] = ()) -> None:
    """Raise `UnknownName` for a format that there is not."""
    known = [*BUILT_IN, *templates(folders)]
    if form not in known:
        raise UnknownName("format", form, known)


def render(
    diagnosis: Diagnosis,
    form: str = "terminal",
    page: Page | None = None,
    title: str = "",
    folders: Sequence[Path] = (),
) -> str:
    """The diagnosis as text, ending in a newline; `folders` hold a project's own templates."""
    if form == "json":
        return diagnosis.model_dump_json(indent=2) + "\n"
    if form == "terminal":
        from traindx.report.terminal import as_text

        return as_text(diagnosis, page or Page(), title)
    check_format(form, folders)
    from traindx.report.template import as_document

    return as_document(templates(folders)[form], diagnosis, title)


def render_context(package: ContextPackage, form: str = "terminal", page: Page | None = None) -> str:
    """The context package as text, ending in a newline."""
    if form == "json":
        return package.model_dump_json(indent=2) + "\n"
    from traindx.report.package import as_text

    return as_text(package, page or Page())
