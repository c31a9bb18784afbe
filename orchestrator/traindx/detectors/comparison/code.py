"""The programs of two runs, file by file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from traindx.detectors.comparison.difference import Difference
from traindx.readers.code.texts import CodeText
from traindx.readers.quoting import quote_of

LONGEST_DIFF = 60
# How much a changed line usually does, by what it speaks of; the first that fits counts.
_WEIGHTS = (
    (
        0.03,
        re.compile(r"^\s*(?:#|$)|^\s*(?:import|from)\b|\bprint\(|\blogg(?:er|ing)\b|\btqdm\b|\bwandb\b|\bwriter\."),
        "comments, imports and logging",
    ),
    (
        0.85,
        re.compile(
            r"loss|criterion|backward|optimi[sz]er|optim\.|zero_grad|\.step\(|\blr\b|learning_rate|sched|clip_"
            r"|autocast|scaler|half\(|bfloat|float16|\.detach\(|no_grad"
        ),
        "lines of the loss, the optimizer or the training step",
    ),
    (
        0.7,
        re.compile(
            r"data|loader|batch|shuffle|sampler|label|target|transform|normali[sz]e|augment|\bmean\b|\bstd\b"
            r"|split|token"
        ),
        "lines of the data",
    ),
    (
        0.65,
        re.compile(
            r"nn\.|forward|init|weight|relu|tanh|sigmoid|softmax|norm|dropout|eval\(|train\(|requires_grad"
            r"|mask|attention"
        ),
        "lines of the model",
    ),
    (
        0.5,
        re.compile(r"\bfor\b|\bwhile\b|epoch|range\("),
        "lines of a loop",
    ),
)
_OTHER = (0.3, "other lines")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")


def code_differences(good: Mapping[str, CodeText], bad: Mapping[str, CodeText]) -> list[Difference]:
    """Code files that changed, appeared or went, each with its diff and the line that is likeliest to matter."""
    if not good or not bad:
        return []
    ours, theirs = dict(good), bad
    found = []
    for path in sorted(theirs):
        twin = path if path in ours else _same_name(path, set(ours) - set(theirs))
        if twin is None:
            reason = "this file is in the bad run only"
            found.append(Difference("code", path, "(no such file)", f"{theirs[path].size:,} bytes", 0.3, reason, path))
            continue
        old, new = ours.pop(twin).lines, theirs[path].lines
        if old is not None and new is not None and old != new:
            found.append(_changed(path, old, new))
    gone = [path for path in ours if path not in theirs and _same_name(path, theirs) is None]
    reason = "this file is in the good run only"
    found += [
        Difference("code", path, f"{ours[path].size:,} bytes", "(no such file)", 0.3, reason, path, in_bad=False)
        for path in gone
    ]
    return found


def _same_name(path: str, others: Iterable[str]) -> str | None:
    """The one file of that name elsewhere in the other run."""
    name = PurePosixPath(path).name
    same = [other for other in others if PurePosixPath(other).name == name]
    return same[0] if len(same) == 1 else None


def _changed(path: str, old: Sequence[str], new: Sequence[str]) -> Difference:
    diff = list(difflib.unified_diff(old, new, f"good/{path}", f"bad/{path}", n=1, lineterm=""))
    added = sum(1 for row in diff[2:] if row.startswith("+"))
    removed = sum(1 for row in diff[2:] if row.startswith("-"))
    weight, what, line = _heaviest(diff)
    shown = diff if len(diff) <= LONGEST_DIFF else [*diff[:LONGEST_DIFF], f"… {len(diff) - LONGEST_DIFF} more lines"]
    return Difference(
        kind="code",
        name=path,
        good=f"{removed} lines of its own",
        bad=f"{added} lines of its own",
        suspicion=weight,
        reason=f"{what} changed: {removed} removed, {added} added",
        source=path,
        line=line,
        quote=quote_of(new[line - 1]) if 0 < line <= len(new) else "",
        diff="\n".join(shown),
    )


def _heaviest(diff: list[str]) -> tuple[float, str, int]:
    """The changed line that is likeliest to matter: its weight, what it is about, and its number in the new file."""
    best, at = (0.0, "only blank lines", 0), 0
    for row in diff[2:]:
        hunk = _HUNK.match(row)
        if hunk:
            at = int(hunk.group(1))
            continue
        if row[:1] in {"+", "-"}:
            weight, what = next(((w, said) for w, form, said in _WEIGHTS if form.search(row[1:])), _OTHER)
            if weight > best[0]:
                best = (weight, what, at)
        if row[:1] != "-":
            at += 1
    return best
