"""Everything a message names, gathered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import TypeVar

from traindx.contract.request import Mentions, Quantity
from traindx.pipeline.request.clauses import Clause, suspicion
from traindx.vocabulary.error_texts import error_by_itself

_MOST = 40
"""of each sort: a pasted log would otherwise fill the context package"""

T = TypeVar("T")


def mentions(text: str, parts: Sequence[tuple[Clause, ...]]) -> Mentions:
    """What a text names; numbers and quoted errors are found in any language."""
    return Mentions(
        epochs=_unique(epochs(text)),
        steps=_unique(steps(text)),
        quantities=_unique(quantities(text)),
        errors=_unique(errors(text)),
        layers=_unique(layers(text)),
        suspicions=_unique(said for part in parts for clause in part if (said := suspicion(clause))),
    )


def _unique(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(islice(dict.fromkeys(found), _MOST))


_NUMBER = r"[+-]?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?"
_COUNT = r"\d{1,3}(?:[,_]\d{3}){1,4}(?!\d)|\d{1,12}(?:\.\d{1,3})?"
_SPELT = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_WORD = "|".join(_SPELT)
_EPOCH = r"(?:epochs?|epochen|epoche|\u00e9poques?|\u00e9pocas?|epocas?)"
_EPOCHS = (
    re.compile(rf"(?<![a-z]){_EPOCH}[ \t]?[:=#_]?[ \t]?({_COUNT})(?:[ \t]?(?:-|to|until|bis)[ \t]?({_COUNT}))?", re.I),
    re.compile(rf"(?<![A-Za-z0-9_.])({_COUNT})(?:st|nd|rd|th|\.|\u4e2a)?[ \t-]?(?:full[ \t])?{_EPOCH}(?![a-z])", re.I),
    re.compile(rf"\bepoch[ \t]({_WORD})\b", re.I),
    re.compile(rf"\b({_WORD})[ \t]epochs\b", re.I),
)
_STEP = (
    r"(?:global[_ ]?steps?|steps?|iterations?|iters?|updates?|batch(?![ _-]?size)(?:es)?"
    r"|schritte?n?|pasos?|\u00e9tapes?)"
)
_STEPS = (
    re.compile(rf"(?<![a-z]){_STEP}[ \t]?[:=#]?[ \t]?({_COUNT})(k|m)?(?![\w.]\d)", re.I),
    re.compile(rf"(?<![A-Za-z0-9_.])({_COUNT})(k|m)?(?:st|nd|rd|th|\u4e2a)?[ \t-]?{_STEP}(?![a-z])", re.I),
)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}

_NAMES = (
    r"(?:(?:train(?:ing)?|val(?:idation)?|test|eval)[ _/-])?"
    r"(?:loss|accuracy|acc|perplexity|ppl|mse|mae|error|f1|auc)"
    r"|(?:\w{1,12}_)?lr|learning[ _]rate|batch[ _-]?size|grad(?:ient)?[ _]?norm|hidden[ _]?size|dropout"
    r"|weight[ _]?decay|momentum|warm-?up(?:[ _]steps)?|seq(?:uence)?[ _]?len(?:gth)?|num_workers|kl|reward"
    r"|(?:gpu )?memory|vram|ram|temperature|max_grad_norm|clip(?:ping)?"
)
_FILLER = (
    r"is|was|at|of|to|from|between|around|about|by|stays?|stayed|starts?|started|reach(?:es|ed)|goes|went"
    r"|jump(?:s|ing|ed)?|keeps|stuck|only|now|rose|fell|drops?|dropped|on|the|up|down|hovers|sits|still|exactly"
    r"|moving|bouncing|oscillates"
)
_LINK = rf"(?:[ \t]?[:=~\u2248@]{{1,2}}[ \t]?|[ \t](?:(?:{_FILLER})[ \t]){{0,5}}~?)"
_VALUE = rf"(?:{_NUMBER}|nan\b|-?inf(?:inity)?\b)"
_UNIT = r"(?:[ \t]?(%|[kmgt]i?b\b|ms\b|s/it\b|it/s\b|s\b|min\b|h\b|hours?\b|minutes?\b|seconds?\b))?"
_ONWARD = r"(?:->|=>|\u2192|to|and is now at|and is now|and now|and|then|now)"
_QUANTITY = re.compile(
    rf"(?<![a-z])({_NAMES}){_LINK}({_VALUE}){_UNIT}(?:[ \t]?{_ONWARD}[ \t]?(?:at[ \t])?({_VALUE}){_UNIT})?",
    re.I,
)
_BARE = re.compile(r"(?<![\w.])(\d{1,9}(?:\.\d{1,6})?)[ \t]?(GiB|GB|MiB|MB|it/s|s/it)\b")


def epochs(text: str) -> Iterator[float]:
    """The epochs a text names, in the order of the ways to name them."""
    for pattern in _EPOCHS:
        for match in pattern.finditer(text):
            yield from (_count(group) for group in match.groups() if group)


def steps(text: str) -> Iterator[int]:
    """The steps, iterations or batches a text names."""
    for pattern in _STEPS:
        for match in pattern.finditer(text):
            yield round(_count(match[1]) * _TIMES[(match[2] or "").lower()])


def quantities(text: str) -> Iterator[Quantity]:
    """Named values such as `lr 1e-3` and `loss from 0.5 to 0.48`, then bare sizes and speeds."""
    for match in _QUANTITY.finditer(text):
        name = re.sub(r"[ _/-]+", "_", match[1].lower())
        for value, unit in ((match[2], match[3]), (match[4], match[5])):
            if value:
                yield Quantity(name, float(value), unit or "", match[0])
    for match in _BARE.finditer(text):
        yield Quantity("memory" if match[2].endswith("B") else "speed", float(match[1]), match[2], match[0])


def _count(text: str) -> float:
    spelt = text.lower()
    return float(_SPELT.index(spelt)) if spelt in _SPELT else float(text.replace(",", "").replace("_", ""))


_MOST_QUOTES = 60


@cache
def known_errors() -> re.Pattern[str]:
    """Error texts that people paste without the exception's name, to the end of their line."""
    return re.compile(rf"(?:{error_by_itself().pattern}|{_ALSO_KNOWN})[^\n]{{0,300}}", re.IGNORECASE)


_RAISED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]{0,80}(?:Error|Exception|Warning|Interrupt)\b(?::[^\n]{1,500})?")
_ALSO_KNOWN = (
    r"CUDA error|CUDNN_STATUS_|NCCL (?:communicator|watchdog)|slurmstepd: error|var\(\): degrees of freedom"
    r"|out of memory|device-side assert|NVRM: Xid|undefined symbol"
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
    for match in chain(_RAISED.finditer(text), known_errors().finditer(text)):
        if not any(start <= match.start() < end for (start, end), _ in quoted[:_MOST_QUOTES]):
            found.append((match.start(), _trimmed(match[0])))
    ordered = list(dict.fromkeys(words for _, words in sorted(found) if words))[:_MOST_QUOTES]
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
