"""Reviewing training code: every program in a folder against every rule, with the fix of each finding."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import Field

from traindx.contract import Fact, Severity, Value
from traindx.definitions.project import Project
from traindx.diagnosis.catalog import FailureMode, load_catalog
from traindx.diagnosis.changes.wanted import PATCH, Patched
from traindx.diagnosis.wording import fix_for
from traindx.errors import UsageError
from traindx.pipeline.inputs import open_toolbelt, resolve_inputs
from traindx.pipeline.shares import FAULTS, Share, shares_of
from traindx.runtime import Toolbelt

PROVEN, SUSPECTED = 0.9, 0.45
"""how sure a finding is that the program shows, and one that it only suggests"""
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class Reviewed(Value):
    """One finding, as a reader needs it."""

    rule: str
    severity: Severity
    confidence: float
    path: str
    line: int
    place: str
    quote: str
    claim: str
    fix: str
    diff: str = ""


class Review(Value):
    """Everything that was found."""

    findings: list[Reviewed]
    files: int = Field(default=0, description="Python files and notebooks that were read")
    whole: bool = Field(default=True, description="whether every program was followed to its end")


def review(paths: Sequence[str], since: str = "", diffs: bool = True) -> Review:
    """Review the code in some folders or files; with `since`, only lines that have changed since that revision."""
    with resolve_inputs(list(paths), None) as (scope, _):
        project = Project.around(scope.root)
        catalog = load_catalog()
        changed = _changed(scope.root, since) if since else None

        def look(share: Share) -> Review:
            with open_toolbelt(scope, project) as toolbelt:
                result = toolbelt.run(FAULTS, share.model_dump())
                if result.status == "failed":
                    raise UsageError(f"the code could not be reviewed: {result.reason}")
                found = [
                    _reviewed(row, catalog[row["rule"]], toolbelt if diffs else None)
                    for row in result.output["faults"]
                    if changed is None or row["line"] in changed.get(row["path"], ())
                ]
                return Review(findings=found, files=result.output["files"], whole=result.output["whole"])

        shares = shares_of(scope)
        with ThreadPoolExecutor(max_workers=min(len(shares), os.cpu_count() or 1)) as pool:
            parts = list(pool.map(look, shares))
    every = [finding for part in parts for finding in part.findings]
    return Review(
        findings=sorted(every, key=lambda one: (-one.confidence, one.rule, one.place)),
        files=parts[0].files,
        whole=all(part.whole for part in parts),
    )


def _reviewed(row: Mapping[str, object], mode: FailureMode, toolbelt: Toolbelt | None) -> Reviewed:
    given = row["facts"]
    facts: dict[str, Fact] = dict(given) if isinstance(given, dict) else {}
    return Reviewed(
        rule=mode.id,
        severity=mode.severity,
        confidence=PROVEN if row["proven"] else SUSPECTED,
        path=str(row["path"]),
        line=int(str(row["line"])),
        place=str(row["place"]),
        quote=str(row["quote"]),
        claim=str(row["claim"]),
        fix=fix_for(mode, facts).summary,
        diff=_diff(mode, facts, toolbelt) if toolbelt is not None and row["proven"] else "",
    )


def _diff(mode: FailureMode, facts: Mapping[str, Fact], toolbelt: Toolbelt) -> str:
    for change in mode.change:
        if change.code:
            result = toolbelt.run(PATCH, {"code": change.code, "facts": dict(facts)})
            if result.status == "ok":
                return Patched.model_validate(result.output).diff
    return ""


def _changed(root: Path, since: str) -> dict[str, Collection[int]]:
    """The lines of each file that were added or changed since a revision, by path from the root."""
    git = shutil.which("git")
    if git is None:
        raise UsageError("`--diff` needs git, which was not found")
    options = ["diff", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--relative", since, "--", "."]
    done = subprocess.run([git, *options], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise UsageError(f"git cannot compare with `{since}`: {done.stderr.strip().splitlines()[0]}")
    found: dict[str, Collection[int]] = {}
    path, lines = "", set[int]()
    for row in done.stdout.splitlines():
        if row.startswith("+++ "):
            path, lines = row[4:].removeprefix("b/"), set()
            found[path] = lines
        elif hunk := _HUNK.match(row):
            first, count = int(hunk.group(1)), int(hunk.group(2) or 1)
            lines |= set(range(first, first + count))
    return found
