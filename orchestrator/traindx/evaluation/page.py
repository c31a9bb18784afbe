"""An evaluation for a person to read."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.evaluation.score import Outcome, Scorecard
from traindx.report.canvas import Canvas
from traindx.report.render import Page


def as_text(card: Scorecard, outcomes: Sequence[Outcome], page: Page) -> str:
    """The figures, what was confused with what, and every case that went wrong (with `-v`: every case)."""
    canvas = Canvas(page)
    canvas.text(f"{card.cases} cases: {card.failing} failing, {card.healthy} healthy", style="bold")
    canvas.rows(
        [
            ("first cause right", f"{card.first_right:.1%} of failing runs"),
            ("right in the top three", f"{card.any_right:.1%} of failing runs"),
            ("location of the fault", f"{card.places:.1%} of those with a known location"),
            ("false alarms", f"{card.false_alarms:.1%} of healthy runs"),
            ("judged healthy", f"{card.judged_healthy:.1%} of healthy runs"),
            ("confident and wrong", f"{card.forbidden:.1%} of all cases"),
            ("right specialist", f"{card.specialists:.1%}"),
            ("Brier score", f"{card.brier:.3f}"),
            ("calibration error", f"{card.calibration_error:.3f}"),
            ("seconds per case", f"{card.seconds_per_case:.2f}"),
        ],
        indent=2,
    )
    missed = {
        expected: {name: count for name, count in counts.items() if name not in expected.split("/")}
        for expected, counts in card.confusion.items()
    }
    rows = [(expected, _counts(counts)) for expected, counts in missed.items() if counts]
    if rows and outcomes:
        canvas.heading("Expected cause, and what was named instead")
        canvas.rows(rows, indent=2)
    wrong = [row for row in outcomes if page.verbose or _wrong(row)]
    if wrong:
        canvas.heading("Cases" if page.verbose else "Cases that went wrong")
        canvas.rows([(row.case, _said(row)) for row in wrong], indent=2)
    return canvas.drawn()


def _wrong(row: Outcome) -> bool:
    healthy = row.expect in {"healthy", "needs_more_data"}
    return row.false_alarm or bool(row.forbidden) or (not healthy and not row.right_first)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}x" if count > 1 else name for name, count in counts.items())


def _said(row: Outcome) -> str:
    named = ", ".join(f"{name} {sure:.2f}" for name, sure in row.named) or row.status
    return f"expected {row.expect}, got {named}"
