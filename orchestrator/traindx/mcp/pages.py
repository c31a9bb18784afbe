"""Resources: the failure modes, the last diagnosis and its pictures."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from traindx.contract import Diagnosis
from traindx.errors import TraindxError
from traindx.mcp.offer import Kept

SCHEME = "traindx://"
MODES = f"{SCHEME}failure-modes"
FAILURE_MODE = f"{MODES}/{{id}}"
LAST = f"{SCHEME}diagnosis/last"
PICTURES = {f"{LAST}/loss-curve.png": ("png", "image/png"), f"{LAST}/loss-curve.svg": ("svg", "image/svg+xml")}
MARKDOWN, JSON = "text/markdown", "application/json"


class NoSuchPage(TraindxError):
    """There is no such resource, or nothing to show in it yet."""


@dataclass(frozen=True)
class Listed:
    """A resource as it is listed."""

    uri: str
    name: str
    title: str
    mime: str


@dataclass(frozen=True)
class Opened:
    """A resource's content."""

    mime: str
    content: str | bytes


def listed(kept: Kept) -> list[Listed]:
    """What can be read now: the diagnosis only once there is one."""
    rows = [Listed(MODES, "failure modes", "Every failure mode in one line", MARKDOWN)]
    if kept.diagnosis is not None:
        rows.append(Listed(LAST, "last diagnosis", "The last diagnosis, whole", JSON))
        rows += [Listed(uri, "loss curve", f"Its loss curve as {form}", mime) for uri, (form, mime) in PICTURES.items()]
    return rows


def opened(uri: str, kept: Kept) -> Opened:
    """The content of a resource; raises `NoSuchPage` with the reason."""
    if uri == MODES:
        from traindx.diagnosis.catalog import load_catalog

        rows = [f"- `{mode.id}`: {mode.title}" for mode in load_catalog().values()]
        return Opened(MARKDOWN, "\n".join(["# Failure modes", "", *rows, ""]))
    if uri.startswith(f"{MODES}/"):
        return Opened(MARKDOWN, _mode(uri.removeprefix(f"{MODES}/")))
    if uri == LAST:
        return Opened(JSON, _last(kept).model_dump_json(indent=2))
    if uri in PICTURES:
        _last(kept)
        return _picture(uri, kept)
    raise NoSuchPage(f"there is no resource `{uri[:200]}`; `resources/list` names those there are")


def _mode(name: str) -> str:
    from traindx.diagnosis.catalog import load_catalog
    from traindx.errors import UnknownName

    catalog = load_catalog()
    if name not in catalog:
        raise NoSuchPage(str(UnknownName("failure mode", name[:100], catalog)))
    mode = catalog[name]
    return f"# {mode.id}\n\n{mode.title} (severity {mode.severity}, {mode.specialist})\n\n{mode.body.strip()}\n"


def _last(kept: Kept) -> Diagnosis:
    if kept.diagnosis is None:
        raise NoSuchPage("nothing has been diagnosed yet: call `diagnose` first")
    return kept.diagnosis


def _picture(uri: str, kept: Kept) -> Opened:
    """Drawn when it is asked for, by the sandboxed worker; nothing is written."""
    from traindx.pipeline.inputs import open_run

    form, mime = PICTURES[uri]
    assert kept.run is not None  # noqa: S101 - set with the diagnosis
    with open_run(kept.run) as run:
        result = run.toolbelt.call("visualize_loss_curve", {"format": form})
    if result.status != "ok":
        raise NoSuchPage(f"there is no curve to draw: {result.reason}")
    drawn = result.output["pictures"][form]
    return Opened(mime, base64.b64decode(drawn) if form == "png" else drawn)
