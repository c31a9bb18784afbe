"""Names a user may choose from, on the command line, in a settings file and from Python alike."""

from __future__ import annotations

from typing import Literal, get_args

STDIN = "-"
"""as a path: a log on standard input"""
BrainName = Literal["auto", "local", "claude"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
Specialists = Literal["needed", "all"]
BRAINS: tuple[BrainName, ...] = get_args(BrainName)
EFFORTS: tuple[Effort, ...] = get_args(Effort)
SPECIALISTS: tuple[Specialists, ...] = get_args(Specialists)
