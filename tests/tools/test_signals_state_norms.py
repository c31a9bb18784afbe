"""Logged norms of recurrent state."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, table

NORMS = "check_state_norms"


def flags(since: int) -> dict[str, str]:
    """Telemetry of 30 updates whose state is no number from one of them on."""
    rows = [
        {"update": n, "loss": 1 / (n + 1), "lstm_h_norm": None if n >= since else 4.0, "lstm_has_nan": n >= since}
        for n in range(30)
    ]
    return {"telemetry.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}


STEADY = [4.0 + 0.1 * (n % 3) for n in range(30)]

CASES = [
    case(NORMS, "a norm that grows", table(h_norm=[2.0 * 1.6**n for n in range(30)]), "state-norm-explodes",
         "state-norm-steady state-norm-vanishes"),
    case(NORMS, "a norm of next to nothing", table(c_norm=[0.001 + 0.0001 * n for n in range(30)]),
         "state-norm-vanishes", "state-norm-explodes"),
    case(NORMS, "a norm that is no number", table(hidden_norm=[*STEADY[:20], *[float("nan")] * 10]),
         "state-norm-non-finite", "state-norm-steady"),
    case(NORMS, "a norm that grows until it is no number",
         table(h_norm=[*[2.0 * 1.6**n for n in range(28)], math.inf, math.inf]),
         "state-norm-explodes", "state-norm-non-finite"),
    case(NORMS, "a steady norm that is no number at the end", table(h_norm=[*STEADY[:-2], math.nan, math.nan]),
         "state-norm-non-finite", "state-norm-explodes"),
    case(NORMS, "a steady norm", table(h_norm=STEADY), "state-norm-steady",
         "state-norm-explodes state-norm-vanishes state-norm-non-finite"),
    case(NORMS, "the norm of gradients", table(grad_norm=[2.0 * 1.6**n for n in range(30)]),
         silent="state-norm-explodes state-norm-steady"),
    case(NORMS, "the norm of a batch that grows, with the root mean square beside it",
         table(lstm_c_norm=[20.0 * 1.2**n for n in range(30)], lstm_c_rms=[1.0 + 0.1 * (n % 2) for n in range(30)]),
         "state-norm-steady", "state-norm-explodes"),
    case(NORMS, "a root mean square that grows as well",
         table(lstm_c_norm=[20.0 * 1.6**n for n in range(30)], lstm_c_rms=[1.0 * 1.6**n for n in range(30)]),
         "state-norm-explodes", "state-norm-steady"),
    case(NORMS, "a flag, where the norm was left out", flags(since=20), "state-norm-non-finite", "state-norm-steady"),
    case(NORMS, "a flag that is never set", flags(since=40), "state-norm-steady", "state-norm-non-finite"),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.label)
def test_a_signal_fires_where_it_must_and_only_there(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
