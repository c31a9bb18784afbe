"""The context package for a person to read."""

from __future__ import annotations

from traindx.contract import CheckpointSummary, ClusterSummary, CodeState, ContextPackage, SeriesSummary
from traindx.report.canvas import Canvas
from traindx.report.render import Page

MOST_ROWS = 20


def as_text(package: ContextPackage, page: Page) -> str:
    """What was found, by role; then series, settings, errors, and what is missing."""
    canvas = Canvas(page)
    canvas.text(f"Context package for {package.run or 'the run'}", style="bold")
    if package.symptoms:
        canvas.rows([("symptom", row) for row in package.symptoms], indent=2)
    canvas.heading("Artifacts")
    found = [
        (role.replace("_", " "), ", ".join(paths)) for role, paths in package.artifacts.model_dump().items() if paths
    ]
    canvas.rows(found or [("none", "nothing was recognized")], indent=2)
    most = None if page.verbose else MOST_ROWS
    _section(canvas, "Runs", [(row.path, f"{'FAILED: ' if row.failed else ''}{row.why}") for row in package.runs], most)
    _section(canvas, "Series", [(row.name, _series(row)) for row in package.series], most)
    _section(canvas, "Checkpoints", [(row.path, _checkpoint(row)) for row in package.checkpoints], most)
    _section(canvas, "Job", [(row.path, _job(row)) for row in package.cluster], most)
    _section(canvas, "Data", [(row.path, row.what) for row in package.data], most)
    _section(canvas, "Code", [(row.path, ", ".join(row.roles) or "other") for row in package.code], most)
    _section(canvas, "Git", [(row.commit[:12] or "?", _state(row)) for row in package.git], most)
    _section(
        canvas,
        "Settings",
        [(row.key, f"{row.value} ({row.source}:{row.line})") for row in package.settings],
        most,
    )
    _section(
        canvas,
        "Errors",
        [(row.kind, f"{row.text} ({row.source}:{row.line})") for row in package.errors],
        most,
    )
    if package.traits:
        canvas.heading("Code shows")
        canvas.text(", ".join(package.traits), indent=2)
    if package.project is not None:
        canvas.heading(f"Project profile ({package.project.source})")
        canvas.rows([(key, str(value)) for key, value in package.project.facts.items()], indent=2)
        canvas.text(package.project.prose, indent=2)
    _section(canvas, "Missing", [("-", row) for row in package.missing], None)
    return canvas.drawn()


def _series(row: SeriesSummary) -> str:
    if row.duplicate_of:
        return f"the same {row.points} points as in {row.duplicate_of} ({row.source})"
    remarks = [
        f"{row.non_finite} not finite" if row.non_finite else "",
        f"restarts {row.restarts} times" if row.restarts else "",
        f"1 point in {row.thinned} kept" if row.thinned > 1 else "",
    ]
    said = "".join(f", {remark}" for remark in remarks if remark)
    return (
        f"{row.points} points, {row.axis} {row.start:g} to {row.end:g}: {row.first:.4g} -> {row.last:.4g},"
        f" lowest {row.lowest:.4g}, highest {row.highest:.4g}{said} ({row.source})"
    )


def _checkpoint(row: CheckpointSummary) -> str:
    said = [f"{row.format}, {row.size / 1e6:.3g} MB, {row.tensors} tensors, {row.parameters:,} parameters"]
    said += [f"{key} {value}" for key, value in list(row.scalars.items())[:4]]
    said += [f"UNSAFE: {name}" for name in row.unsafe] + row.problems
    return "; ".join(said)


def _job(row: ClusterSummary) -> str:
    said = [
        f"{row.kind or 'rank'} {row.rank}" if row.rank is not None else "",
        f"lines of ranks {', '.join(map(str, row.ranks[:16]))}" if len(row.ranks) > 1 else "",
        f"job {row.job}" if row.job else "",
        f"started by {', '.join(row.launchers)}" if row.launchers else "",
    ]
    return "; ".join(part for part in said if part)


def _state(row: CodeState) -> str:
    dirty = {True: "with uncommitted changes", False: "clean", None: "unknown whether clean"}[row.dirty]
    return f"{row.branch or 'no branch'}, {dirty} ({row.source})"


def _section(canvas: Canvas, heading: str, rows: list[tuple[str, str]], most: int | None) -> None:
    if rows:
        canvas.heading(heading)
        canvas.rows(rows[:most], indent=2)
        if most is not None and len(rows) > most:
            canvas.text(f"and {len(rows) - most} more (-v shows all)", style="dim", indent=2)
