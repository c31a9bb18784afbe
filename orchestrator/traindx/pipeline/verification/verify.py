"""The verdict on a fix: confirmed, refuted or inconclusive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import ValidationError

from traindx.contract import SEVERITIES, Check, CheckResult, Diagnosis, PairCitation, RootCause, Verification
from traindx.contract.check import Verdict
from traindx.diagnosis.catalog import Catalog, load_catalog
from traindx.diagnosis.checks.fill import filled
from traindx.errors import UnknownName, UnreadableInput, UsageError
from traindx.pipeline.verification.judge import judge, placed
from traindx.pipeline.verification.seen import Seen, see

SLIGHT = SEVERITIES[0]
"""what is no failure: a run that could have gone on for longer"""
IN_COMMON = 0.5
"""of the old run's series that the new one has to log as well; a repaired run may log more"""
LARGEST_DIAGNOSIS = 64 << 20


def verify(
    path: str | Path, fixed: str | Path, message: str = "", *, diagnosis: Diagnosis | None = None, cause: str = ""
) -> Verification:
    """Check on the run `fixed` whether the fix for `path` did what it promised; both are only read.

    Args:
        path: the run that went wrong.
        fixed: the run with the fix.
        message: what you saw in the first one.
        diagnosis: its diagnosis, where there is one already.
        cause: which of the diagnosed causes the fix is for; the first one by default.

    Raises:
        TraindxError: a run cannot be read, or no cause was found in the first one.
    """
    before = see(path, message)
    chosen = chosen_cause(diagnosis or before.diagnosis, cause, path)
    after = see(fixed, "")
    return verdict(chosen, before, after, load_catalog())


def read_diagnosis(path: str | Path) -> Diagnosis:
    """A diagnosis as `diagnose --json` prints it; raises `UnreadableInput`."""
    try:
        if Path(path).stat().st_size > LARGEST_DIAGNOSIS:
            raise UnreadableInput(path, "it is too large to be a diagnosis")
        return Diagnosis.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise UnreadableInput(path, (error.strerror or "cannot be opened").lower()) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in first["loc"])
        raise UnreadableInput(
            path, f"it is not what `diagnose --json` prints ({where}{first['msg'].lower()})"
        ) from None


def verdict(cause: RootCause, before: Seen, after: Seen, catalog: Catalog) -> Verification:
    """Hold every check of a cause against the two runs, and weigh them together."""
    mode = catalog.get(cause.id)
    checks = cause.fix.checks or (filled(mode, {}) if mode is not None else [Check(kind="past"), Check(kind="error")])
    followers = set(mode.leads_to) if mode is not None else set()
    results = [_same_task(before, after), *(judge(check, before, after) for check in checks), _not_named(cause, after)]
    ends = {place for place, check in enumerate(checks, 1) if check.kind == "error"}
    others = [results[place] for place in sorted(ends)] + [_no_other(cause, after, followers)]
    results.append(others[-1])
    outcomes = {row.outcome for row in results}
    found: Verdict = "refuted" if "failed" in outcomes else "inconclusive" if "unknown" in outcomes else "confirmed"
    return Verification(
        verdict=found,
        summary=_summary(found, cause, results, others),
        cause=cause.id,
        verify=cause.fix.verify,
        before=before.path,
        after=after.path,
        checks=[row for row in results if row.why],
    )


def chosen_cause(diagnosis: Diagnosis, wanted: str, path: str | Path) -> RootCause:
    """The cause that a fix is for: the one that is named, else the first likely one."""
    causes = {cause.id: cause for cause in diagnosis.root_causes}
    if wanted:
        if wanted not in causes:
            raise UnknownName(f"likely cause of `{path}` called", wanted, causes)
        return causes[wanted]
    first = next((cause for cause in diagnosis.root_causes if cause.likely), None)
    if first is None:
        raise UsageError(f"`{path}` shows no cause that a fix could be for ({diagnosis.summary.rstrip('.')})")
    return first


def _same_task(before: Seen, after: Seen) -> CheckResult:
    """Whether the new run does what the old one did: the same curve, most of the same series, a program in common."""
    what = "both runs are of one task"
    programs = [{Path(name).name for name in one.context.artifacts.model_code} for one in (before, after)]
    if all(programs) and not programs[0] & programs[1]:
        why = f"they have no program in common: {_some(programs[0])}; {_some(programs[1])}"
        return CheckResult(what=what, outcome="unknown", why=why)
    old = before.judged
    if old is None:
        return CheckResult(what=what, outcome="passed", why="")
    series = [{one.summary.name for one in run.curves} for run in (before, after)]
    if after.like(old) is None:
        why = f"the old run is judged by `{old.summary.name}` per {old.summary.axis}, the new one logged"
        return CheckResult(what=what, outcome="unknown", why=f"{why} {_some(series[1])}")
    if len(series[0] & series[1]) < IN_COMMON * len(series[0]):
        why = f"they log different quantities: {_some(series[0] - series[1])} only the old one"
        return CheckResult(what=what, outcome="unknown", why=why)
    return CheckResult(what=what, outcome="passed", why=f"both log `{old.summary.name}` per {old.summary.axis}")


def _some(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)[:3]) or "nothing"


def _not_named(cause: RootCause, after: Seen) -> CheckResult:
    """Whether the new run's own diagnosis finds the cause again."""
    what = f"`{cause.name}` is not found in the new run"
    again = next((one for one in after.diagnosis.root_causes if one.likely and one.name == cause.name), None)
    if again is None:
        return CheckResult(what=what, outcome="passed", why=f"its diagnosis: {after.diagnosis.summary}")
    return CheckResult(what=what, outcome="failed", why=again.issue, evidence=_places(again))


def _no_other(cause: RootCause, after: Seen, followers: set[str]) -> CheckResult:
    """Another failure of the new run: what the cause leads to refutes the fix, unless it is less grave; anything else
    leaves it open.
    """
    what = "the new run fails in no other way"
    found = [one for one in after.diagnosis.root_causes if one.likely and one.name != cause.name]
    first = next((one for one in found if one.severity != SLIGHT), None)
    if first is None:
        return CheckResult(what=what, outcome="passed", why=after.diagnosis.summary)
    stays = first.id in followers and SEVERITIES.index(first.severity) >= SEVERITIES.index(cause.severity)
    why = f"it shows `{first.name}`: {first.issue}" + (f" `{cause.name}` leads to that" if stays else "")
    return CheckResult(what=what, outcome="failed" if stays else "unknown", why=why, evidence=_places(first))


def _places(cause: RootCause) -> list[PairCitation]:
    pieces = [piece for piece in cause.evidence if piece.kind != "contrary"][:2]
    return [placed("after", _citation(piece)) for piece in pieces]


def _citation(piece: object) -> PairCitation:
    rows = {name: getattr(piece, name) for name in ("claim", "source", "locator", "quote")}
    return PairCitation.model_validate({**rows, "run": "after"})


def _summary(found: Verdict, cause: RootCause, results: Sequence[CheckResult], others: Sequence[CheckResult]) -> str:
    if found == "confirmed":
        return f"The fix for `{cause.name}` holds: {sum(bool(row.why) for row in results)} checks passed."
    if found == "refuted":
        first = next(row for row in results if row.outcome == "failed")
        return f"The fix for `{cause.name}` did not do what it promised: {first.why.rstrip('.')}."
    first = next(row for row in results if row.outcome == "unknown")
    if first in others:
        return f"The cause `{cause.name}` is gone, but the new run fails: {first.why.rstrip('.')}."
    return f"Not shown either way for `{cause.name}`: {first.why.rstrip('.')}."
