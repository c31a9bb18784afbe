"""What the user's own names hold: tensors and arrays in lists, dictionaries and objects, and graphs behind tensors."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from traindx.monitor.probing.frames import Named, is_users, shown_path, user_frames
from traindx.monitor.probing.graphs import reach

MOST_OBJECTS = 20_000
DEEPEST = 5
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, FunctionType, BuiltinFunctionType, ModuleType)
_CONTAINERS = (list, tuple, set, frozenset, deque)


@dataclass
class Holding:
    """What one name holds."""

    named: Named
    tensors: int = 0
    size: int = 0
    """bytes"""
    graphs: int = 0
    """tensors that hold a graph"""
    depth: int = 0
    """of the graph behind the name itself, where it is a tensor"""
    what: str = ""


def holdings() -> dict[str, Holding]:
    """What each of the user's names holds now: of the frames that are running, and of modules of the user."""
    found: dict[str, Holding] = {}
    seen: set[int] = set()
    for path, value, named in _names():
        _walk(path, value, named, found, seen)
    return found


def _names() -> Iterator[tuple[str, Any, Named]]:
    for frame in user_frames():
        place = Named("", shown_path(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name)
        for name, value in list(frame.f_locals.items()):
            yield name, value, place
    below = str(Path.cwd())
    for module in list(sys.modules.values()):
        filename = getattr(module, "__file__", None)
        if filename and filename.startswith(below) and is_users(filename):
            place = Named("", shown_path(filename), 0, "")
            yield from ((name, value, place) for name, value in list(vars(module).items()) if not name.startswith("__"))


def _walk(name: str, value: Any, place: Named, found: dict[str, Holding], seen: set[int]) -> None:
    """Everything below a name belongs to the outermost container that grows: the name itself, or a field of it."""
    waiting = deque([(name, value, 0)])
    while waiting and len(seen) < MOST_OBJECTS:
        path, one, depth = waiting.popleft()
        if isinstance(one, _PLAIN) or (id(one) in seen and not _is_tensor(one)):
            continue
        seen.add(id(one))
        if _is_tensor(one) or _is_array(one):
            _count(path, one, place, found)
        elif depth < DEEPEST:
            waiting.extend((inner, part, depth + 1) for inner, part in _parts(path, one))


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What lies inside, and what it is called: things in a list share the name of the list."""
    if isinstance(value, Mapping):
        yield from ((f"{path}[{key!r}]" if isinstance(key, str) else f"{path}[…]", part) for key, part in value.items())
    elif isinstance(value, _CONTAINERS):
        # A list of numbers or words has no end in a data set, and holds no tensor.
        if value and not isinstance(next(iter(value)), _PLAIN):
            yield from ((path if path.endswith("[…]") else f"{path}[…]", part) for part in list(value))
    elif hasattr(value, "__dict__") and not type(value).__module__.startswith("traindx."):
        yield from ((f"{path}.{name}", part) for name, part in list(vars(value).items()))


def _count(path: str, value: Any, place: Named, found: dict[str, Holding]) -> None:
    key = f"{place.path}:{place.function}:{path}"
    held = found.setdefault(key, Holding(Named(path, place.path, place.line, place.function)))
    held.tensors += 1
    held.size += int(value.nbytes)
    held.what = "arrays" if _is_array(value) else "tensors"
    if getattr(value, "grad_fn", None) is not None:
        held.graphs += 1
        if "[…]" not in path:
            held.depth = max(held.depth, reach(value).depth)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "nbytes")
