"""Histories with one JSON object per line, whole blocks at a time.

Lines that differ in their digits only are one form. One line of a form is parsed as JSON; the others are compared with
it byte for byte, and their numbers are read from the places it gave. What does not compare is parsed by itself, so the
result is that of parsing every line.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traindx.readers.tables.record import Records, is_long_form, number, told_by_name
from traindx.vocabulary.metrics import is_flag

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.block import Block
    from traindx.readers.logs.bulk.digits import Places, Truths
    from traindx.readers.logs.bulk.skeleton import Lines, Number, Skeleton
    from traindx.readers.native.library import Library
    from traindx.readers.tables.record import ManyCells

_DEEPEST = 4
"""objects within objects whose numbers are taken"""
_FEW = 4
"""lines that are sooner parsed one by one than compared"""
_MOST_FORMS = 4_000
_MOST_VARIANTS = 24
_LONGEST = 20_000
"""bytes of a line that may be compared with others"""
_LONGEST_NUMBER = 60
_TOKEN = re.compile(
    rb"[\s,:]*(?:(?P<open>[\[{])|(?P<close>[\]}])"
    rb'|"(?P<string>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<word>[-+]?[A-Za-z0-9.][\w.+-]*))'
)


class Spelled(str):
    """A JSON number, kept as it is spelt."""

    __slots__ = ()


def cells_of(line: str) -> list[tuple[str, str]] | None:
    """The names and spellings of the scalars in a line; None where the line is no JSON object."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        record = json.loads(line, parse_float=Spelled, parse_int=Spelled, parse_constant=Spelled)
    except (ValueError, RecursionError):
        return None
    return list(_flat(record))


def _flat(record: Mapping[str, object], above: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        name = f"{above}/{key}" if above else key
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, bool) and is_flag(name):
            yield name, str(int(value))
        elif isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(value, name, depth + 1)


@dataclass(frozen=True)
class _Form:
    """Lines that differ in their digits only; the cells that are numbers, and where they stand."""

    skeleton: Skeleton
    cells: tuple[tuple[str, Number], ...] | None
    """None where such lines have to be parsed one by one"""
    wholes: tuple[int, ...] = ()
    """runs that begin a JSON number: more digits than one may not begin with nought"""

    def fits(self, block: Block, lines: Lines) -> Truths:
        """Which of the lines have this form."""
        from traindx.readers.logs.bulk.skeleton import span

        good = self.skeleton.fits(block.text, lines)
        for run in self.wholes:
            begins = lines.starts[run]
            good &= (lines.ends[run] - begins == 1) | (block.text.bytes.take(begins) != 48)
        for _, spelled in self.cells or ():
            if spelled.constant is None:
                begins, ends = span(lines, spelled)
                good &= ends - begins <= _LONGEST_NUMBER
        return good


