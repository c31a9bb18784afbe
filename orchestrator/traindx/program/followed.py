"""The program of a run: followed once, and kept for every tool that asks about it."""

from __future__ import annotations

from traindx.program.analysis import Analysis, analyse_all, known_settings
from traindx.program.arguments import arguments
from traindx.readers.model import Setting
from traindx.readers.run import Run


def program_of(run: Run, everything: bool = False) -> list[Analysis]:
    """The programs of a run, those that train first; with `everything`, those of all its code."""
    units = run.code if everything else run.program
    if not units:
        return []
    configured = known_settings((row.key, row.value) for row in run.settings_given)
    return run.kept("every program" if everything else "program", lambda: analyse_all(units, configured))


def settings_of(run: Run) -> list[Setting]:
    """What config, code and logs say, and what the followed program hands to its optimizers, schedulers and layers."""
    return run.kept("settings in force", lambda: [*run.settings, *arguments(program_of(run), run.settings)])
