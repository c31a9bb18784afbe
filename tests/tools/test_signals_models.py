"""Proportions of a model, telling warnings, and what held the memory."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest

from tests.extras import torch
from tests.tools.signal_case import Case, case, check, log, losses

ARCHITECTURE, WARNINGS, MEMORY = "analyze_architecture", "explain_error", "profile_memory"


def model(rows: int, width: int) -> bytes:
    held = {"tok_emb.weight": torch.randn(rows, width)}
    held |= {f"blocks.{n}.attn.qkv.weight": torch.randn(3 * width, width) for n in range(2)}
    out = io.BytesIO()
    torch.save(held, out)
    return out.getvalue()


VARIANCE = "a.py:4: UserWarning: var(): degrees of freedom is <= 0. Correction should be strictly less than the factor"
NO_GRAD = "UserWarning: None of the inputs have requires_grad=True. Gradients will be None"
FULL = 'Traceback (most recent call last):\n  File "t.py", line 3, in <module>\n    go()\nRuntimeError: '
STEADY = "\n".join(f"step {n} loss {2 - n / 100:.3f} mem_gb 4.0{n % 3}" for n in range(1, 60)) + "\n"
GROWING = "\n".join(f"step {n} loss {2 - n / 100:.3f} mem_gb {4 + n / 10:.2f}" for n in range(1, 60)) + "\n"

CASES = [
    case(ARCHITECTURE, "a table and little else", {"m.pt": partial(model, 5_000, 16)}, "embedding-dominates",
         "parameters-balanced"),
    case(ARCHITECTURE, "a table among layers", {"m.pt": partial(model, 100, 64)}, "parameters-balanced",
         "embedding-dominates"),
    case(WARNINGS, "a variance over one value", log([*losses(9), VARIANCE, *losses(3)]),
         "warning-no-degrees-of-freedom", "warning-no-input-needs-grad"),
    case(WARNINGS, "no input needs a gradient", log([*losses(9), NO_GRAD]), "warning-no-input-needs-grad",
         "warning-no-degrees-of-freedom"),
    case(WARNINGS, "warnings that mean little", log([*losses(9), "UserWarning: the cache is incompatible, disabling"]),
         silent="warning-no-degrees-of-freedom warning-no-input-needs-grad"),
    case(MEMORY, "the device is full", {"train.log": f"{STEADY}{FULL}CUDA out of memory. Tried to allocate 2.00 GiB\n"},
         "memory-held-by memory-steady", "memory-grows"),
    case(MEMORY, "another error", {"train.log": f"{GROWING}{FULL}mat1 and mat2 shapes cannot be multiplied\n"},
         "memory-grows", "memory-held-by memory-steady"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
