"""Numbers in a message: epochs, steps, and named quantities with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.request.model import Quantity

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
