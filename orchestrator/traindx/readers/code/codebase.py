"""The program of a run: Python files and notebooks, read from the entry point along its imports, within bounds."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from heapq import heappop, heappush

from traindx.errors import UnreadableInput
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.modules import Modules, is_foreign
from traindx.readers.code.notebooks import Notebook, read_notebook
from traindx.readers.code.roles import CodeRole, acts, code_roles
from traindx.readers.code.syntax import Nodes
from traindx.readers.code.units import LARGEST, NotPython, parse_text, traits_among
from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import blocks
from traindx.readers.model import RunFile
from traindx.runtime.scope import Scope

MOST_BYTES = 12 << 20
"""code that no entry point reaches and that is parsed: a second and 90 MB of memory per MB"""
MOST_REACHED = 16 << 20
"""code that is parsed because an entry point reaches it"""
_ENOUGH = 4 << 20
"""bytes of unreached code that are parsed whatever they hold"""
_REACHED = 1
"""the urgency of files that were started, or are imported from there"""
_ENTRY, _OTHER = 2, 3
_TRAINS = re.compile(
    rb"torch|tensorflow|keras|jax|flax|paddle|mxnet|sklearn|lightning|transformers|deepspeed|accelerate|optim"
    rb"|backward|gradient|\bloss|\blr\b|learning_rate|epoch|batch|softmax|\bnn\.|forward|__main__|dataset|sys\.path",
    re.IGNORECASE,
)
_MOST_SCRIPTS = 30
_LARGEST_SCRIPT = 256 << 10
_ENTRY_NAME = re.compile(
    r"(?:^|/)(?:(?:pre)?train\w*|main|run\w*|fine_?tune\w*|fit\w*|launch\w*|\w+_(?:train|main))\.(?:py|ipynb)$"
)
_SIDE_NAME = re.compile(
    r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?|scripts?/ci)/|(?:^|/)(?:setup|conftest|__init__)\.py$"
)
_STARTED = re.compile(r"(?:^|[\s/])([\w./-]+\.py)\b|\s-m\s+([\w.]+)")
_LAUNCHES = re.compile(r"\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|horovodrun|mpirun)\b")
Guard = Callable[[str], AbstractContextManager[object]]


def read_code(
    scope: Scope,
    files: Iterable[RunFile],
    entries: Iterable[str] = (),
    listings: Mapping[str, str] | None = None,
    allowance: Allowance | None = None,
    most_bytes: int = MOST_BYTES,
    guard: Guard = nullcontext,
) -> tuple[list[CodeUnit], list[str]]:
    """The code of a run by path, and what is to be said about it.

    Entry points come first, then what they import, then the rest near the top. `entries` are paths known to have been
    run, e.g. the outermost frames of a traceback; `listings` are programs that logs show, by the path of the log.
    `guard` takes what a file brings about while it is parsed.
    """
    given = [file for file in files if file.role == "code" and not is_foreign(file.path)]
    allowance = allowance or Allowance()
    reader = _Reader(scope, {file.path: file for file in given if file.path.endswith((".py", ".ipynb"))}, guard)
    started = set(entries) | set(
        reader.started(file for file in given if file.path.endswith((".sh", ".sbatch", ".slurm")))
    )
    with not_collecting():
        reader.read(started, allowance, most_bytes)
    offered, read = len(reader.files), len(reader.units) + reader.broken + reader.plain
    if offered:
        allowance.note(read, offered)
    if read < offered:
        reader.remarks.append(f"{read:,} of {offered:,} code files were read: entry points and their imports first")
    units = [*reader.units.values(), *_listed(listings or {}, reader.units.values())]
    return sorted(units, key=lambda unit: unit.path), reader.remarks


def _listed(listings: Mapping[str, str], units: Iterable[CodeUnit]) -> Iterator[CodeUnit]:
    """The programs that logs show of themselves, each once, and only where the folder does not hold its file."""
    known = {unit.text.strip() for unit in units}
    spent = 0
    for path, text in listings.items():
        spent += len(text)
        if text.strip() in known or spent > MOST_BYTES:
            continue
        known.add(text.strip())
        try:
            tree = parse_text(text)
        except NotPython:
            continue  # two programs of which each is one, and both together are not
        nodes = Nodes(tree)
        found = traits_among(nodes)
        entry: frozenset[CodeRole] = frozenset({"entry-point"})
        roles = (code_roles(path, tree, nodes, found) - {"utility"}) | entry
        yield CodeUnit(path, tree, found, roles, reached=True, text=text)


@contextmanager
def not_collecting() -> Iterator[None]:
    """Work on syntax trees without the cycle collector, which would go through millions of live nodes each time.

    In the worker, which froze what it had imported, the trees stay as long as the process: they are frozen as well.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if gc.get_freeze_count():
                gc.freeze()
            gc.enable()


