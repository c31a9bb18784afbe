"""One function per document, one name per format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from traindx.contract import ContextPackage, Diagnosis

FORMATS = ("terminal", "markdown", "json")


@dataclass(frozen=True)
class Page:
    """How the reader sees: columns, colour, and whether every detail is wanted."""

    width: int = 80
    color: bool = False
    verbose: bool = False


def render(diagnosis: Diagnosis, form: str = "terminal", page: Page | None = None, title: str = "") -> str:
    """The diagnosis as text, ending in a newline."""
    return _WAYS[form](diagnosis, page or Page(), title)


def render_context(package: ContextPackage, form: str = "terminal", page: Page | None = None) -> str:
    """The context package as text, ending in a newline."""
    if form == "json":
        return package.model_dump_json(indent=2) + "\n"
    from traindx.report.package import as_text

    return as_text(package, page or Page())


def _terminal(diagnosis: Diagnosis, page: Page, title: str) -> str:
    from traindx.report.terminal import as_text

    return as_text(diagnosis, page, title)


def _markdown(diagnosis: Diagnosis, page: Page, title: str) -> str:  # noqa: ARG001 - one signature for every form
    from traindx.report.markdown import as_markdown

    return as_markdown(diagnosis, title)


def _json(diagnosis: Diagnosis, page: Page, title: str) -> str:  # noqa: ARG001 - one signature for every form
    return diagnosis.model_dump_json(indent=2) + "\n"


_WAYS: dict[str, Callable[[Diagnosis, Page, str], str]] = {
    "terminal": _terminal,
    "markdown": _markdown,
    "json": _json,
}
