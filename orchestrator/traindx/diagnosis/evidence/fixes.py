"""Fixes measured against what the run shows: a change that is none, or in a file that is not there, is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from traindx.contract import ConfigValue, ContextPackage, Fix, RootCause
from traindx.errors import TraindxError
from traindx.readers import Run
from traindx.runtime import Task, Toolbelt, ToolInput, ToolOutput, tool
from traindx.vocabulary.settings import SPOKEN

PRESENT = Task("present")
_DOWN = r"lower|reduce|decrease|cut|drop|shrink|divide|halve|turn down|bring down"
_UP = r"raise|increase|enlarge|grow|double|lengthen|extend|turn up|bring up"
_NUMBER = r"[-+]?(?:\d[\d_,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_CHANGE = re.compile(
    rf"\b(?P<way>{_DOWN}|{_UP}|set|change)(?:ing|s|d)?\s+(?:the\s+|your\s+)?(?P<name>`?[A-Za-z][\w .\-/]{{0,60}}?`?)\s*"
    rf"(?:\([^)]{{0,80}}\)\s*)?(?:from\s+`?(?P<old>{_NUMBER})`?\s+)?(?:to|=|down to|up to|below|above)\s+"
    rf"(?:at most\s+|about\s+)?`?(?P<new>{_NUMBER})`?",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?<![\w/.-])((?:[\w.-]+/){0,8}[\w-]+\.(?:py|ya?ml|json|toml|cfg|ini|sh|ipynb))\b")
_DIFF_FILE = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)


class Places(ToolInput):
    """Files, and lines that should stand in them."""

    files: dict[str, list[str]] = Field(description="path -> lines that a diff removes or leaves")


class Presence(ToolOutput):
    """What is not there."""

    absent: list[str]
    strangers: dict[str, list[str]] = Field(description="path -> the lines that do not stand in it")


@tool(timeout=20.0)
def present(question: Places, run: Run) -> Presence:
    """Say which files, and which lines of the others, do not exist."""
    absent, strangers = [], {}
    for path, lines in question.files.items():
        try:
            with run.scope.open(path) as handle:
                text = handle.read(16 * 1024 * 1024).decode("utf-8", "replace")
        except (TraindxError, OSError):
            absent.append(path)
            continue
        held = {" ".join(line.split()) for line in text.splitlines()}
        lost = [line for line in lines if " ".join(line.split()) not in held]
        if lost:
            strangers[path] = lost
    return Presence(absent=absent, strangers=strangers)


def objections(cause: RootCause, context: ContextPackage, toolbelt: Toolbelt) -> list[str]:
    """What the run says against a fix, one sentence each; empty when it can stand."""
    return [*_against_settings(cause.fix, context.settings), *_against_files(cause.fix, toolbelt)]


def _against_settings(fix: Fix, settings: Sequence[ConfigValue]) -> Iterator[str]:
    for match in _CHANGE.finditer(f"{fix.summary}\n{fix.fallback}"):
        name = _canonical(match.group("name"))
        found = [row for row in settings if _canonical(row.key) == name and _number(row.value) is not None]
        if not found:
            continue
        values = {_number(row.value): row for row in found}
        new, way = _float(match.group("new")), match.group("way").lower()
        lowest, highest = min(v for v in values if v is not None), max(v for v in values if v is not None)
        at = values[highest if re.fullmatch(_DOWN, way) else lowest]
        place = f"`{at.key}` is {at.value} ({at.source}:{at.line})"
        if re.fullmatch(_DOWN, way) and new >= highest:
            yield f"it lowers {name} to {match.group('new')}, and {place}"
        elif re.fullmatch(_UP, way) and new <= lowest:
            yield f"it raises {name} to {match.group('new')}, and {place}"
        elif way in {"set", "change"} and len(values) == 1 and math.isclose(new, highest, rel_tol=1e-9):
            yield f"it sets {name} to {match.group('new')}, and {place} already"
        old = match.group("old")
        if old and not any(value is not None and math.isclose(_float(old), value, rel_tol=0.02) for value in values):
            yield f"it changes {name} from {old}, and {place}"


def _against_files(fix: Fix, toolbelt: Toolbelt) -> Iterator[str]:
    named: dict[str, list[str]] = {path: [] for path in _FILE.findall(fix.summary)} | _removed(fix.diff or "")
    if not named:
        return
    result = toolbelt.run(PRESENT, {"files": named})
    if result.status != "ok":
        return
    seen = Presence.model_validate(result.output)
    for path in seen.absent:
        yield f"there is no file `{path}` in the run"
    for path, lines in seen.strangers.items():
        yield f"`{path}` has no line `{lines[0].strip()[:80]}` to change"


def _removed(diff: str) -> dict[str, list[str]]:
    """The lines that a unified diff takes away, by file."""
    lines: dict[str, list[str]] = {}
    path = ""
    for row in diff.splitlines():
        header = _DIFF_FILE.match(row)
        if header:
            path = header.group(1).strip() if header.group(1).strip() != "/dev/null" else ""
            if path and row.startswith("---"):
                lines.setdefault(path, [])
        elif path and row.startswith("-") and row[1:].strip():
            lines[path] = [*lines.get(path, []), row[1:]]
    return lines


def _canonical(name: str) -> str:
    """One name for each setting, however it is spelled."""
    bare = name.strip(" `").lower().rsplit(".", 1)[-1]
    bare = re.sub(r"\s+", " ", bare)
    return SPOKEN.get(bare, SPOKEN.get(bare.replace(" ", "_"), bare.replace(" ", "_").replace("-", "_")))


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return None


def _float(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def sound(
    causes: Sequence[RootCause], context: ContextPackage, toolbelt: Toolbelt, instead: Mapping[str, Fix]
) -> tuple[list[RootCause], list[str]]:
    """The causes with every contradicted fix replaced by the one in `instead`, and what was replaced and why."""
    kept, said = [], []
    for cause in causes:
        against = objections(cause, context, toolbelt)
        if not against:
            kept.append(cause)
            continue
        other = instead.get(cause.id)
        what = "replaced by the catalog's" if other is not None else "dropped"
        said.append(f"the fix proposed for `{cause.id}` was {what}: {'; '.join(against)}")
        dropped = Fix(
            summary="The proposed fix was dropped: the run contradicts it.",
            expected="-", verify="-", fallback=f"`traindx explain {cause.id}` lists the remedies.",
        )  # fmt: skip
        kept.append(cause.model_copy(update={"fix": other or dropped}))
    return kept, said
