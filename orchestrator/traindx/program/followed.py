"""The program of a run: followed once, and kept for every tool that asks about it."""

from __future__ import annotations

from traindx.program.analysis import Analysis, analyse_all, known_settings
from traindx.program.arguments import arguments
from traindx.program.values import Made, Stream, number
from traindx.readers.model import Setting
from traindx.readers.run import Run


def program_of(run: Run) -> list[Analysis]:
    """The programs of a run, those that train first."""
    return run.kept("program", lambda: analyse_all(run.program, _configured(run)) if run.program else [])


def every_program(run: Run, share: int = 0, shares: int = 1) -> list[Analysis]:
    """The programs of all code in the folder, or one share of them."""
    return analyse_all(run.code, _configured(run), share, shares) if run.code else []


def _configured(run: Run) -> dict[str, object]:
    return known_settings((row.key, row.value) for row in run.settings_given)


def settings_of(run: Run) -> list[Setting]:
    """What config, code and logs say, and what the followed program hands to its optimizers, schedulers and layers."""
    return run.kept("settings in force", lambda: [*run.settings, *arguments(program_of(run), run.settings)])


def training_lengths(run: Run) -> list[float]:
    """Where the counters of the outermost training loops of a run end, as far as the program tells."""
    found = set[float]()
    for analysis in program_of(run):
        for event in analysis.trace.of("backward"):
            source = event.turns[0].loop.source if event.turns else None
            inner = source.source if isinstance(source, Stream) else source
            end = number(inner.fields.get("end")) if isinstance(inner, Made) and inner.kind == "range" else None
            found |= {end} if end is not None else set()
    return sorted(found)