class JsonLines:
    """Reads the blocks of one history into records."""

    def __init__(self, records: Records, code: Library | None) -> None:
        self._records, self._code = records, code
        self._known: dict[int, list[_Form]] = defaultdict(list)
        self._forms = 0

    def block(self, first: int, data: bytes) -> None:
        """Take in whole lines, the first of which has this number; none of them holds a carriage return."""
        import numpy as np

        from traindx.readers.logs.bulk.block import Block
        from traindx.readers.logs.bulk.blocks import groups_of

        block = Block(first, data)
        block.find_runs()
        keys = block.keys()
        lengths = block.ends - block.begins
        comparable = (np.diff(block.first_runs) > 0) & (lengths <= _LONGEST)
        alone = [np.flatnonzero(~comparable & (lengths > 0))]
        groups: list[tuple[Places, list[ManyCells]]] = []
        for units in groups_of(keys, np.flatnonzero(comparable)):
            found, left = self._group(block, units, self._known[int(keys[units[0]])])
            groups += found
            alone.append(left)
        groups += _parsed(block, np.sort(np.concatenate(alone)))
        self._records.mixed(groups, block.numbers)

    def _group(
        self, block: Block, units: Places, known: list[_Form]
    ) -> tuple[list[tuple[Places, list[ManyCells]]], Places]:
        """The cells of lines that hash alike, and those of the lines that have to be parsed by themselves."""
        import numpy as np

        if len(units) < _FEW and not known:
            return [], units
        counts = np.diff(block.first_runs).take(units)
        odd = units[counts != counts[0]]
        units = units[counts == counts[0]]
        lines = block.lines(units, int(counts[0]))
        found: list[tuple[Places, list[ManyCells]]] = []
        alone = [odd]
        tried = 0
        while len(units):
            if tried == len(known):
                if len(units) < _FEW or len(known) >= _MOST_VARIANTS or self._forms >= _MOST_FORMS:
                    break
                known.append(_learn(block.raw(int(units[0])), block.runs(int(units[0]))))
                self._forms += 1
            form = known[tried]
            good = form.fits(block, lines)
            if form.cells is None:
                alone.append(units[good])
            elif bool(good.any()) and form.cells:
                found.append((units[good], self._cells(block, form, lines.only(good))))
            units, lines = units[~good], lines.only(~good)
            tried += 1
        return found, np.concatenate([*alone, units])

    def _cells(self, block: Block, form: _Form, lines: Lines) -> list[ManyCells]:
        from traindx.readers.logs.bulk.skeleton import values

        return [
            (name, values(block.text, lines, spelled, self._code), None, _spelling(block, lines, spelled))
            for name, spelled in form.cells or ()
        ]


def _spelling(block: Block, lines: Lines, spelled: Number) -> Callable[[Places], bytes]:
    from traindx.readers.logs.bulk.skeleton import span

    def spell(chosen: Places) -> bytes:
        if spelled.constant is not None:
            return f"{spelled.text}\n".encode() * len(chosen)
        starts, ends = span(lines, spelled)
        return block.text.spelled(starts.take(chosen), ends.take(chosen))

    return spell


def _parsed(block: Block, units: Places) -> list[tuple[Places, list[ManyCells]]]:
    """Lines that are parsed one by one; those with the same names together."""
    import numpy as np

    alike: dict[tuple[str, ...], tuple[list[int], list[list[str]]]] = {}
    for unit in units.tolist():
        cells = cells_of(block.raw(unit).decode(errors="replace"))
        told = [cell for cell in told_by_name([(*cell, 0) for cell in cells or ()]) if number(cell[1]) is not None]
        if told:
            places, rows = alike.setdefault(tuple(name for name, _, _ in told), ([], []))
            places.append(unit)
            rows.append([text for _, text, _ in told])
    return [
        (
            np.array(places),
            [
                (name, np.array([number(text) for text in column], dtype=np.float64), None, _joined(column))
                for name, column in zip(names, zip(*rows, strict=True), strict=True)
            ],
        )
        for names, (places, rows) in alike.items()
    ]


def _joined(texts: tuple[str, ...]) -> Callable[[Places], bytes]:
    return lambda chosen: "".join(f"{texts[place]}\n" for place in chosen.tolist()).encode(errors="replace")


@dataclass(frozen=True)
class _Leaf:
    """A scalar of a line: the way to it, and where its spelling begins and ends."""

    path: tuple[str, ...] | None
    """None inside a list"""
    begin: int
    end: int
    is_text: bool


