"""Which state of the code a run was made with: from `.git` or from what the run recorded. No git command is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from traindx.errors import UnreadableInput
from traindx.readers.logs.lines import blocks
from traindx.readers.model import RunFile
from traindx.runtime.scope import Scope

_HASH = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_SHORT_HASH = re.compile(r"(?:commit|sha|revision|HEAD)\W{1,12}([0-9a-f]{7,40})\b", re.IGNORECASE)
_REF = re.compile(r"ref:\s*(refs/[\w./@+-]{1,200})\s*$")
_BRANCH = re.compile(r"(?:On branch|branch\W{1,4})\s*([\w./@+-]{1,120})", re.IGNORECASE)
_CHANGED = re.compile(r"^(?:diff --git a/(\S{1,300}) b/|\+\+\+ (?:b/)?(\S{1,300}))", re.MULTILINE)
_DIRTY = re.compile(r"\b(?:dirty|uncommitted|Changes not staged|modified:)|^ ?M\s+\S", re.MULTILINE)
_RECORD_NAME = re.compile(
    r"(?:^|/)(?:git[_-]?(?:commit|sha|hash|info|state|status|head|rev(?:ision)?|version|log)?"
    r"|commit(?:[_-]?(?:id|hash|sha))?"
    r"|revision|code[_-]?version)\.?(?:txt|log|json|md|yaml|yml)?$",
    re.IGNORECASE,
)
_DIFF_NAME = re.compile(r"(?:^|/)[\w.-]*(?:diff|patch)[\w-]*\.(?:patch|diff|txt)$|\.(?:patch|diff)$", re.IGNORECASE)
_METADATA_NAME = re.compile(r"(?:^|/)(?:wandb-metadata|metadata|run|run_info|meta)\.json$")
_COMMIT_KEYS = ("commit", "git_commit", "git_sha", "git_hash", "sha")
_LARGEST = 256 << 10
_LARGEST_DIFF = 4 << 20
_MOST_RECORDS = 30


@dataclass(frozen=True)
class GitState:
    """A commit that the run names, and whether the code differed from it."""

    source: str
    commit: str = ""
    branch: str = ""
    dirty: bool | None = None
    """None where nothing tells"""
    diff: str = ""
    """the file with the uncommitted changes"""
    changed: tuple[str, ...] = ()
    """files that the diff changes"""
    line: int = 1


def read_git(scope: Scope, files: Iterable[RunFile]) -> tuple[list[GitState], list[str]]:
    """Every state of the code that the folder tells of, what the run itself recorded first."""
    remarks: list[str] = []
    found: list[GitState] = []
    diffs: list[GitState] = []
    looked = 0
    for file in sorted(files, key=lambda file: file.path.count("/")):
        recorded, diff, metadata = (name.search(file.path) for name in (_RECORD_NAME, _DIFF_NAME, _METADATA_NAME))
        if not (recorded or diff or metadata) or looked >= _MOST_RECORDS:
            continue
        looked += 1
        text = _text(scope, file.path, _LARGEST_DIFF if diff else _LARGEST, remarks)
        if diff:
            diffs += _diff(file.path, text)
        elif metadata and file.path.endswith(".json"):
            found += _metadata(file.path, text)
        elif recorded:
            found += _record(file.path, text)
    found = [_with_diff(state, diffs) for state in found] or diffs
    return found + _repository(scope, remarks), remarks


def _with_diff(state: GitState, diffs: list[GitState]) -> GitState:
    folder = state.source.rpartition("/")[0]
    near = next((diff for diff in diffs if diff.source.rpartition("/")[0] == folder), None)
    if near is None:
        return state
    return GitState(state.source, state.commit, state.branch, True, near.diff, near.changed, state.line)


def _text(scope: Scope, path: str, most: int, remarks: list[str]) -> str:
    try:
        with scope.open(path) as handle:
            return "".join(text for _, text in blocks(handle, most))
    except UnreadableInput as error:
        remarks.append(str(error))
    except OSError as error:
        remarks.append(f"cannot read `{path}`: {error.strerror}")
    return ""


def _diff(path: str, text: str) -> list[GitState]:
    changed = list(dict.fromkeys(first or second for first, second in _CHANGED.findall(text)))
    return [GitState(path, dirty=True, diff=path, changed=tuple(changed[:200]))] if changed else []


def _record(path: str, text: str) -> list[GitState]:
    commit = _HASH.search(text)
    short = None if commit else _SHORT_HASH.search(text)
    bare = text.strip() if re.fullmatch(r"[0-9a-f]{7,40}(?:-dirty)?", text.strip()) else ""
    name = commit[0] if commit else short[1] if short else bare.removesuffix("-dirty")
    if not name:
        return []
    place = commit.start() if commit else short.start(1) if short else 0
    branch = _BRANCH.search(text)
    dirty = True if bare.endswith("-dirty") or _DIRTY.search(text) else None
    return [GitState(path, name, branch[1] if branch else "", dirty, line=text.count("\n", 0, place) + 1)]


def _metadata(path: str, text: str) -> list[GitState]:
    """`{"git": {"commit": …}}` as Weights & Biases writes it, `git_commit` at the top, or Sacred's list."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(told, dict):
        return []
    inner = told.get("git")
    experiment = told.get("experiment")
    sacred = experiment.get("repositories") if isinstance(experiment, dict) else None
    first = sacred[0] if isinstance(sacred, list) and sacred else None
    for values in (inner, first, told):
        if isinstance(values, dict):
            commit = next((values[key] for key in _COMMIT_KEYS if key in values), "")
            if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{7,64}", commit):
                dirty, branch = values.get("dirty"), values.get("branch", "")
                line = text.count("\n", 0, max(text.find(commit), 0)) + 1
                return [
                    GitState(
                        path,
                        commit,
                        branch if isinstance(branch, str) else "",
                        dirty if isinstance(dirty, bool) else None,
                        line=line,
                    )
                ]
    return []


def _repository(scope: Scope, remarks: list[str]) -> list[GitState]:
    """The checked-out commit of the folder's own repository."""
    if scope.only or not (scope.root / ".git").exists():
        return []
    if (scope.root / ".git").is_file():
        remarks.append("`.git` points to a repository outside the run folder, which is not read")
        return []
    head = _text(scope, ".git/HEAD", 4_096, remarks)
    reference = _REF.match(head)
    if reference is None:
        commit = _HASH.match(head.strip())
        return [GitState(".git/HEAD", commit[0])] if commit else []
    name = reference[1]
    branch = name.removeprefix("refs/heads/")
    unreported: list[str] = []
    loose = _HASH.match(_text(scope, f".git/{name}", 4_096, unreported).strip()) if ".." not in name else None
    if loose:
        return [GitState(f".git/{name}", loose[0], branch)]
    packed = _text(scope, ".git/packed-refs", _LARGEST_DIFF, unreported)
    for number, line in enumerate(packed.split("\n"), 1):
        if line.rstrip().endswith(f" {name}") and _HASH.match(line):
            return [GitState(".git/packed-refs", line.split(" ")[0], branch, line=number)]
    return [GitState(".git/HEAD", "", branch)]  # a repository without a commit
