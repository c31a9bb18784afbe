"""Findings as alerts of an experiment tracker: a run that is open in this process, or one that is opened for them."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any, Literal

from traindx.errors import UsageError
from traindx.redaction import Redactor
from traindx.watch.finding import Finding

Tracker = Literal["wandb", "trackio"]
_LEVELS = {"low": "info", "medium": "warn", "high": "error", "critical": "error"}
_LONGEST_TITLE = 64
# Without this trackio samples the machine, and the samples pass for those of a training.
_SETTINGS: dict[Tracker, dict[str, bool]] = {"wandb": {}, "trackio": {"auto_log_cpu": False, "auto_log_gpu": False}}


class Alerts:
    """Raises an alert for each finding; one that fails is complained about and costs nothing else."""

    def __init__(self, tracker: Tracker, project: str, complain: Callable[[str], None]) -> None:
        try:
            self._module: Any = importlib.import_module(tracker)
        except ImportError:
            raise UsageError(f"`--{tracker}` needs the package: pip install 'traindx[{tracker}]'") from None
        self._tracker, self._complain = tracker, complain
        self._run: Any = None
        if not self._is_open():
            with _quiet_stdout():
                self._run = self._module.init(project=project, name="traindx-watch", **_SETTINGS[tracker])

    def __call__(self, finding: Finding) -> None:
        """Raise an alert."""
        try:
            title = f"{finding.id} {finding.kind}"[:_LONGEST_TITLE]
            with _quiet_stdout():
                self._module.alert(title=title, text=Redactor().clean(finding.text()), level=self._level(finding))
        except Exception as error:  # noqa: BLE001 - somebody else's package, and the watch goes on without it
            self._complain(f"{self._tracker}: {type(error).__name__}: {error}; `{finding.id}` was not raised")

    def close(self) -> None:
        """End the run that was opened for the alerts."""
        if self._run is not None:
            with _quiet_stdout():
                self._module.finish()

    def _is_open(self) -> bool:
        if self._tracker == "wandb":
            return self._module.run is not None
        from trackio import context_vars

        return context_vars.current_run.get() is not None

    def _level(self, finding: Finding) -> Any:
        level = "info" if finding.kind == "recovered" else _LEVELS[finding.severity]
        # Both packages take INFO, WARN and ERROR of an enumeration of their own.
        return self._module.AlertLevel[level.upper()]


def _quiet_stdout() -> contextlib.AbstractContextManager[object]:
    """What a tracker prints goes to stderr: stdout carries findings only."""
    return contextlib.redirect_stdout(sys.stderr)
