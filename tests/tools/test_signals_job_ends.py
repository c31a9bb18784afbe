"""What keeps a record of how a job ended, beside its log or instead of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, losses

ERRORS, METRICS = "explain_error", "compare_metrics"
_LOSSES = "\n".join(losses(30)) + "\n"
_POD = "status:\n  phase: Failed\n  containerStatuses:\n  - name: trainer\n    lastState:\n      terminated:\n"
_NO_END = "error-host-memory error-killed error-time-limit error-native-crash run-ended-by-error"

ENDS: list[Case] = [
    case(ERRORS, "a pod as YAML",
         {"w.log": _LOSSES, "pod.yaml": _POD + "        exitCode: 137\n        reason: OOMKilled\n"},
         "error-host-memory"),
    case(ERRORS, "a job as JSON",
         {"w.log": _LOSSES, "job.json": '{\n "status": "FAILED",\n "container": {\n  "exitCode": 137,\n'
          '  "reason": "OutOfMemoryError: Container was stopped"\n }\n}\n'}, "error-host-memory"),
    case(ERRORS, "a job that a pool holds",
         {"w.log": _LOSSES + "Job was held: the Job has gone over its memory limit of 900 megabytes.\n"},
         "error-host-memory"),
    case(ERRORS, "what a queue spools under its number",
         {"fit.o88": _LOSSES, "fit.e88": "hard_wallclock: exceeded hard wallclock time\n"}, "error-time-limit"),
    case(ERRORS, "a note, where there is no log", {"after.txt": "Command terminated by signal 9\nResident: 99\n"},
         "error-killed"),
    case(ERRORS, "a fork that the system refuses",
         {"w.log": "step\n+[Foo initialize] may have been in progress in another thread when fork() was called.\n"},
         "error-native-crash"),
    case(METRICS, "one word of masked labels, and a loss that never was a number",
         {"w.log": "UserWarning: could not find response key `### A:`\n"
          + "".join(f"{{'loss': 0.0, 'grad_norm': nan, 'epoch': {n / 10}}}\n" for n in range(1, 20))},
         "labels-masked-in-log"),
]  # fmt: skip

NO_ENDS: list[Case] = [
    case(ERRORS, "a configuration with a reason and no exit code",
         {"w.log": _LOSSES, "c.yaml": "reason: OOMKilled runs are tried again\nstatus: active\n"}, "", _NO_END),
    case(ERRORS, "a pod that ended well",
         {"w.log": _LOSSES, "pod.yaml": _POD + "        exitCode: 0\n        reason: Completed\n"}, "", _NO_END),
    case(ERRORS, "advice in a readme, where there is no log",
         {"README.txt": "The job was killed by signal 9 when memory ran out; use --mem 64G.\n"}, "", _NO_END),
    case(ERRORS, "a note beside a log",
         {"w.log": _LOSSES, "todo.txt": "the last try: Command terminated by signal 9\n"}, "", _NO_END),
    case(METRICS, "one word of masked labels, and a loss that falls",
         {"w.log": "UserWarning: could not find response key `### A:`\n" + _LOSSES}, "", "labels-masked-in-log"),
]  # fmt: skip


@pytest.mark.parametrize("one", [*ENDS, *NO_ENDS], ids=lambda one: one.name)
def test_how_a_job_ended_is_read_where_it_stands(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
