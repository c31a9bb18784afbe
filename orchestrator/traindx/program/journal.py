"""Changes to variables and fields, which can be taken back: both sides of a condition start from the same state."""

from __future__ import annotations

from typing import Any, NamedTuple

from traindx.program.joining import join
from traindx.program.values import Value

_UNBOUND = Value()


class _Entry(NamedTuple):
    target: Any
    key: str
    old: Value
    attribute: bool


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
        self._entries.append(_Entry(target, key, target.get(key, _UNBOUND), False))
        target[key] = value

    def put(self, target: object, key: str, value: Any) -> None:
        """Set an attribute of a value."""
        self._entries.append(_Entry(target, key, getattr(target, key), True))
        setattr(target, key, value)

    def drop(self, target: dict[str, Value], key: str) -> None:
        """Unbind a name."""
        if key in target:
            self._entries.append(_Entry(target, key, target[key], False))
            del target[key]

    def since(self, mark: int) -> list[tuple[str, Any]]:
        """The names and fields that changed since a state, with what they hold now; lists by what was put into them."""
        seen: dict[tuple[int, str], tuple[str, Any]] = {}
        for entry in self._entries[mark:]:
            known = (id(entry.target), entry.key)
            if entry.attribute:
                seen[known] = (entry.key, entry.target)
            else:
                seen[known] = (entry.key, _now(entry))
        return list(seen.values())

    def rewind(self, mark: int) -> Changes:
        """Go back to a state; what had changed since."""
        changed: Changes = {}
        for entry in reversed(self._entries[mark:]):
            known = (id(entry.target), entry.key)
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
        if value is _UNBOUND:
            return
        if entry.attribute:
            self.put(entry.target, entry.key, value)
        else:
            self.set(entry.target, entry.key, value)


def _joined(one: Any, other: Any, entry: _Entry) -> Any:
    if not entry.attribute:
        return join(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return one if len(one) >= len(other) else other
    return one or other if isinstance(one, bool) else other


def _now(entry: _Entry) -> Any:
    if entry.attribute:
        return getattr(entry.target, entry.key)
    return entry.target.get(entry.key, _UNBOUND)


def _restore(entry: _Entry) -> None:
    if entry.attribute:
        setattr(entry.target, entry.key, entry.old)
    elif entry.old is _UNBOUND:
        entry.target.pop(entry.key, None)
    else:
        entry.target[entry.key] = entry.old
