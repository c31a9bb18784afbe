"""Errors behind what containers, launchers and loggers put around lines, and in a program's own sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, losses
from traindx.readers import Run, Scope

ERRORS = "explain_error"
_TRACE = [
    "Traceback (most recent call last):",
    '  File "/app/fit.py", line 9, in step',
    "    y = head(x)",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x20 and 51x10)",
]
_LINES = [*losses(12), *_TRACE]
_ENDED = "error-shapes run-ended-by-error"


def behind(prefix: str) -> dict[str, str]:
    """The same log with something before each line; `#` is the number of the line."""
    return {"out.log": "".join(f"{prefix.replace('#', f'{n:02d}')}{line}\n" for n, line in enumerate(_LINES))}


def records(*last: dict[str, object]) -> str:
    """A log of JSON records that ends with these."""
    steps = [{"level": "info", "step": n, "loss": round(3 / (n + 1), 4)} for n in range(12)]
    return "".join(json.dumps(one) + "\n" for one in [*steps, *last])


WRAPPED: list[Case] = [
    case(ERRORS, "a container runtime", behind("2025-02-02T10:00:#.123456789Z stderr F "), _ENDED),
    case(ERRORS, "docker compose", behind("trainer-1  | "), _ENDED),
    case(ERRORS, "mpirun", behind("[1,3]<stderr>:"), _ENDED),
    case(ERRORS, "a traceback in a JSON record",
         {"app.jsonl": records({"level": "error", "msg": "crash", "exc_info": "\n".join(_TRACE)})}, _ENDED),
    case(ERRORS, "the same in a log", {"app.log": records({"level": "error", "error": {"stack": "\n".join(_TRACE)}})},
         _ENDED),
    case(ERRORS, "a grave record without a traceback",
         {"app.jsonl": records({"level": "error", "msg": "CUDA out of memory. Tried to allocate 2.00 GiB"})},
         "error-device-memory"),
    case(ERRORS, "a sentence of a program that caught what it met",
         {"out.log": "\n".join([*losses(12), "Training failed: " + _TRACE[-1].partition(": ")[2], "saving"]) + "\n"},
         _ENDED),
]  # fmt: skip

UNHARMED: list[Case] = [
    case(ERRORS, "a JSON record of an error, and the run goes on",
         {"app.jsonl": records({"level": "error", "msg": "CUDA out of memory. Tried to allocate 2.00 GiB"})
          + records().replace('"step": ', '"step": 1')}, "", _ENDED + " error-device-memory"),
    case(ERRORS, "a sample in JSON that quotes a traceback",
         {"app.jsonl": records({"level": "info", "text": "what is an error: how do I read a stack"})}, "", _ENDED),
]  # fmt: skip


@pytest.mark.parametrize("one", [*WRAPPED, *UNHARMED], ids=lambda one: one.name)
def test_an_error_is_read_behind_what_stands_around_it(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)


def test_a_counter_before_a_bar_is_no_name_of_a_service(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("".join(f"epoch-{n} | loss: {3 / (n + 1):.4f}\n" for n in range(1, 20)))
    assert len(Run(Scope.of(tmp_path)).series[0]) == 19
