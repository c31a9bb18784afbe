"""The diagnosis in a few lines, at the beginning of a chat and whenever it changes."""

from __future__ import annotations

from traindx.contract import Diagnosis, RootCause
from traindx.report.terminal import HEADLINES, possibility, telling_notes, worth_a_line

HINT = "Ask: why? show me. how do I fix it? what if …? what else could it be? `/help` lists the commands, `/quit` ends."


def in_short(diagnosis: Diagnosis) -> str:
    """Headline, causes with their fix, what is asked, what went otherwise than planned."""
    said = f"{diagnosis.answer}\n\n" if diagnosis.answer else ""
    parts = [f"## {HEADLINES[diagnosis.status][0]}\n{said}{diagnosis.summary}"]
    settled = diagnosis.status != "needs_more_data"
    parts += [_cause(number, row, settled) for number, row in enumerate(diagnosis.named, start=1)]
    less = [f"- {possibility(row)}" for row in diagnosis.possible if worth_a_line(row)]
    if less:
        parts.append("\n".join(["Worth a look:" if diagnosis.status == "healthy" else "Less likely:", *less]))
    if diagnosis.questions:
        parts.append("\n".join(["To continue, I need to know:", *(f"- {row}" for row in diagnosis.questions)]))
    notes = [f"- {row}" for row in telling_notes(diagnosis)]
    if notes:
        parts.append("\n".join(["Notes:", *notes]))
    return "\n\n".join(parts)


def _cause(number: int, cause: RootCause, settled: bool) -> str:
    held = sum(piece.verified for piece in cause.evidence)
    cited = f"{held} verified citation{'' if held == 1 else 's'}"
    rows = [f"{number}. `{cause.name}` [{cause.severity}, confidence {cause.confidence:.2f}, {cited}]"]
    if number > 1 or not settled:
        rows.append(f"   {cause.issue}")
    return "\n".join([*rows, f"   Fix: {cause.fix.summary}"] if settled else rows)
