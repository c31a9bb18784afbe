"""How many batches each rank says that it has: with collectives in every step, all must have the same number.

A rank says so in words, or by the total that it counts up to: `it 3/13`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.logs.ranks import rank_in_name
from traindx.readers.model import Excerpt
from traindx.readers.quoting import quote_of

SIGNALS = {"batches-differ": "the ranks print different numbers of batches for the same epoch"}
MOST_LINES = 3_000
_RANK = re.compile(r"\b(?:local_?|global_?)?(?:rank|process|worker)[ _:=#]{0,2}(?P<rank>\d{1,5})\b", re.IGNORECASE)
_COUNT = re.compile(
    r"(?<![\w./])(?P<first>\d{1,9}) (?:(?:mini-?)?batches|(?:iterations|iters|steps) (?:per|in an|an) epoch)\b"
    r"|\b(?:batches|(?:iterations|iters|steps)(?:_per_epoch| per epoch| in (?:the )?(?:loader|epoch)))"
    r"[ \"']{0,3}[:=] ?(?P<last>\d{1,9})(?![\w./])|\blen\(\w{0,20}loader\) ?[:=]{1,2} ?(?P<loader>\d{1,9})\b",
    re.IGNORECASE,
)
_COUNTER = re.compile(
    r"\b(?:it|iters?|iterations?|steps?|batch(?:es)?|mini-?batch|i|b)\b[ :=#\[(]{0,3}"
    r"\d{1,9} ?(?:/|of) ?(?P<total>\d{1,9})(?![\w./])"
    r"|\| ?\d{1,9}/(?P<bar>\d{1,9}) \[",
    re.IGNORECASE,
)
"""progress within an epoch"""
_AHEAD = re.compile(r"\s{0,4}(?:\[(?P<bracket>\d{1,5})\]:?|(?P<number>\d{1,5}):) ")
_OTHER = re.compile(r"val|test|eval|warm|accum|every|after|remain|left|skip|done|finished|took|\bin \d", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def detect(heads: Iterable[Excerpt], *, waited: bool = False) -> list[Signal]:
    """The first wording in which every rank counts its batches once, and the counts differ.

    Where ranks `waited` for each other until they gave up, the totals of their progress are compared as well.
    """
    heads = list(heads)
    said: dict[str, list[tuple[int, int, str, int, str]]] = {}
    for head in heads if waited else []:
        for shape, row in _totals(head):
            said.setdefault(shape, []).append(row)
    for head in heads:
        for shape, row in _counts(head):
            said.setdefault(shape, []).append(row)
    for rows in said.values():
        ranks, counts = [row[0] for row in rows], [row[1] for row in rows]
        if len(set(ranks)) < 2 or len(set(ranks)) < len(ranks) or len(set(counts)) < 2:
            continue
        low, high = min(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[1])
        claim = f"rank {low[0]} has {low[1]:,} batches in an epoch, rank {high[0]} has {high[1]:,}"
        facts: dict[str, Fact] = {
            "fewest_rank": low[0], "fewest_batches": low[1], "most_rank": high[0], "most_batches": high[1],
        }  # fmt: skip
        places = [cite_line(row[2], row[3], f"rank {row[0]}: {row[1]:,} batches", row[4]) for row in (low, high)]
        return [Signal(id="batches-differ", claim=claim, citations=places, facts=facts)]
    return []


def _totals(head: Excerpt) -> Iterator[tuple[str, tuple[int, int, str, int, str]]]:
    """The first total that each rank counts up to in lines of one wording, if it is the only one."""
    named = rank_in_name(head.source)
    first: dict[tuple[str, int], tuple[int, int, str, int, str]] = {}
    several = set()
    for number, line in list(head.numbered())[:MOST_LINES]:
        text = line[:400]
        counted, ranked, ahead = _COUNTER.search(text), _RANK.search(text), _AHEAD.match(text)
        if counted is None or _OTHER.search(text[: counted.start()]):
            continue
        begins = (ahead["bracket"] or ahead["number"]) if ahead else None
        own = int(ranked["rank"]) if ranked else named.number if named else int(begins) if begins else None
        if own is None:
            continue
        total = int(counted["total"] or counted["bar"])
        # The words before the total: what follows are values, whose number may change.
        shape = "total " + _NUMBER.sub("0", text[: counted.start()]).strip(" []()|,.-\r\n")
        shape = re.sub(r"\W{0,3}0\W{1,3}$", "", shape)
        known = first.setdefault((shape, own), (own, total, head.source, number, quote_of(line)))
        if known[1] != total:
            several.add(shape)
    yield from ((shape, row) for (shape, _), row in first.items() if shape not in several)


def _counts(head: Excerpt) -> Iterator[tuple[str, tuple[int, int, str, int, str]]]:
    """Lines that count batches, with the rank that the line or the file's name tells."""
    named = rank_in_name(head.source)
    for number, line in list(head.numbered())[:MOST_LINES]:
        text = line[:400]
        # Processes that share a terminal write into each other's lines.
        starts = [found.start() for found in _RANK.finditer(text)]
        for begin, end in zip([0, *starts], [*starts, len(text)], strict=True):
            part = text[begin:end]
            ranked, counted = _RANK.match(part), _COUNT.search(part)
            own = int(ranked["rank"]) if ranked else named.number if named and not starts else None
            if own is None or counted is None or _OTHER.search(part):
                continue
            count = int(counted["first"] or counted["last"] or counted["loader"])
            shape = _NUMBER.sub("0", part).strip(" []()|,.-\r\n")
            yield shape, (own, count, head.source, number, quote_of(line))
