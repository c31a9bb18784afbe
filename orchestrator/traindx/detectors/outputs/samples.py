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
_PROMPT = re.compile(
    r"\W{0,4}(?:prompt|input|question|instruction|user|human|context|given|step|epoch|seed|temperature|sample|source|src|q)"
    r"\b[^:=\n]{0,20}[:=#]|[-=*#~_]{3,}.{0,80}[-=*#~_]{3,}$|[-=*#~_]{3,}$",
    re.IGNORECASE,
)
"""lines of a file of samples that the model did not write"""
_SAID = re.compile(
    r"^\W{0,4}(?:output|answer|completion|response|generated|generation|model|assistant|a|hyp|pred\w*)\s?[:=>]+\s*",
    re.IGNORECASE,
)
ONE_CHARACTER = 0.9
"""share of a single character in what a model wrote above which it writes nothing else"""
FEWEST_CHARACTERS = 120
LOOPING = 0.25
"""share of different pairs of words below which a text goes round in circles"""


def detect(samples: Excerpt) -> Signal | None:
    """A file of samples, one per line or one text: the same line, or the same word, over and over."""
    path = samples.source
    lines = [(number, line.strip()) for number, line in samples.numbered()]
    lines = [(number, line[:500]) for number, line in lines if line]
    if path.endswith(".jsonl"):
        return _looping(path, lines)
    answers = [(number, said) for number, line in lines if not _PROMPT.match(line) and (said := _SAID.sub("", line))]
    one = _one_character(path, answers)
    if one is not None:
        return one
    lines = answers if len(answers) < len(lines) else lines
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


def _one_character(path: str, lines: list[tuple[int, str]]) -> Signal | None:
    """Texts that hold hardly anything but one character: dots, colons."""
    written = "".join(line for _, line in lines)[:LARGEST].replace(" ", "")
    if len(written) < FEWEST_CHARACTERS:
        return None
    common, times = Counter(written).most_common(1)[0]
    if times < ONE_CHARACTER * len(written) or common.isdigit():
        return None
    number, text = next(row for row in lines if common in row[1])
    claim = f"`{common}` makes up {times / len(written):.0%} of what stands in {path}"
    facts: dict[str, Fact] = {"diversity_series": path, "diversity_start": len(written), "diversity_end": times}
    return Signal(
        id="outputs-collapsed", claim=claim, citations=[cite_line(path, number, claim, text[:200])], facts=facts
    )


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
