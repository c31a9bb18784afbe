"""The diagnosis on one screen."""

from __future__ import annotations

from traindx.contract import Diagnosis, Evidence, RootCause, RunSummary
from traindx.report.canvas import Canvas
from traindx.report.render import Page

HEADLINES = {
    "diagnosis_complete": ("DIAGNOSIS", "bold red"),
    "partial": ("PARTIAL DIAGNOSIS", "bold yellow"),
    "needs_more_data": ("NEEDS MORE DATA", "bold yellow"),
    "healthy": ("HEALTHY", "bold green"),
}

FAINT = 0.05
MOST_RUNS = 12


def as_text(diagnosis: Diagnosis, page: Page, title: str) -> str:
    """Headline, causes with evidence and fix, what was excluded, what is asked, how it came about."""
    canvas = Canvas(page)
    if title:
        canvas.text(title, style="dim")
        canvas.gap()
    headline, style = HEADLINES[diagnosis.status]
    canvas.text(headline, style=style)
    if diagnosis.answer:
        canvas.text(diagnosis.answer)
        canvas.gap()
    canvas.text(diagnosis.summary)
    _list(canvas, "Why", diagnosis.reasons)
    _list(canvas, "What you reported", [f"{row.said}: {row.verdict}. {row.why}" for row in diagnosis.answers])
    for number, cause in enumerate(diagnosis.named, start=1):
        _cause(canvas, number, cause, page.verbose)
    beside = "Worth a look" if diagnosis.status == "healthy" else "Less likely"
    _list(
        canvas,
        beside,
        [possibility(cause) for cause in diagnosis.possible if page.verbose or worth_a_line(cause)],
    )
    _list(canvas, "Answering these would help", diagnosis.questions)
    _runs(canvas, diagnosis.runs, page.verbose)
    if page.verbose or diagnosis.status == "diagnosis_complete":
        _list(canvas, "Considered and set aside", diagnosis.excluded)
    if page.verbose:
        for heading, words in diagnosis.sections.items():
            canvas.heading(heading)
            canvas.text(words, indent=2)
        _list(canvas, "Not found or not read", diagnosis.missing)
    else:
        _list(canvas, "Please note", diagnosis.notable)
    _list(canvas, "Could not be read", [f"`{row.path}`: {row.reason}" for row in diagnosis.unread])
    _list(canvas, "Notes", diagnosis.provenance.notes if page.verbose else telling_notes(diagnosis))
    _list(canvas, "Not written", diagnosis.provenance.unwritten)
    canvas.gap()
    others = [row for row in diagnosis.missing if row not in diagnosis.notable]
    if others and not page.verbose:
        several = "" if len(others) == 1 else "s"
        canvas.text(f"Not found or not read: {len(others)} remark{several}; -v lists them.", style="dim")
    if diagnosis.read:
        canvas.text(f"Read: {diagnosis.read}.", style="dim")
    canvas.text(_footer(diagnosis), style="dim")
    return canvas.drawn()


def telling_notes(diagnosis: Diagnosis) -> list[str]:
    """Without the tools that had nothing to look at: those are of interest only to who wants every detail."""
    made = diagnosis.provenance
    return [row for row in made.notes if row not in made.skipped]


def worth_a_line(cause: RootCause) -> bool:
    """Whether a possibility is worth the time of somebody who reads on a screen."""
    return cause.confidence >= FAINT


def possibility(cause: RootCause) -> str:
    """A cause that is not likely, in one line."""
    return f"{cause.name} ({cause.confidence:.2f}): {cause.issue}"


def _cause(canvas: Canvas, number: int, cause: RootCause, verbose: bool) -> None:
    canvas.heading(f"{number}. {cause.name}  [{cause.severity}, confidence {cause.confidence:.2f}]")
    if number > 1:
        canvas.text(cause.issue, indent=3)
    canvas.text("Evidence", style="bold", indent=3)
    for piece in cause.evidence if verbose else cause.evidence[:4]:
        _evidence(canvas, piece)
    if not verbose and len(cause.evidence) > 4:
        canvas.text(f"and {len(cause.evidence) - 4} more (-v shows all)", style="dim", indent=5)
    canvas.text("Fix", style="bold", indent=3)
    canvas.text(cause.fix.summary, indent=5)
    if cause.fix.diff:
        canvas.unwrapped(cause.fix.diff, indent=5, style="cyan")
    elif cause.fix.example:
        canvas.text("In your names, a sketch:", indent=5)
        canvas.unwrapped(cause.fix.example, indent=7, style="cyan")
    canvas.rows(
        [("Expect", cause.fix.expected), ("Verify", cause.fix.verify), ("Otherwise", cause.fix.fallback)],
        indent=5,
        style="bold",
    )


def _evidence(canvas: Canvas, piece: Evidence) -> None:
    mark = "verified" if piece.verified else "NOT VERIFIED"
    place = f"{piece.source}, {piece.locator}" if piece.locator else piece.source
    canvas.text(f"- {piece.claim}  ({piece.kind}, {mark})", indent=5)
    canvas.text(place, style="dim", indent=7)
    canvas.verbatim("\n".join(f"> {line}" for line in piece.quote.splitlines()), indent=7)


def _list(canvas: Canvas, heading: str, rows: list[str]) -> None:
    if rows:
        canvas.heading(heading)
        for row in rows:
            canvas.rows([("-", row)], indent=2)


def _runs(canvas: Canvas, runs: list[RunSummary], verbose: bool) -> None:
    """How several runs went, those that failed first."""
    shown = sorted(runs, key=lambda row: not row.failed)
    left = [] if verbose else shown[MOST_RUNS:]
    _list(
        canvas,
        "Runs in this folder",
        [f"{row.path}{' (failed)' if row.failed else ''}: {row.why}" for row in shown[: None if verbose else MOST_RUNS]]
        + ([f"and {len(left)} more (-v lists them)"] if left else []),
    )


def _footer(diagnosis: Diagnosis) -> str:
    made = diagnosis.provenance
    tools = len(made.tools)
    sent = diagnosis.request.specialists
    who = f"{sent[0]} ({made.brain})" if sent else "No specialist was sent"
    cost = f", {made.tokens} tokens, ${made.cost_usd:.3f}" if made.tokens else ""
    return (
        f"{who}, {tools} tool call{'' if tools == 1 else 's'}, sandbox: {made.sandbox},"
        f" {made.seconds:.1f} s{cost}. Nothing was changed."
    )
