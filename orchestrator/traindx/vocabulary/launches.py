"""How it shows in a log that a program was started, that it came to an end before its time, or works off a plan."""

from __future__ import annotations

import re

from traindx.vocabulary.error_texts import error_by_itself

LAUNCH = re.compile(
    r"^\s{0,8}(?:[\w.@~/:-]{0,60}[$#>%]\s+|\+\s|\$\s|command(?: line)?:\s|cmd:\s|running:?\s)?"
    r"(?:CUDA_VISIBLE_DEVICES=\S+\s)?"
    r"(?:\S*/)?(?:python[\d.]*|torchrun|deepspeed|accelerate launch|srun|mpirun|horovodrun)\s+\S.{0,400}"
    r"|^\s{0,8}(?:[Nn]amespace|\w{0,40}(?:Config|Args|Arguments))\(\w+="
    r"|torch[./]distributed[./](?:run|launch)\b"
    r"|\bSLURM_JOB_ID\b|\bslurm job id\b|^wandb: (?:Tracking run|Syncing run|Starting wandb)",
    re.IGNORECASE,
)
"""a command line, the settings a program prints first, a launcher's own line"""

_ENDED = re.compile(
    r"^(?:[\[(]?rank\d{1,5}[\])]?:\s?)?(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80}"
    r"(?:Error|Exception|Interrupt|Exit|Failure)(?::|\s*$)"
    r"|^\s{0,8}(?:Killed|Terminated|\^C)\b|^\^C|Command exited with non-zero",
)


def broke_off(line: str) -> bool:
    """Whether a program that does not end by itself ends with such a line."""
    return _ENDED.search(line) is not None or error_by_itself().search(line) is not None


_STAGES = "stage|phase|task|cycle|round|domain|level|experience|generation|curriculum|client|lesson|difficulty|epoch"
_NUMBER = r"[ _:#=()\[\]-]{0,4}(\d{1,4}\b|[A-Z]\b|[a-z][\w-]{0,30})"
ONE_MODEL = re.compile(rf"\b({_STAGES}){_NUMBER}", re.IGNORECASE)
"""a heading of a part in which the same model goes on: `stage 2`, `task B`"""
PART_OF_A_PLAN = re.compile(
    rf"\b({_STAGES.removesuffix('|epoch')}|fold|trial|split|repeat|repetition|subject){_NUMBER}", re.IGNORECASE
)
"""a heading of one of several things that a single program does one after the other: `Fold 2/5`, `task B`"""
