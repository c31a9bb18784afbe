"""How NCCL's watchdog words what a rank did: one home for the forms of its lines."""

from __future__ import annotations

import re

COLLECTIVE = re.compile(
    r"[Ll]ast enqueued (?:NCCL )?work|Watchdog caught collective operation timeout|flight recorder dump"
)
"""lines that every rank of a job prints when a collective hangs"""

STATUS = re.compile(
    r"[Ll]ast enqueued (?:NCCL )?work: (?P<enqueued>-?\d{1,18}),"
    r" last completed (?:NCCL )?work: (?P<completed>-?\d{1,18})"
)
"""how far a rank's collectives came; equal: it never entered the one that the others wait in"""

STUCK = re.compile(
    r"WorkNCCL\(SeqNum=(?P<sequence>\d{1,18}), OpType=(?P<operation>\w{1,40})(?:, NumelIn=(?P<given>\d{1,18}))?"
    r".{0,80}?Timeout\(ms\)=(?P<limit>\d{1,12})\)(?: ran for (?P<ran>\d{1,15}) milliseconds)?"
)
"""the collective that timed out on a rank"""

GROUP = re.compile(r"\[PG (?:ID )?(?P<group>\d{1,9})(?: PG GUID [^\]]{0,60}?)? Rank (?P<rank>\d{1,6})\]")
"""the process group and the rank in it that speak"""

SPEAKER = re.compile(r"\[rank ?(?P<rank>\d{1,6})\]", re.IGNORECASE)

TOLD = re.compile(
    r"(?:observed|received) (?:a )?(?:flight recorder |global )?(?:dump|timeout) signal from another rank",
    re.IGNORECASE,
)
"""this rank was told of the timeout by another"""
