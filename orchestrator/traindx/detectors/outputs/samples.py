"""Text files of samples that repeat themselves."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.outputs import variety
from traindx.readers.model import Excerpt

SIGNALS = {name: variety.SIGNALS[name] for name in ("outputs-collapsed",)}

MOST_LINES = 2000
"""lines of a file of samples that are looked at"""
FEWEST_LINES = 8
LARGEST = 200_000
_WORD = re.compile(r"\S+")
LOOPING = 0.25
"""share of different pairs of words below which a text goes round in circles"""


def detect(samples: Excerpt) -> Signal | None:
    """A file of samples, one per line or one text: the same line, or the same word, over and over."""
    path = samples.source
    lines = [(number, line.strip()) for number, line in samples.numbered()]
    lines = [(number, line[:500]) for number, line in lines if line]
    if path.endswith(".jsonl"):
        return _looping(path, lines)
    words = [word for _, line in lines for word in _WORD.findall(line)][:LARGEST]
    if len(words) < 40:
        return None
    (common, times), share_of_words = Counter(words).most_common(1)[0], len(set(words)) / len(words)
    repeated, count = Counter(line for _, line in lines).most_common(1)[0]
    one_line = len(lines) >= FEWEST_LINES and count >= 0.6 * len(lines)
    one_word = times >= 0.6 * len(words) and share_of_words < 0.2
    if not one_line and not one_word:
        return None
    text = repeated if one_line else next(line for _, line in lines if common in line)
    line = next(number for number, found in lines if found == text)
    claim = (
        f"{count} of {len(lines)} samples in {path} are the same" if one_line else f"`{common}` over and over in {path}"
    )
    facts: dict[str, Fact] = {"diversity_series": path, "diversity_start": len(lines), "diversity_end": 1}
    place = cite_line(path, line, claim, text[:200])
    return Signal(id="outputs-collapsed", claim=claim, citations=[place], facts=facts)


def _looping(path: str, lines: list[tuple[int, str]]) -> Signal | None:
    """The last record of samples, one JSON object per line: the same few words over and over."""
    if len(lines) < 2:
        return None
    number, text = lines[-1]
    words = [word for sample in re.findall(r'"([^"]{20,2000})"', text) for word in _WORD.findall(sample)][:LARGEST]
    pairs = list(pairwise(words))
    if len(words) < 40 or len(set(pairs)) > LOOPING * len(pairs):
        return None
    claim = f"of {len(pairs)} pairs of words in the last samples only {len(set(pairs))} differ"
    facts: dict[str, Fact] = {"diversity_series": path, "diversity_start": len(pairs), "diversity_end": len(set(pairs))}
    place = cite_line(path, number, claim, text[:200])
    return Signal(id="outputs-collapsed", claim=claim, citations=[place], facts=facts)
