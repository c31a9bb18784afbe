"""Which file of the run a module's name, an import or a path of another machine leads to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from traindx.readers.code.syntax import Nodes
from traindx.readers.model import RunFile

_FOREIGN = re.compile(r"(?:^|/)(?:site-packages|dist-packages|node_modules|\.?venv|\.git|build|\.eggs)/")
_INSTALLED = re.compile(r"/lib(?:64)?/python\d", re.IGNORECASE)


def is_foreign(path: str) -> bool:
    """Whether a path leads to installed packages rather than to code of the run."""
    return _FOREIGN.search(path) is not None


def files_behind(named: Iterable[str], files: Iterable[RunFile]) -> set[str]:
    """The code files that paths of another machine speak of: the longest common ending decides."""
    by_name: dict[str, list[tuple[str, ...]]] = {}
    for file in files:
        if file.role == "code" and not is_foreign(file.path):
            parts = tuple(reversed(file.path.split("/")))
            by_name.setdefault(parts[0], []).append(parts)
    found: set[str] = set()
    for path in named:
        told = tuple(reversed(path.replace("\\", "/").split("/")))
        if _INSTALLED.search(path) or is_foreign(path) or told[0] not in by_name:
            continue
        shared = [(_common(parts, told), parts) for parts in by_name[told[0]]]
        most = max(length for length, _ in shared)
        likely = ["/".join(reversed(parts)) for length, parts in shared if length == most]
        # `utils.py` in five folders, and the traceback does not say which: then none of them.
        found |= set(likely) if len(likely) == 1 else set()
    return found


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


class Modules:
    """The Python files of a run, by the names under which they are imported."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            stem = path.removesuffix("/__init__.py") if path.endswith("/__init__.py") else path.rpartition(".")[0]
            self._by_name.setdefault(stem.rpartition("/")[2], []).append(path)

    def imported(self, nodes: Nodes, path: str) -> Iterator[str]:
        """The files of the run that a file imports."""
        statements = nodes.of(ast.Import, ast.ImportFrom)
        for node in sorted(statements, key=lambda one: one.lineno):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self.named(alias.name, path)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    folder = "/".join(path.split("/")[: -node.level])
                    base = ".".join(part for part in (folder.replace("/", "."), base) if part)
                yield from self.named(base, path)
                for alias in node.names[:50]:
                    yield from self.named(f"{base}.{alias.name}" if base else alias.name, path)

    def named(self, name: str, importer: str) -> Iterator[str]:
        """The file of the run that a module's name leads to: the one nearest to the importing file."""
        wanted = name.replace(".", "/")
        known = self._by_name.get(wanted.rpartition("/")[2])
        if known is None:
            return
        candidates = [path for path in known if path != importer and _ends_with(path, wanted) and path.endswith(".py")]
        if candidates:
            yield min(candidates, key=lambda path: (-_shared(path, importer), path.count("/"), path))

    def ending(self, name: str) -> Iterator[str]:
        """The file that a command line or a script names."""
        wanted = name.lstrip("./")
        stem = wanted.removesuffix(".py").rpartition("/")[2]
        candidates = [path for path in self._by_name.get(stem, ()) if path == wanted or path.endswith(f"/{wanted}")]
        shallow = candidates or [path for path in self._by_name.get(stem, ()) if wanted.endswith(f"/{path}")]
        if shallow:
            yield min(shallow, key=lambda path: path.count("/"))


def _ends_with(path: str, wanted: str) -> bool:
    stem = path.removesuffix("/__init__.py") if path.endswith("/__init__.py") else path.removesuffix(".py")
    return stem == wanted or stem.endswith(f"/{wanted}")


def _shared(path: str, importer: str) -> int:
    """How many folders two paths have in common."""
    count = 0
    for one, other in zip(path.split("/")[:-1], importer.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count
