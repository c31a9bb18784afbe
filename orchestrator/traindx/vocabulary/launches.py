"""How it shows in a log that a program was started, that it came to an end before its time, or works off a plan."""

from __future__ import annotations

import re

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

BROKE_OFF = re.compile(
    r"^(?:[\[(]?rank\d{1,5}[\])]?:\s?)?(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure)(?::|\s*$)"
    r"|^\s{0,8}Killed\b|\bslurmstepd: error:|\bCANCELLED AT\b|^Terminated\b|Segmentation fault|core dumped|^\^C"
    r"|ChildFailedError|exited with exit code [1-9]|Command exited with non-zero",
)
"""lines with which a program ends that does not end by itself"""

PART_OF_A_PLAN = re.compile(
    r"\b(fold|stage|phase|task|trial|cycle|round|split|domain|level|experience|generation|curriculum|repeat|repetition|"
    r"client|subject|lesson|difficulty)"
    r"[ _:#=()\[\]-]{0,4}(\d{1,4}\b|[A-Z]\b|[a-z][\w-]{0,30})",
    re.IGNORECASE,
)
"""a heading of one of several things that a single program does one after the other: `Fold 2/5`, `task B`"""
