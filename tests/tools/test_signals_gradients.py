"""Gradient norms: next to nothing, uneven over the layers, jumping with the loss, clipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import (
    Case,
    broken,
    case,
    check,
    falling,
    log,
    losses,
    table,
    wobble,
)

GRADIENTS = "check_gradients"

STUCK = [2.3 + 0.002 * (-1) ** n for n in range(30)]


def layers(*levels: float) -> dict[str, str]:
    """A table with one gradient norm a layer."""
    columns = {
        f"grad_norm_layer{n}": [level * (1 + 0.1 * (k % 3)) for k in range(30)] for n, level in enumerate(levels)
    }
    return table(loss=falling(), **columns)


def listed(*sizes: float) -> dict[str, str]:
    """A log that lists the gradients of its layers below each other."""
    lines = []
    for epoch, value in enumerate(2.08 + wobble(12, 0.004)):
        lines.append(f"epoch {epoch} loss {value:.4f}")
        if epoch % 5 == 0:
            lines += [f"    blocks.{n}.weight    |w| 4.0{n}  |grad| {size:.2e}" for n, size in enumerate(sizes)]
    return {"train.log": "\n".join(lines) + "\n"}


def faded(end: float, loss_end: float) -> dict[str, str]:
    norms = np.geomspace(0.4, end, 60)
    loss = np.concatenate([np.linspace(3.0, 2.2, 15), np.linspace(2.2, loss_end, 45)])
    return table("step", 10, loss=loss.round(4).tolist(), grad_norm=norms.round(6).tolist())


CASES = [
    case(GRADIENTS, "nothing reaches the weights", table(loss=STUCK, grad_norm=[3e-8] * 30), "grad-norm-tiny"),
    case(GRADIENTS, "a loss in tiny units that learns",
         table(loss=[value * 1e-9 for value in falling()], grad_norm=[3e-9] * 30), silent="grad-norm-tiny"),
    case(GRADIENTS, "small at the end, having converged",
         table(loss=falling(), grad_norm=np.geomspace(1, 1e-8, 30).tolist()), silent="grad-norm-tiny"),
    case(GRADIENTS, "a millionth at the input", layers(1e-6, 1e-4, 1e-2, 1.0), "gradients-vanish-towards-input",
         "gradients-even-over-layers"),
    case(GRADIENTS, "a tenth at the input", layers(0.1, 0.3, 0.5, 1.0), "gradients-even-over-layers",
         "gradients-vanish-towards-input"),
    case(GRADIENTS, "a five-hundredth at the input", layers(0.002, 0.05, 0.2, 1.0),
         silent="gradients-vanish-towards-input gradients-even-over-layers"),
    case(GRADIENTS, "norms that know nothing of the break", table(loss=broken(), grad_norm=[1.0, 1.1, 0.9] * 10),
         silent="grad-norm-jumped-at-onset grad-norm-exploded-before-onset grad-norm-exploded"),
    case(GRADIENTS, "a norm of its own, twice as high", table(loss=broken(), grad_norm=[1.0] * 18 + [2.0] * 12),
         silent="grad-norm-jumped-at-onset"),
    case(GRADIENTS, "one burst in a thousand", table(loss=falling(200), grad_norm=[1.0] * 90 + [400.0] + [1.0] * 109),
         "grad-norm-burst", "grad-norm-steady"),
    case(GRADIENTS, "ten times the usual, once", table(loss=falling(200), grad_norm=[1.0] * 90 + [10.0] + [1.0] * 109),
         "grad-norm-steady", "grad-norm-burst"),
    case(GRADIENTS, "the loss breaks and the norm does not", table(loss=broken(), grad_norm=[1.0, 1.1, 0.9] * 10),
         "grad-norm-calm-at-onset"),
    case(GRADIENTS, "the norm breaks with the loss", table(loss=broken(), grad_norm=[1.0] * 18 + [90.0] * 12),
         "grad-norm-jumped-at-onset", "grad-norm-calm-at-onset"),
    case(GRADIENTS, "a list of layers",
         log([*losses(), "|grad| per layer: 1.0e-06 4.2e-06 1.9e-04 5.0e-01"]), "gradients-vanish-towards-input"),
    case(GRADIENTS, "a list of layers alike", log([*losses(), "|grad| per layer: 0.2 0.1 0.3 0.5"]),
         "gradients-even-over-layers", "gradients-vanish-towards-input"),
    case(GRADIENTS, "hardly an update", table(loss=falling(), upd_ratio=[4.9e-7] * 30), "updates-tiny"),
    case(GRADIENTS, "one layer stands still, the whole does not",
         table(loss=falling(), **{"upd_ratio/0.weight": [4.9e-7] * 30, "upd_ratio": [1e-3] * 30}),
         silent="updates-tiny"),
    case(GRADIENTS, "an update of a thousandth", table(loss=falling(), upd_ratio=[1e-3] * 30),
         silent="updates-tiny"),
    case(GRADIENTS, "the threshold, step after step",
         {"config.yaml": "max_grad_norm: 0.002\n", **table(loss=falling(), g_after=[0.002] * 30)},
         "updates-clipped-away"),
    case(GRADIENTS, "the threshold now and then",
         {"config.yaml": "max_grad_norm: 0.5\n", **table(loss=falling(), g_after=[0.5, 0.1, 0.2] * 10)},
         silent="updates-clipped-away"),
    case(GRADIENTS, "a setting that is logged",
         {"config.yaml": "clip_range: 0.2\n", **table(loss=falling(), clip_range=[0.2] * 30)},
         silent="updates-clipped-away"),
    case(GRADIENTS, "a list of vanishing layers", listed(1e-8, 1e-6, 1e-4, 0.4), "gradients-vanish-towards-input",
         "gradients-even-over-layers"),
    case(GRADIENTS, "a list of even layers", listed(0.2, 0.3, 0.2, 0.4), "gradients-even-over-layers",
         "gradients-vanish-towards-input"),
    case(GRADIENTS, "layers by name in a line", {"train.log": "\n".join(
        f"[{n:02d}/20] train 0.69{n:02d} acc 0.5\n  |grad| per layer: L0=2e-11 L1=1e-6 L2=0.1" for n in range(1, 13))},
         "gradients-vanish-towards-input"),
    case(GRADIENTS, "measured before clipping", {"config.yaml": "grad_clip_norm: 0.0015\n", "train.log": "\n".join(
        f"iter {10 * n} | loss: {v:.4f} | grad_norm(before clip): 0.35{n:02d}" for n, v in enumerate(falling(), 1))},
         "updates-clipped-away"),
    case(GRADIENTS, "fades, and nothing is solved", faded(1e-4, 3.2), "grad-norm-faded"),
    case(GRADIENTS, "fades because all is solved", faded(1e-4, 0.1), silent="grad-norm-faded"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
