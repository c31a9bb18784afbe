"""Changes to variables and fields, which can be taken back: both sides of a condition start from the same state."""

from __future__ import annotations

from typing import Any

from traindx.program.joining import join
from traindx.program.values import Value

_UNBOUND = Value()


_Entry = tuple[Any, str, Any, bool]
"""what was changed, under which name, what it held before, and whether it is an attribute; a plain tuple, because there
are hundreds of thousands"""
Changes = dict[tuple[int, str], tuple[_Entry, Value]]


class Journal:
    """What was changed, in order."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def mark(self) -> int:
        """The present state."""
        return len(self._entries)

    def set(self, target: dict[str, Value], key: str, value: Value) -> None:
        """Bind a name or a field."""
        self._entries.append((target, key, target.get(key, _UNBOUND), False))
        target[key] = value

    def put(self, target: object, key: str, value: Any) -> None:
        """Set an attribute of a value."""
        self._entries.append((target, key, getattr(target, key), True))
        setattr(target, key, value)

    def drop(self, target: dict[str, Value], key: str) -> None:
        """Unbind a name."""
        if key in target:
            self._entries.append((target, key, target[key], False))
            del target[key]

    def since(self, mark: int) -> list[tuple[str, Any]]:
        """The names and fields that changed since a state, with what they hold now; lists by what was put into them."""
        seen: dict[tuple[int, str], tuple[str, Any]] = {}
        for entry in self._entries[mark:]:
            target, key, _, attribute = entry
            seen[id(target), key] = (key, target if attribute else _now(entry))
        return list(seen.values())

    def rewind(self, mark: int) -> Changes:
        """Go back to a state; what had changed since."""
        changed: Changes = {}
        for entry in reversed(self._entries[mark:]):
            known = (id(entry[0]), entry[1])
            if known not in changed:
                changed[known] = (entry, _now(entry))
            _restore(entry)
        del self._entries[mark:]
        return changed

    def merge(self, one: Changes, other: Changes) -> None:
        """Set everything to what both sides together leave behind."""
        for known in {**one, **other}:
            entry = (one.get(known) or other[known])[0]
            before = _now(entry)
            a = one[known][1] if known in one else before
            b = other[known][1] if known in other else before
            self._write(entry, b if a is _UNBOUND else a if b is _UNBOUND else _joined(a, b, entry))

    def _write(self, entry: _Entry, value: Any) -> None:
        target, key, _, attribute = entry
        if value is _UNBOUND:
            return
        if attribute:
            self.put(target, key, value)
        else:
            self.set(target, key, value)


def _joined(one: Any, other: Any, entry: _Entry) -> Any:
    if not entry[3]:
        return join(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return one if len(one) >= len(other) else other
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **other, **{key: join(one[key], other[key]) for key in one.keys() & other.keys()}}
    return one or other if isinstance(one, bool) else other


def _now(entry: _Entry) -> Any:
    target, key, _, attribute = entry
    return getattr(target, key) if attribute else target.get(key, _UNBOUND)


def _restore(entry: _Entry) -> None:
    target, key, old, attribute = entry
    if attribute:
        setattr(target, key, old)
    elif old is _UNBOUND:
        target.pop(key, None)
    else:
        target[key] = old
