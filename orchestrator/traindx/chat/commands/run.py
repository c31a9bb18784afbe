"""`/run`: what was read."""

from __future__ import annotations

from traindx.chat.session import ChatSession
from traindx.contract import SeriesSummary

MOST = 8


async def carry(session: ChatSession, _rest: str) -> str:
    """Files by role, series, settings, errors, and what is missing: each in short."""
    context = await session.context()
    roles = [(name.replace("_", " "), paths) for name, paths in context.artifacts.model_dump().items() if paths]
    parts = [f"## {context.run or 'The run'}"]
    parts.append("\n".join(f"- {role}: {_some(paths)}" for role, paths in roles) or "Nothing was recognized.")
    own = [row for row in context.series if not row.duplicate_of]
    parts += _section("Series", [_series(row) for row in own])
    settings = {(row.key, str(row.value)): row for row in reversed(context.settings)}
    parts += _section(
        "Settings", [f"`{row.key}` = {row.value} ({row.source}:{row.line})" for row in reversed(settings.values())], 16
    )
    parts += _section("Errors", [f"{row.text} ({row.source}:{row.line})" for row in context.errors])
    parts += _section("Checkpoints", [f"{row.path}: {row.parameters:,} parameters" for row in context.checkpoints])
    parts += _section("Not found or not read", context.missing)
    sent = ", ".join(session.diagnosis.request.specialists)
    made = session.diagnosis.provenance
    parts.append(f"{sent or 'No specialist'} ({made.brain}), sandbox: {made.sandbox}. Nothing was changed.")
    return "\n\n".join(parts)


def _section(heading: str, rows: list[str], most: int = MOST) -> list[str]:
    if not rows:
        return []
    more = [f"- and {len(rows) - most} more: `traindx gather PATH -v`"] if len(rows) > most else []
    return ["\n".join([f"{heading}:", *(f"- {row}" for row in rows[:most]), *more])]


def _series(row: SeriesSummary) -> str:
    bad = f", {row.non_finite} not finite" if row.non_finite else ""
    return (
        f"`{row.original}`: {row.points} points, {row.axis} {row.start:g} to {row.end:g},"
        f" {row.first:.4g} -> {row.last:.4g}, lowest {row.lowest:.4g}{bad} ({row.source})"
    )


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - MOST} more" if len(paths) > MOST else ""
    return ", ".join(paths[:MOST]) + more
