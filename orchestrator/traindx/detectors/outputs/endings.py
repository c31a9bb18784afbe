"""Samples that never end by themselves: all of them as long as the limit allows."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.objective import words_of
from traindx.readers.logs.printed_samples import PrintedSample
from traindx.readers.model import Series
from traindx.readers.quoting import quote_of
from traindx.readers.tables.predictions import Predictions

SIGNALS = {
    "samples-never-stop": "generated samples always run to the length limit",
    "samples-stop": "generated samples end by themselves",
}

FEWEST = 5
_MEAN = re.compile(
    r"(?:mean|avg|average)\b[^.\n]{0,30}?(?:tokens|len(?:gth)?)\D{0,3}(?P<mean>\d+(?:\.\d+)?)\s*"
    r"(?:/|\(?\s*(?:of|limit|max\w*|cap)\s*[:=]?)\s*(?P<most>\d+)",
    re.IGNORECASE,
)
"""`mean new tokens 64.0 (limit 64)`: as long on average as is allowed, so all of them are"""
_LENGTH = re.compile(
    r"(?:gen(?:erated)?|new|completion|response|output|sample)?_?(?:len(?:gth)?|tokens|n_tokens|num_tokens)"
)
_NEW = ("new", "gen", "completion", "response", "output")
_REASON = {"finish_reason", "stop_reason", "finish"}
_AT_LIMIT = {"length", "max_length", "max_tokens", "max_new_tokens"}
_STOPPED = {"stop", "eos", "end_turn", "eos_token", "stop_sequence"}
_CLIPPED = {"clipped", "truncated"}
_SAID = re.compile(
    r"(?P<count>\d+)\s*/\s*(?P<of>\d+)[^.\n]{0,40}(?:hit|reached|at|ended (?:at|by|with)|truncated)[^.\n]{0,30}"
    r"(?:max(?:imum)?[_ ](?:new[_ ])?(?:tokens|length)|length|limit)"
    r"|stopped (?:by|on|with) eos\s*[:=]?\s*(?P<stopped>\d+)\s*/\s*(?P<all>\d+)"
    r"|eos (?:rate|ratio|fraction)\s*[:=]\s*(?P<rate>[\d.]+)",
    re.IGNORECASE,
)


def in_series(series: Sequence[Series]) -> list[Signal]:
    """A logged share of samples that were cut off, at one or at zero."""
    for row in series:
        words = words_of(row)
        values = row.values[np.isfinite(row.values)]
        if len(values) < FEWEST or float(values.min()) < 0 or float(values.max()) > 1:
            continue
        ended = "eos" in words and words & {"rate", "ratio", "frac", "fraction", "share"}
        clipped = words & _CLIPPED and words & {"ratio", "rate", "frac", "fraction", "completion", "completions"}
        if not ended and not clipped:
            continue
        late = values[len(values) // 2 :]
        cut = 1 - late if ended else late
        place = cite(row, len(row) - 1, f"`{row.original}` is {late[-1]:g} at the end")
        if float(cut.min()) >= 0.98:
            claim = f"`{row.original}` is {late[-1]:g} over the second half: every sample runs to the limit"
            return [Signal(id="samples-never-stop", claim=claim, citations=[place])]
        if float(np.median(cut)) <= 0.3:
            return [Signal(id="samples-stop", claim=f"`{row.original}` is {late[-1]:g}", citations=[place])]
    return []


def in_lines(source: str, numbered: Sequence[tuple[int, str]]) -> list[Signal]:
    """What the last line says that counts samples which reached the limit."""
    for number, line in reversed(numbered):
        mean = _MEAN.search(line[:1_000])
        if mean is not None and int(mean["most"]) > 1:
            share = float(mean["mean"]) / int(mean["most"])
            claim = f"samples are {mean['mean']} tokens long on average, and {mean['most']} are allowed"
            place = cite_line(source, number, claim, quote_of(line))
            if 0.99 <= share <= 1.01:
                return [Signal(id="samples-never-stop", claim=claim, citations=[place])]
            return [Signal(id="samples-stop", claim=claim, citations=[place])] if share <= 0.8 else []
        said = _SAID.search(line[:1_000])
        if said is None:
            continue
        if said["rate"] is not None:
            cut = 1 - float(said["rate"].rstrip("."))
        elif said["stopped"] is not None:
            cut = 1 - int(said["stopped"]) / max(1, int(said["all"]))
        else:
            cut = int(said["count"]) / max(1, int(said["of"]))
        place = cite_line(source, number, f"{cut:.0%} of the samples reach the length limit", quote_of(line))
        if 0.95 <= cut <= 1:
            return [Signal(id="samples-never-stop", claim=place.claim, citations=[place])]
        return [Signal(id="samples-stop", claim=place.claim, citations=[place])] if 0 <= cut <= 0.5 else []
    return []


def in_records(rows: Sequence[dict[str, object]], path: str, lines: Sequence[int]) -> list[Signal]:
    """Reasons for which generation ended, or lengths that are all the same, in records of samples."""
    reasons = [str(value).lower() for row in rows for key, value in row.items() if key.lower() in _REASON]
    known = [reason for reason in reasons if reason in _AT_LIMIT | _STOPPED]
    last = lines[-1] if lines else 0
    if len(known) >= FEWEST:
        share = sum(reason in _AT_LIMIT for reason in known) / len(known)
        return _told(path, last, share, f"{share:.0%} of {len(known)} samples ended because of their length")
    measured = [
        (key.lower(), value)
        for row in rows
        for key, value in row.items()
        if isinstance(value, int) and not isinstance(value, bool) and _LENGTH.fullmatch(key.lower())
    ]
    lengths = [value for _, value in measured]
    # What is counted as new was generated; a plain length may be that of a packed input.
    generated = all(key.startswith(_NEW) for key, _ in measured)
    if len(lengths) >= (FEWEST if generated else 2 * FEWEST) and len(set(lengths)) == 1 and lengths[0] >= 16:
        return _told(path, last, 1.0, f"all {len(lengths)} samples have exactly {lengths[0]} tokens")
    return []


def _told(path: str, line: int, share: float, claim: str) -> list[Signal]:
    facts: dict[str, Fact] = {"limit_claim": claim}
    if 0.3 < share < 0.95:
        return []
    name = "samples-never-stop" if share >= 0.95 else "samples-stop"
    return [Signal(id=name, claim=claim, citations=[cite_line(path, line, claim)] if line else [], facts=facts)]


def in_texts(samples: Sequence[PrintedSample], rows: Sequence[Predictions]) -> list[Signal]:
    """Many long samples of exactly the same number of words."""
    texts = [row.text for row in samples] or [text for one in rows for text in one.predicted]
    lengths = [len(text.split()) for text in texts[-50:]]
    if len(lengths) < 2 * FEWEST or min(lengths) < 30 or len(set(lengths)) > 1:
        return []
    claim = f"the last {len(lengths)} samples have exactly {lengths[0]} words each"
    if samples or not rows[0].lines:
        return []
    place = cite_line(rows[0].path, rows[0].lines[-1], claim)
    return [Signal(id="samples-never-stop", claim=claim, strength=0.7, citations=[place])]
