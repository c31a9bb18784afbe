"""Rewritings of code, by the name under which failure modes ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings import layers, loops, losses, math, modes, schedules, states, steps
from traindx.diagnosis.changes.rewritings.source import Rewritten, Unfit, called_where_named, programs
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
    "clear-gradients": steps.clear,
    "add-backward": steps.add_backward,
    "add-step": steps.add_step,
    "order-steps": steps.order,
    "divide-loss": steps.divide,
    "move-clipping": steps.move_clipping,
    "keep-number": steps.keep_number,
    "evaluation-mode": modes.evaluate,
    "training-mode": modes.train,
    "without-gradients": modes.without_gradients,
    "drop-minus": losses.drop_minus,
    "drop-activation": losses.drop_activation,
    "logits-loss": losses.take_logits,
    "last-axis": losses.last_axis,
    "same-shape": losses.same_shape,
    "add-activation": losses.add_activation,
    "module-list": modes.register,
    "all-parameters": modes.all_parameters,
    "reset-state": modes.reset_state,
    "in-order": modes.in_order,
    "shuffle": modes.shuffle,
    "step-scheduler": schedules.step_as_counted,
    "trainable-adapter": layers.load_trainable,
}


def rewrite(name: str, code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Rewrite the code of a run; raises `Unfit` where it has no place for that."""
    if not any(True for _ in programs(code)):
        raise Unfit("the training code is not in this folder")
    if "named_place" in facts:
        return called_where_named(code, facts)
    return REWRITINGS[name](code, facts)
