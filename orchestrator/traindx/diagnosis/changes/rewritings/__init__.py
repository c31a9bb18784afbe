"""Rewritings of code, by the name under which failure modes ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings import layers, loops, math, states
from traindx.diagnosis.changes.rewritings.source import Rewritten, Unfit, programs
from traindx.readers.code.codeunit import CodeUnit

__all__ = ["REWRITINGS", "Rewritten", "Unfit", "rewrite"]

Rewriter = Callable[[Sequence[CodeUnit], Mapping[str, Fact]], Rewritten]
REWRITINGS: dict[str, Rewriter] = {
    "detach-state": states.detach,
    "assign-detached": states.assign,
    "drop-retain-graph": states.drop_retaining,
    "guard-math": math.guard,
    "clip-gradients": loops.clip,
    "detect-anomaly": loops.detect_anomaly,
    "restore-optimizer": loops.restore,
    "add-warmup": loops.add_warmup,
    "swap-activation": layers.swap_activation,
    "ordinary-initialisation": layers.initialise,
    "bfloat16": layers.bfloat16,
}


def rewrite(name: str, code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Rewrite the code of a run; raises `Unfit` where it has no place for that."""
    if not any(True for _ in programs(code)):
        raise Unfit("the training code is not in this folder")
    return REWRITINGS[name](code, facts)
