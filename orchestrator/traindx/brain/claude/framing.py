"""Text from artifacts on its way to a model: framed, so that it cannot pass for anything but data."""

from __future__ import annotations

import hashlib
import re

# What could end the frame early, or pass for the markup that models are trained on.
_MARKUP = re.compile(
    r"<(?=\s{0,3}/?\s{0,3}(?:data|system|assistant|user|human|instructions?|function_calls|function_results|tool_use|"
    r"tool_result|invoke|antml|thinking|\|))",
    re.IGNORECASE,
)
# Control characters, zero-width and bidirectional marks, and the tag characters that show nothing anywhere.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def framed(text: str, source: str) -> str:
    """The text between two marks that it cannot contain; the mark is the text's own, so that caching stays possible."""
    shown = escaped(text)
    mark = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f'<data from="{escaped(source).replace(chr(34), chr(39))}" mark="{mark}">\n{shown}\n</data mark="{mark}">'


def escaped(text: str) -> str:
    """The text with markup disarmed and invisible characters spelled out."""
    return _MARKUP.sub("&lt;", _UNSEEN.sub(_spelled, text))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