def _learn(raw: bytes, runs: list[tuple[int, int]]) -> _Form:
    """The form of a line with these runs of digits."""
    from traindx.readers.logs.bulk.skeleton import Skeleton

    edges = [0, *(edge for run in runs for edge in run), len(raw)]
    gaps = [raw[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if not raw.decode(errors="replace").lstrip().startswith("{"):
        return _Form(Skeleton(gaps, None, {}, {}), ())
    leaves, keys = _leaves(raw)
    said = cells_of(raw.decode(errors="replace"))
    told = [] if said is None else _told(raw, leaves)
    plain = Skeleton(gaps, None, {}, {place: raw[begin:end] for place, (begin, end) in enumerate(runs)})
    if (
        said is None
        or any(_is_endless(text) for _, text, _ in told)
        or [(name, text) for name, text, _ in told] != said
    ):
        return _Form(plain, None)
    fixed = list(keys)
    fixed += [
        (leaf.begin, leaf.end)
        for leaf in leaves
        if leaf.is_text and (is_long_form(name for name, _, _ in told) or b"\\" in raw[leaf.begin : leaf.end])
    ]
    literals = {
        place: raw[begin:end]
        for place, (begin, end) in enumerate(runs)
        if any(a <= begin and end <= b for a, b in fixed)
    }
    cells = _numbers(raw, runs, leaves, told)
    starts = {leaf.begin + (raw[leaf.begin : leaf.begin + 1] == b"-") for leaf in leaves if not leaf.is_text}
    wholes = tuple(place for place, (begin, _) in enumerate(runs) if begin in starts)
    return _Form(Skeleton(gaps, None, {}, literals), cells, wholes)


def _is_endless(text: str) -> bool:
    """Whether a number has too many digits to be taken as one: others of its form may have fewer."""
    if len(text) <= _LONGEST_NUMBER:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _told(raw: bytes, leaves: list[_Leaf]) -> list[tuple[str, str, int]]:
    """Name, text and number of the leaves that are cells."""
    found = []
    for place, leaf in enumerate(leaves):
        if leaf.path is not None and len(leaf.path) <= _DEEPEST + 1:
            text = raw[leaf.begin : leaf.end].decode(errors="replace")
            name = "/".join(leaf.path)
            if leaf.is_text or text not in {"true", "false", "null"}:
                found.append((name, _text(text) if leaf.is_text else text, place))
            elif text != "null" and is_flag(name):
                found.append((name, str(int(text == "true")), place))
    return found


def _text(inner: str) -> str:
    return str(json.loads(f'"{inner}"')) if "\\" in inner else inner


def _numbers(
    raw: bytes, runs: list[tuple[int, int]], leaves: list[_Leaf], told: list[tuple[str, str, int]]
) -> tuple[tuple[str, Number], ...] | None:
    """The cells that are numbers; None where one of them cannot be read from its place alone."""
    from traindx.readers.logs.bulk.skeleton import number_at

    found = []
    for name, text, place in told_by_name(told):
        if number(text) is None:
            continue
        spelled = number_at(raw, runs, (leaves[place].begin, leaves[place].end))
        if spelled is None:
            return None
        found.append((name, spelled))
    return tuple(found)


def _leaves(raw: bytes) -> tuple[list[_Leaf], list[tuple[int, int]]]:
    """The scalars of a line of JSON, and where its keys stand; nothing sensible for what is no JSON."""
    path: list[str | None] = []
    """a key for every object that is open, None for a list"""
    expects_key: list[bool] = []
    leaves: list[_Leaf] = []
    keys: list[tuple[int, int]] = []
    at = 0
    while (found := _TOKEN.match(raw, at)) is not None:
        kind, at = str(found.lastgroup), found.end()
        begin, end = found.span(kind)
        if kind == "open":
            path.append("" if found[kind] == b"{" else None)
            expects_key.append(found[kind] == b"{")
            continue
        if kind == "close":
            if not path:
                break
            path.pop()
            expects_key.pop()
        elif path and path[-1] is not None and expects_key[-1]:
            keys.append((begin, end))
            path[-1] = _key(raw[begin:end])
            expects_key[-1] = False
            continue
        else:
            inside = [key for key in path if key is not None]
            leaves.append(_Leaf(tuple(inside) if len(inside) == len(path) else None, begin, end, kind == "string"))
        if path and path[-1] is not None:
            expects_key[-1] = True
    return leaves, keys


def _key(raw: bytes) -> str:
    try:
        return _text(raw.decode(errors="replace"))
    except ValueError:
        return ""
