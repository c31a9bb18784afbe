"""The context package and the leads in few words, for a reader who pays by the token."""

from __future__ import annotations

import json
from collections.abc import Sequence

from traindx.brain.interface import Findings
from traindx.contract import ContextPackage, SeriesSummary, Signal

MOST_SERIES, MOST_SETTINGS, MOST_ERRORS, MOST_PATHS, MOST_LEADS, MOST_PLACES = 60, 150, 25, 60, 40, 4


def package_text(context: ContextPackage) -> str:
    """Files by role, series, settings, errors, checkpoints, data, and what is missing: one row each."""
    roles = [(role, paths) for role, paths in context.artifacts.model_dump().items() if role != "error_messages"]
    parts = [
        f"run: {context.run}",
        _rows("files", [f"{role}: {', '.join(_some(paths, MOST_PATHS))}" for role, paths in roles if paths], 10),
        _rows("series", [_series(row) for row in context.series if not row.duplicate_of], MOST_SERIES),
        _rows("settings", _settings(context), MOST_SETTINGS),
        _rows("errors and warnings", [f"{r.source}:{r.line} [{r.kind}] {r.text}" for r in context.errors], MOST_ERRORS),
        _rows(
            "checkpoints",
            [
                f"{r.path}: {r.format}, {r.tensors} tensors, {r.parameters} parameters {dict(r.scalars) or ''}"
                f"{' UNSAFE ' + ', '.join(r.unsafe) if r.unsafe else ''}"
                for r in context.checkpoints
            ],
            20,
        ),
        _rows("data", [f"{row.path}: {row.what}" for row in context.data], 20),
        _rows("code", [f"{r.path}: {', '.join(r.roles)}{'' if r.reached else ' (unused)'}" for r in context.code], 60),
        _rows("commit", [f"{r.commit} {r.branch} dirty={r.dirty}" for r in context.git], 3),
        _rows("code shows", [", ".join(context.traits)] if context.traits else [], 1),
        _rows("missing", context.missing, 30),
    ]
    return "\n".join(part for part in parts if part)


def leads_text(findings: Findings) -> str:
    """The signals with their places, then the causes the local investigator holds, with its confidence."""
    causes = [f"{cause.id} at {cause.confidence:.2f}: {cause.issue}" for cause in findings.causes]
    return "\n".join(
        part
        for part in (
            _rows("signals", [_lead(signal) for signal in findings.signals], MOST_LEADS),
            _rows("causes it holds", causes, 5),
            _rows("causes it set aside", findings.excluded, 10),
        )
        if part
    )


def _lead(signal: Signal) -> str:
    places = [
        f"    {place.source}, {place.locator}: {json.dumps(place.quote, ensure_ascii=False)}"
        for place in signal.citations[:MOST_PLACES]
    ]
    return "\n".join([f"{signal.id} ({signal.tool}): {signal.claim}", *places])


def _settings(context: ContextPackage) -> list[str]:
    """Every setting once; a log that repeats what the configuration says is not worth its tokens."""
    seen: dict[tuple[str, str], str] = {}
    for row in context.settings:
        seen.setdefault((row.key, repr(row.value)), f"{row.key} = {row.value!r} ({row.source}:{row.line})")
    return list(seen.values())


def _series(row: SeriesSummary) -> str:
    said = f"{row.name} ({row.source}): {row.points} points, {row.axis} {row.start:g} to {row.end:g}"
    ends = f"first {row.first:.4g}, last {row.last:.4g}, lowest {row.lowest:.4g}, highest {row.highest:.4g}"
    bad = f", {row.non_finite} not finite" if row.non_finite else ""
    again = f", starts again {row.restarts} times" if row.restarts else ""
    return f"{said}, {ends}{bad}{again}"


def _rows(heading: str, rows: Sequence[str], most: int) -> str:
    if not rows:
        return ""
    shown = [f"  {row}" for row in rows[:most]]
    if len(rows) > most:
        shown.append(f"  and {len(rows) - most} more: the tools see them")
    return "\n".join([f"{heading}:", *shown])


def _some(paths: Sequence[str], most: int) -> list[str]:
    return [*paths[:most], f"and {len(paths) - most} more"] if len(paths) > most else list(paths)
