"""The worker's program: what runs in the sandboxed process, and on what. It stands above every room it runs."""

from __future__ import annotations

import gc

from traindx.detectors.curves import objective  # noqa: F401 nearly every tool asks for it: loaded while the parent loads
from traindx.diagnosis.changes.wanted import PATCH
from traindx.diagnosis.evidence.reopen import reopen
from traindx.diagnosis.evidence.verify import REOPEN
from traindx.pipeline.context.model import SURVEY
from traindx.pipeline.context.survey import survey
from traindx.pipeline.shares import FAULTS
from traindx.readers.quoting import fill_quotes
from traindx.readers.run import Run
from traindx.runtime.declaration import Task, Tool
from traindx.runtime.service import serve


def main(requests: int, answers: int, parent: int) -> None:
    """Serve the toolbelt of the process `parent` over two pipes."""
    # The collector was off while everything was imported (`launch`): all of that stays and need not be looked at.
    gc.freeze()
    gc.enable()
    serve((requests, answers), parent, _task, Run, fill_quotes)


def _task(task: Task) -> Tool | None:
    """The function that does a task."""
    if task in {SURVEY, REOPEN}:
        return survey if task == SURVEY else reopen
    if task == FAULTS:
        from traindx.pipeline.faults import faults

        return faults
    if task == PATCH:
        from traindx.diagnosis.changes.patch import patch

        return patch
    # Only an investigation with a model asks for these.
    from traindx.brains.llm.injection import SCAN, scan
    from traindx.brains.llm.norms import NORMS, compare_with_norms
    from traindx.diagnosis.evidence.bearing import BEAR
    from traindx.diagnosis.evidence.fixes import PRESENT, present
    from traindx.diagnosis.evidence.opposing import oppose

    return {PRESENT: present, SCAN: scan, BEAR: oppose, NORMS: compare_with_norms}.get(task)
