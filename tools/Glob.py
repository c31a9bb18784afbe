"""Glob: the files of the run whose path matches a pattern."""

from __future__ import annotations

from pydantic import Field

from traindx.contract import Value
from traindx.readers import Run
from traindx.readers.folder.browse import FileWalk, GlobPattern
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which files, and how many of them."""

    pattern: str = Field(
        default="**/*",
        description="`*`, `?`, `[ab]`, `{a,b}`; `**` crosses folders; a pattern without `/` matches names at any depth",
        examples=["*.log", "src/**/*.py", "{config,params}.{json,yaml}"],
    )
    max_results: int = Field(default=200, ge=1, le=2000, description="list at most this many files")


class FoundFile(Value):
    """A file and its size."""

    path: str
    size_bytes: int


class Listing(ToolOutput):
    """The files that match, by path."""

    files: list[FoundFile]
    total: int = Field(description="how many match, listed or not")
    left_out: list[str] = Field(description="what is not listed or was not looked at, and how to see it")


@tool(timeout=20.0)
def Glob(request: Input, run: Run) -> Listing:  # noqa: N802 the name it has in Claude Code
    """List the files of the run whose path matches a pattern, sorted by path, with their sizes.

    Links that point outside the run folder are not followed; `.git`, `node_modules`, `site-packages`, `__pycache__`
    and `.venv` are not searched.
    """
    pattern = GlobPattern(request.pattern)
    walk = FileWalk(run.scope)
    matching = sorted(path for path in walk.files() if pattern.matches(path))
    left_out = walk.left_out()
    if not matching:
        searched = f"{walk.entries} entries searched" + "".join(f"; {remark}" for remark in left_out)
        raise NoData(f"no file in the run folder matches `{request.pattern}` ({searched})")
    listed = matching[: request.max_results]
    if len(listed) < len(matching):
        left_out.insert(0, f"{len(matching) - len(listed)} more files match: narrow the pattern or raise `max_results`")
    files = [FoundFile(path=path, size_bytes=_size(run, path)) for path in listed]
    return Listing(files=files, total=len(matching), left_out=left_out)


def _size(run: Run, path: str) -> int:
    """The size of a file; 0 for one that a running job has just removed."""
    try:
        return (run.scope.root / path).stat().st_size
    except OSError:
        return 0
