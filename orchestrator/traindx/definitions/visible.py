"""Text from artifacts, made fit for a terminal."""

from __future__ import annotations

import re

# Logs are data: an escape sequence or a bidirectional override in a quote must not drive the reader's terminal.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with control characters spelled out."""
    return _UNSEEN.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
