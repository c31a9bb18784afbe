"""Looking for faults in all the code of a folder, in the worker."""

from __future__ import annotations

from traindx.detectors.program.review import Fault, as_fault, faults_of_ours
from traindx.pipeline.shares import Share
from traindx.program.followed import every_program
from traindx.program.rules import review
from traindx.readers import Run
from traindx.runtime import ToolOutput, tool

PATIENCE = 180.0
"""seconds for a share: reading may take 25 of them, following the most statements that are followed about 100"""


class Faults(ToolOutput):
    """What the rules found, and whether every program could be followed."""

    faults: list[Fault]
    files: int
    whole: bool


@tool(timeout=PATIENCE)
def faults(share: Share, run: Run) -> Faults:
    """Follow the programs of one share and check them against every rule."""
    analyses = every_program(run, share.number, share.of)
    found = [as_fault(finding) for finding in review(*analyses)]
    whole = all(analysis.whole for analysis in analyses) and not faults_of_ours(analyses)
    return Faults(faults=found, files=len(run.code), whole=whole)
