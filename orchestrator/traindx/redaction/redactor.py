"""Masking: every kind of secret becomes `[masked:kind]`, and is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traindx.redaction.kinds import Kind

# Long enough to hold whole results, few enough to bound the memory of a long conversation.
_MEMORY = 4096
_USER = re.compile(r"(?P<before>/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})(?P<secret>[^/\\\s:\"'<>|]{1,64})")
_NOBODY = {"shared", "public", "runner", "user", "default", "[user]"}


class Redactor:
    """Masks secrets in texts and JSON values; remembers what it has seen, so that the same text counts once."""

    def __init__(self, *, user_names: bool = False) -> None:
        self.user_names = user_names
        self.kinds: Counter[str] = Counter()
        self._seen: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many secrets were masked so far."""
        return sum(self.kinds.values())

    def clean(self, text: str) -> str:
        """The text without secrets."""
        known = self._seen.get(text)
        if known is None:
            known = self._masked(text)
            if len(self._seen) >= _MEMORY:
                self._seen.clear()
            self._seen[text] = self._seen[known] = known
        return known

    def clean_json(self, value: Any) -> Any:
        """The value with every text in it cleaned, keys too; a key that names a secret masks its value."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {
                self.clean(key) if isinstance(key, str) else key: self._under(key, row) for key, row in value.items()
            }
        if isinstance(value, Sequence):
            return [self.clean_json(row) for row in value]
        return value

    def said(self) -> str:
        """What was masked, in one sentence; empty when nothing was."""
        if not self.count:
            return ""
        listed = ", ".join(f"{kind} {number}" for kind, number in sorted(self.kinds.items()))
        plural = "secrets were" if self.count > 1 else "secret was"
        return f"{self.count} {plural} masked before anything was sent ({listed})"

    def _under(self, key: object, value: Any) -> Any:
        """The value under a key: `{"password": "x"}` is an assignment too."""
        if not isinstance(value, str) or not isinstance(key, str) or not value:
            return self.clean_json(value)
        cleaned = self.clean(value)
        if cleaned != value or "\n" in value or len(key) > 100:
            return cleaned
        head = f'"{key}": "'
        whole = self.clean(f'{head}{value}"')
        return whole[len(head) : -1] if whole.startswith(head) else cleaned

    def _masked(self, text: str) -> str:
        # A hundred patterns take time to compile: who masks nothing does not wait for them.
        from traindx.redaction.kinds import KINDS

        lowered = text.lower()
        for kind in KINDS:
            if any(trigger in lowered for trigger in kind.triggers):
                text = kind.pattern.sub(lambda match, kind=kind: self._mask(kind, match), text)  # type: ignore[misc]
        if self.user_names:
            text = _USER.sub(self._mask_user, text)
        return text

    def _mask(self, kind: Kind, match: re.Match[str]) -> str:
        if kind.real is not None and not kind.real(match):
            return match.group()
        group = next((name for name in ("secret", "double", "single", "bare") if match.groupdict().get(name)), None)
        secret = match.group(group) if group else match.group()
        if "[masked:" in secret:
            return match.group()
        self.kinds[kind.name] += 1
        mask = f"[masked:{kind.name}]"
        if group is None:
            return mask
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match.group()
        return f"{whole[:start]}{mask}{whole[end:]}"

    def _mask_user(self, match: re.Match[str]) -> str:
        if match.group("secret").lower() in _NOBODY:
            return match.group()
        self.kinds["user-name"] += 1
        return f"{match.group('before')}[user]"
