"""A fix tried out by a probe: the user's script before the diff and after it, each in a copy of the folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from traindx.contract import CheckResult, RootCause, Signal, Verification
from traindx.contract.check import Outcome, Verdict
from traindx.diagnosis.catalog import Catalog
from traindx.errors import UsageError
from traindx.monitor.probing.declaration import Probe
from traindx.pipeline.verification.applying import apply_diff
from traindx.pipeline.verification.judge import placed
from traindx.runtime import ToolResult

Prepare = Callable[[Path], object]
Run = Callable[[Prepare | None], ToolResult]
"""runs the probe in a copy of the folder, which is prepared first"""


def verify_by_probe(cause: RootCause, probe: Probe, run: Run, catalog: Catalog, path: str) -> Verification:
    """Run the probe without and with the fix's diff; raises `UsageError` where it could decide nothing."""
    if cause.id not in probe.settles:
        known = ", ".join(f"`{name}`" for name in sorted(probe.settles)) or "none of them"
        raise UsageError(f"`{probe.name}` says nothing about `{cause.name}`; it settles {known}")
    if not cause.fix.diff:
        raise UsageError(f"the fix for `{cause.name}` has no diff to try out: make the change and use `--fixed`")
    diff = cause.fix.diff
    own = set(catalog[cause.id].speaks_for)
    faults = {name for mode in catalog.values() for name in mode.speaks_for if name in probe.signals}
    before = run(None)
    shown = [signal for signal in before.signals if signal.id in own]
    results = [_seen("before", before, shown, bool(shown))]
    if not shown:
        return _verification(cause, path, "inconclusive", results, "the probe does not show it before the fix either")
    after = run(lambda copy: apply_diff(diff, copy))
    still = [signal for signal in after.signals if signal.id in own]
    others = [signal for signal in after.signals if signal.id in faults - own]
    results.append(_seen("after", after, still, after.status == "ok" and not still))
    if after.status != "ok":
        return _verification(cause, path, "inconclusive", results, after.reason)
    if still:
        return _verification(cause, path, "refuted", results, still[0].claim)
    if others:
        results.append(_seen("after", after, others, None))
        why = f"the cause is gone, but the probe now shows: {others[0].claim}"
        return _verification(cause, path, "inconclusive", results, why)
    return _verification(cause, path, "confirmed", results, str(after.output.get("summary", "")))


def _seen(run: str, result: ToolResult, signals: list[Signal], good: bool | None) -> CheckResult:
    outcome: Outcome = "unknown" if good is None or result.status != "ok" else "passed" if good else "failed"
    if run == "before" and result.status == "ok" and not good:
        outcome = "unknown"
    what = "without the fix, the probe shows the fault" if run == "before" else "with the fix, it does not"
    why = result.reason if result.status != "ok" else str(result.output.get("summary", ""))
    places = [placed(run, place) for signal in signals for place in signal.citations[:2]]
    return CheckResult(what=what, outcome=outcome, why=why, evidence=places)


def _verification(cause: RootCause, path: str, verdict: Verdict, checks: list[CheckResult], why: str) -> Verification:
    said = {
        "confirmed": f"The fix for `{cause.name}` holds in a short run: {why}.",
        "refuted": f"The fix for `{cause.name}` did not help in a short run: {why}.",
        "inconclusive": f"Not shown either way for `{cause.name}`: {why}.",
    }
    return Verification(
        verdict=verdict,
        summary=said[verdict],
        cause=cause.id,
        verify=cause.fix.verify,
        before=path,
        after=f"{path}, with the fix's diff in a copy",
        checks=checks,
    )
