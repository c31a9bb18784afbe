"""A review of code: for people, as JSON, as SARIF, and as annotations on GitHub."""

from __future__ import annotations

import json
import textwrap

from traindx.definitions.version import __version__
from traindx.definitions.visible import visible
from traindx.pipeline.review import Review, Reviewed
from traindx.report.render import Page

FORMATS = ("text", "json", "sarif", "github")
_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_review(review: Review, form: str, page: Page) -> str:
    """The review in one of the formats."""
    if form == "json":
        return review.model_dump_json(indent=2) + "\n"
    if form == "sarif":
        return json.dumps(_sarif(review), indent=2) + "\n"
    if form == "github":
        return "".join(_annotation(one) for one in review.findings)
    return _text(review, page)


def _text(review: Review, page: Page) -> str:
    rows = []
    for one in review.findings:
        rows.append(f"{one.place}: {one.rule} ({one.severity}, {one.confidence:.2f})")
        rows += textwrap.wrap(visible(one.claim), page.width - 4, initial_indent="    ", subsequent_indent="    ")
        rows.append(f"    | {visible(one.quote)}"[: page.width])
        rows += textwrap.wrap(f"Fix: {one.fix}", page.width - 4, initial_indent="    ", subsequent_indent="    ")
        rows += [f"      {line}" for line in visible(one.diff).splitlines()] if one.diff else []
        rows.append("")
    count = len(review.findings)
    files = f"{review.files} file{'s' if review.files != 1 else ''}"
    rows.append(f"{count} finding{'s' if count != 1 else ''} in {files}." if count else f"No findings in {files}.")
    if not review.whole:
        rows.append("Some programs are too large to be followed to their end.")
    return "\n".join(rows) + "\n"


def _sarif(review: Review) -> dict[str, object]:
    rules = sorted({one.rule for one in review.findings})
    results = [
        {
            "ruleId": one.rule,
            "level": _LEVELS[one.severity] if one.confidence >= 0.7 else "note",
            "message": {"text": f"{one.claim}. {one.fix}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": one.path},
                        "region": {"startLine": max(1, one.line)},
                    }
                }
            ],
            "properties": {"confidence": one.confidence},
        }
        for one in review.findings
    ]
    driver = {"name": "traindx", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _annotation(one: Reviewed) -> str:
    level = _LEVELS[one.severity] if one.confidence >= 0.7 else "note"
    kind = {"error": "error", "warning": "warning", "note": "notice"}[level]
    said = f"{one.claim}. {one.fix}".replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    path = one.path.replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    return f"::{kind} file={path},line={one.line},title={one.rule}::{said}\n"
