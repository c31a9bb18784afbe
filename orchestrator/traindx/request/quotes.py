"""What a message quotes: error texts to the letter, and names of layers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

_MOST = 60

_RAISED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]{0,80}(?:Error|Exception|Warning|Interrupt)\b(?::[^\n]{1,500})?")
_KNOWN = re.compile(
    r"(?:CUDA (?:error|out of memory)|CUDNN_STATUS_|NCCL (?:WARN|error|communicator|watchdog)|Segmentation fault"
    r"|Bus error|slurmstepd: error|var\(\): degrees of freedom|No space left on device|out of memory|oom-kill"
    r"|device-side assert|NVRM: Xid|undefined symbol|DUE TO TIME LIMIT)[^\n]{0,300}",
    re.I,
)
_QUOTED = re.compile(
    r"(?<![\w'])'([^'\n]{3,300})'(?!\w)|\"([^\"\n]{3,300})\"|`([^`\n]{3,300})`|\u201c([^\u201d\n]{3,300})\u201d"
    r"|\u2018([^\u2019\n]{3,300})\u2019|\u201e([^\u201c\u201d\n]{3,300})[\u201c\u201d]|\u00ab([^\u00bb\n]{3,300})\u00bb"
)
_ERRORLIKE = re.compile(
    r"error|warning|exception|fail|cannot|could not|invalid|expected|mismatch|degrees of freedom|second time"
    r"|out of memory|killed|\bnan\b|\binf\b|abort|assert|denied|no such|not found|timed? ?out|missing|illegal|must ",
    re.I,
)
# Where the author takes over again on the same line: `…: out of memory. What can I do?`
_AUTHOR = re.compile(
    r"(?<=[.!?\w)\]])[.,;!?]?\s(?:(?:what|why|how|any|please|help|can|is|does|do|could)\b[^\n]*\?"
    r"|(?:my|i|during|when|while|at epoch|at step|after|but)\b[^\n]*)$",
    re.I,
)

_MODULE = re.compile(r"(?<![\w./-])[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,12}(?![\w(/-])")
_TENSOR = re.compile(r"\.(?:weight|bias|gamma|beta|kernel|(?:weight|bias)_[ih]h_l\d{1,3}(?:_reverse)?)$")
_NUMBERED = re.compile(r"\.\d{1,3}(?:\.|$)")
_NOT_A_MODULE = re.compile(
    r"^(?:torch|np|numpy|python|cuda|pip|tf|v\d{1,3}|e|i)\.|\.(?:py|pt|pth|log|csv|ya?ml|json|txt|md|out|err|bin)$",
    re.I,
)
_LAYER = re.compile(
    r"\b(?:(?:fc|conv|lstm|gru|rnn|ln|bn|attn|mlp|linear|dense|proj|block|layer|enc|dec)_?\d{1,3}"
    r"|(?:layer|block|head|stage)[ \t]#?\d{1,3})\b",
    re.I,
)


def errors(text: str) -> tuple[str, ...]:
    """Quoted errors, exception lines and well-known error texts, each exactly as it stands in the message."""
    quoted = [(m.span(), words) for m in _QUOTED.finditer(text) for words in m.groups() if words]
    quoted = [(span, words) for span, words in quoted if _ERRORLIKE.search(words) or _RAISED.search(words)]
    found = [(span[0], words) for span, words in quoted]
    for match in chain(_RAISED.finditer(text), _KNOWN.finditer(text)):
        if not any(start <= match.start() < end for (start, end), _ in quoted[:_MOST]):
            found.append((match.start(), _trimmed(match[0])))
    ordered = list(dict.fromkeys(words for _, words in sorted(found) if words))[:_MOST]
    return tuple(words for words in ordered if not any(words != other and words in other for other in ordered))


def _trimmed(words: str) -> str:
    author = _AUTHOR.search(words)
    kept = (words[: author.start()] if author else words).strip()
    for quote in "\"'`\u201c\u201d\u2019":
        if kept.endswith(quote) and kept.count(quote) % 2:
            kept = kept[:-1].rstrip()
    return kept


def layers(text: str) -> Iterator[str]:
    """Names of layers and tensors: dotted paths, `fc1`, `layer 4`."""
    for match in _MODULE.finditer(text):
        path = match[0]
        if (_TENSOR.search(path) or _NUMBERED.search(path)) and not _NOT_A_MODULE.search(path):
            yield path
    yield from (match[0] for match in _LAYER.finditer(text))