class _Reader:
    """Reads files in the order of what they promise."""

    def __init__(self, scope: Scope, files: dict[str, RunFile], guard: Guard) -> None:
        self.scope, self.files = scope, files
        self._guard = guard
        self.units: dict[str, CodeUnit] = {}
        self.remarks: list[str] = []
        self.broken = 0
        self.plain = 0
        """files that were looked into and have nothing to do with training"""
        self._modules = Modules(files)

    def started(self, scripts: Iterable[RunFile]) -> Iterator[str]:
        """Files that the shell scripts start: `torchrun train.py`, `python -m pkg.train`."""
        for _, script in zip(range(_MOST_SCRIPTS), scripts, strict=False):
            for line in self._text(script.path, _LARGEST_SCRIPT).split("\n"):
                if _LAUNCHES.search(line) and len(line) < 5_000:
                    for file, module in _STARTED.findall(line):
                        yield from self._modules.named(module, "") if module else self._modules.ending(file)

    def read(self, started: set[str], allowance: Allowance, most_bytes: int) -> None:
        """Read entry points, then their imports, then the rest, as far as the bounds allow."""
        waiting: list[tuple[int, int, str]] = []
        scans = sum(file.size for file in self.files.values()) > most_bytes
        for path in self.files:
            urgency = self._priority(path, started)
            # Where not everything can be parsed, scripts of any name come before what only defines.
            if scans and urgency == _OTHER and b"__main__" in self._raw(path):
                urgency = _ENTRY
            heappush(waiting, (urgency, path.count("/"), path))
        reached = {path for path in self.files if path in started}
        taken: set[str] = set()
        spent = {True: 0, False: 0}
        while waiting:
            urgency, _, path = heappop(waiting)
            if path in taken:
                continue
            is_reached = urgency <= _REACHED
            size = min(self.files[path].size, LARGEST)
            most = MOST_REACHED if is_reached else most_bytes
            if spent[is_reached] + size > most or allowance.spent():
                continue
            taken.add(path)
            if not is_reached and self._is_plain(path, spent[False]):
                self.plain += 1
                continue
            spent[is_reached] += size
            unit = None
            with self._guard(path):
                unit = self._unit(path, reached)
            if unit is None:
                self.broken += 1
                continue
            self.units[path] = unit
            if unit.reached:
                for inner in unit.imports:
                    reached.add(inner)
                    heappush(waiting, (_REACHED, inner.count("/"), inner))
        self._spread(reached)

    def _spread(self, reached: set[str]) -> None:
        """Settle the entry points, and mark everything that they import."""
        imported = {inner for unit in self.units.values() for inner in unit.imports}
        for path, unit in self.units.items():
            # A script without `if __name__ == "__main__"` is one that acts and that no other file imports.
            if path not in imported and acts(unit.tree) and not unit.roles & {"test", "entry-point"}:
                kept = unit.roles - {"utility"}
                self.units[path] = replace(unit, roles=kept | {"entry-point"}, reached=True)
        reached |= {path for path, unit in self.units.items() if unit.reached}
        waiting = [path for path in reached if path in self.units]
        while waiting:
            for inner in self.units[waiting.pop()].imports:
                if inner not in reached:
                    reached.add(inner)
                    if inner in self.units:
                        waiting.append(inner)
        for path in reached & self.units.keys():
            self.units[path] = replace(self.units[path], reached=True)

    def _is_plain(self, path: str, spent: int) -> bool:
        """Whether a file that nothing reaches can do without being parsed: much was, and no word of it trains."""
        return spent >= _ENOUGH and not path.endswith(".ipynb") and not _TRAINS.search(self._raw(path))

    def _raw(self, path: str) -> bytes:
        with suppress(OSError, UnreadableInput), self.scope.open(path) as handle:
            return handle.read(LARGEST)
        return b""

    def _priority(self, path: str, started: set[str]) -> int:
        if path in started:
            return 0
        if _SIDE_NAME.search(path):
            return 5
        return _ENTRY if _ENTRY_NAME.search(path.lower()) else _OTHER

    def _unit(self, path: str, reached: set[str]) -> CodeUnit | None:
        notebook, text = None, ""
        try:
            if path.endswith(".ipynb"):
                with self.scope.open(path) as handle:
                    notebook, remarks = read_notebook(handle, path)
                self.remarks += remarks
                tree = _cell_by_cell(notebook)
            else:
                text = self._text(path, LARGEST + 1)
                tree = parse_text(text)
        except (UnreadableInput, OSError, NotPython) as error:
            broken = isinstance(error, NotPython)
            self.remarks.append(f"`{path}` could not be parsed: {error}" if broken else str(error))
            return None
        nodes = Nodes(tree)
        found = traits_among(nodes)
        roles = code_roles(path, tree, nodes, found)
        imports = tuple(dict.fromkeys(self._modules.imported(nodes, path)))
        entry = "entry-point" in roles or (notebook is not None and "training-loop" in roles)
        unit = CodeUnit(path, tree, found, roles, imports, path in reached or entry, notebook, text)
        unit.once("nodes", lambda: nodes)
        return unit

    def _text(self, path: str, most: int) -> str:
        try:
            with self.scope.open(path) as handle:
                return "".join(text for _, text in blocks(handle, most))
        except UnreadableInput as error:
            self.remarks.append(str(error))
        except OSError as error:
            self.remarks.append(f"cannot read `{path}`: {error.strerror}")
        return ""


def _cell_by_cell(notebook: Notebook) -> ast.Module:
    """The tree of a notebook; where a cell is no Python (a question mark, half a line) only that cell is left out."""
    try:
        return parse_text(notebook.code)
    except NotPython:
        lines = notebook.code.split("\n")
    kept = list(lines)
    cells: dict[int, list[int]] = {}
    for at, place in enumerate(notebook.places):
        cells.setdefault(place.cell, []).append(at)
    for places in cells.values():
        try:
            parse_text("\n".join(lines[at] for at in places))
        except NotPython:
            for at in places:
                kept[at] = ""
    return parse_text("\n".join(kept))
