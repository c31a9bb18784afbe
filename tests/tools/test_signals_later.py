"""Bursts and calm of the gradient norm, accuracy that lags, steps that a loss scaler skips."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, broken, case, check, falling, table

NORMS, CURVE, TOGETHER = "check_gradients", "analyze_loss_curve", "compare_metrics"
SKIPPING = "".join(f"step {n} loss {1.4:.2f} loss_scale 1 skipped {n}\n" for n in range(10, 300, 10))
SETTLING = "".join(f"step {n} loss {300 / n:.3f} loss_scale 8192 skipped 3\n" for n in range(10, 300, 10))
LEARNED = [min(1.0, 0.3 + 0.05 * n) for n in range(30)]

CASES = [
    case(NORMS, "one burst in a thousand", table(loss=falling(200), grad_norm=[1.0] * 90 + [400.0] + [1.0] * 109),
         "grad-norm-burst", "grad-norm-steady"),
    case(NORMS, "ten times the usual, once", table(loss=falling(200), grad_norm=[1.0] * 90 + [10.0] + [1.0] * 109),
         "grad-norm-steady", "grad-norm-burst"),
    case(NORMS, "the loss breaks and the norm does not", table(loss=broken(), grad_norm=[1.0, 1.1, 0.9] * 10),
         "grad-norm-calm-at-onset"),
    case(NORMS, "the norm breaks with the loss", table(loss=broken(), grad_norm=[1.0] * 18 + [90.0] * 12),
         "grad-norm-jumped-at-onset", "grad-norm-calm-at-onset"),
    case(CURVE, "known by heart", table(train_loss=falling(), train_acc=LEARNED, val_acc=[0.6] * 30),
         "val-accuracy-lags", "accuracy-high"),
    case(CURVE, "five points behind", table(train_loss=falling(), train_acc=LEARNED, val_acc=[0.95] * 30),
         silent="val-accuracy-lags"),
    case(TOGETHER, "every step skipped", {"train.log": SKIPPING}, "steps-skipped"),
    case(TOGETHER, "a scaler that settles", {"train.log": SETTLING}, silent="steps-skipped"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=[row.label for row in CASES])
def test_signals(tmp_path: Path, found: Case) -> None:
    check(found, tmp_path)
