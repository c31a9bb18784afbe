"""Program text inside other text: many training scripts print their own source into the log, before or after the rest.

A listing is found by lines that only Python has, and confirmed by Python's own parser, which also says where it ends.
"""

from __future__ import annotations

import ast
import codecs
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import BinaryIO

from traindx.readers.logs.lines import is_indexable

_PIECE = 4 << 20
LARGEST = 1 << 20
"""bytes of a stretch that is searched for programs; a training script with all it imports is shorter"""
_BEFORE = 32 << 10
"""bytes in front of a first statement: comments, a docstring"""
_APART = 128 << 10
"""bytes between two signs of one stretch; the end of a program lies as near behind its last sign"""
_MOST_SIGNS = 20_000
_FEWEST_LINES = 6
_FEWEST_STATEMENTS = 3
_NEAR = 40
"""lines between two files that were printed one after the other"""
_SIGN = re.compile(
    rb"^(?:import [A-Za-z_]|from [A-Za-z_.][\w.]* import |def \w+\(|class \w+[(:]|async def \w+\(|if __name__ ==)",
    re.MULTILINE,
)
_WORDS = (b"import ", b"from ", b"def ", b"class ", b"async def ", b"if __name__ ")
"""what each of these lines begins with"""
_LONGEST_WORD = max(map(len, _WORDS))
_LETTERS = 4
"""letters that tell one of these words"""
_SMALL = 1 << 18
"""bytes that are searched for the words themselves: less than numpy takes to get going"""
_COMMENT = re.compile(rb"\s*(?:#.*)?$")
_QUOTES = re.compile(rb"[rR]?(\"\"\"|''')")
_CODE_LIKE = re.compile(
    rb"\s*([-=#*_~])\1{7,}\s*$|\s*#|[-=#*_~ ]{0,60}[\w./-]{1,80}\.py\b.{0,60}$|(?: {2}|\t)\s*\S|[)\]}@]"
    rb"|(?:def|class|import|from|if|elif|for|while|with|except|return|assert|raise|async|global|del) "
    rb"|(?:else|try|finally):"
    rb"|[A-Za-z_][\w.\[\]'\"]{0,80} ?[-+*/|&]?= ?\S|[A-Za-z_][\w.]{0,60}\(.*\)\s*(?:#.*)?$"
)
_HIGHEST = 300
"""lines of comments and docstring in front of the first statement"""
_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Listing:
    """Lines `first` to `last` (from 1, both included) of a file that are a program; bytes `begin` to `end`."""

    first: int
    last: int
    begin: int
    end: int
    parts: tuple[tuple[int, int], ...]
    """first and last line of each file of the program that Python can parse"""


def find_listings(handle: BinaryIO) -> list[Listing]:
    """The programs printed into a text file, in their order; the position afterwards is the beginning."""
    found: list[Listing] = []
    for begin, end in _stretches(_signs(handle)):
        start = max(found[-1].end if found else 0, begin - _BEFORE)
        first = _line_at(handle, start, found[-1] if found else None)
        handle.seek(start)
        found += _listings_in(handle.read(min(end - start, 2 * LARGEST)), first, start)
    handle.seek(0)
    return found


def is_code_like(line: str) -> bool:
    """Whether a line could stand in a program, or between two."""
    return _CODE_LIKE.match(line.encode(errors="replace")) is not None


def code_of(handle: BinaryIO, listings: Sequence[Listing]) -> str:
    """The programs as text; every line stands where it stands in the file, and all other lines are empty."""
    lines: list[str] = []
    for listing in listings:
        handle.seek(listing.begin)
        raw = handle.read(listing.end - listing.begin).decode("utf-8", "replace").split("\n")
        for first, last in listing.parts:
            lines += [""] * (first - 1 - len(lines))
            lines += [line.rstrip("\r") for line in raw[first - listing.first : last - listing.first + 1]]
    return "\n".join(lines)


def _signs(handle: BinaryIO) -> list[int]:
    """The byte places of lines that only a program has."""
    handle.seek(0)
    if not is_indexable(handle.read(2)):
        return []
    handle.seek(0)
    places: list[int] = []
    offset, left = 0, b""
    while len(places) < _MOST_SIGNS and (piece := handle.read(_PIECE)):
        # The expression is anchored to lines: the last, unfinished one waits for the rest of it.
        finished, cut = piece.find(b"\n") + 1, piece.rfind(b"\n") + 1
        if not cut and len(left) <= _PIECE:
            left += piece
            continue
        head = left + piece[:finished]
        start = len(codecs.BOM_UTF8) if offset == 0 and head.startswith(codecs.BOM_UTF8) else 0
        places += [offset + start + sign for sign in _signs_in(head[start:])]
        offset += len(head)
        places += [offset + sign for sign in _signs_in(memoryview(piece)[finished:cut])]
        offset, left = offset + cut - finished, piece[cut:]
    start = len(codecs.BOM_UTF8) if offset == 0 and left.startswith(codecs.BOM_UTF8) else 0
    places += [offset + start + sign for sign in _signs_in(left[start:])]
    return places


def _signs_in(data: bytes | memoryview) -> list[int]:
    """Where such lines begin. Looking for plain words first spares a log without any the search line by line."""
    if len(data) > _SMALL:
        likely = bytes(data[:_LONGEST_WORD]).startswith(_WORDS) or _begin_alike(data)
    else:
        data = bytes(data)
        likely = data.startswith(_WORDS) or any(b"\n" + word in data for word in _WORDS)
    return [sign.start() for sign in _SIGN.finditer(data)] if likely else []


def _begin_alike(data: bytes | memoryview) -> bool:
    """Whether a line after the first begins with one of the words, by their first letters."""
    import numpy as np

    from traindx.readers.native.library import library

    raw = np.frombuffer(data, dtype=np.uint8)
    right = np.zeros((_LETTERS, 256), dtype=np.bool_)
    for word in _WORDS:
        right[range(_LETTERS), list(word[:_LETTERS])] = True
    code = library()
    if code is not None:
        return code.line_like(raw, right) >= 0
    lines = np.flatnonzero(raw[:-_LETTERS] == ord("\n")) + 1
    for letter in range(_LETTERS):
        lines = lines[right[letter].take(raw.take(lines + letter))]
    return len(lines) > 0


def _stretches(places: list[int]) -> list[tuple[int, int]]:
    """Where programs may stand: from a first sign to as far behind the last as two signs may be apart."""
    if len(places) < 2:
        return []
    found: list[list[int]] = [[places[0], places[0]]]
    for place in places[1:]:
        if place - found[-1][1] > _APART or place - found[-1][0] > LARGEST:
            found.append([place, place])
        else:
            found[-1][1] = place
    ends = [later[0] - _BEFORE for _, later in pairwise(found)]
    return [
        (begin, max(min(last + _APART, end), last + 1))
        for (begin, last), end in zip(found, [*ends, places[-1] + _APART], strict=True)
        if last > begin
    ]


def _line_at(handle: BinaryIO, offset: int, known: Listing | None) -> int:
    """The number of the line at, or around, a byte."""
    number, place = (known.last + 1, known.end) if known is not None else (1, 0)
    handle.seek(place)
    while place < offset and (piece := handle.read(min(_PIECE, offset - place))):
        number += piece.count(b"\n")
        place += len(piece)
    return number


def _listings_in(data: bytes, number: int, offset: int) -> list[Listing]:
    """The programs in a stretch whose first line has this number; that line may be cut."""
    raw = data.split(b"\n")
    places = list(accumulate((len(line) + 1 for line in raw), initial=offset))
    lines = [raw[0].removeprefix(codecs.BOM_UTF8), *raw[1:]] if offset == 0 else raw
    found: list[Listing] = []
    for begin, end in _programs(lines):
        last = _indented_until(lines, end)
        top = begin
        parts: tuple[tuple[int, int], ...] = ((number + begin, number + end - 1),)
        if found and _printed_together(lines[found[-1].last + 1 - number : begin]):
            earlier = found.pop()
            top, parts = earlier.first - number, earlier.parts + parts
        behind = min(places[last], offset + len(data))
        found.append(Listing(number + top, number + last - 1, places[top], behind, parts))
    return found


def _programs(lines: list[bytes]) -> Iterator[tuple[int, int]]:
    """First line of every program, and the line behind its last."""
    texts = [line.decode("utf-8", "replace") for line in lines]
    done = 0
    for sign, line in enumerate(lines):
        if sign >= done and _SIGN.match(line):
            begin, end = _program(lines, texts, done, sign)
            if end > begin:
                yield begin, end
            done = max(end, sign + 1)


def _printed_together(between: list[bytes]) -> bool:
    """Whether what stands between two programs are rules, names of files and statements: it is one listing.

    A statement may be one that only a newer Python understands.
    """
    told = [line for line in between if line.strip()]
    return len(told) <= _NEAR and sum(_CODE_LIKE.match(line) is not None for line in told) >= 0.8 * len(told)


def _program(lines: list[bytes], texts: list[str], lowest: int, sign: int) -> tuple[int, int]:
    """First line of the program around a sign, and the line behind its last; twice the sign where there is none."""
    starts = [start for start in (_docstring(lines, lowest, sign), _comments(lines, lowest, sign)) if start is not None]
    for start in (*starts, sign):
        end = _parsed_until(texts, start)
        if end > sign:
            return start, end
    return sign, sign


def _comments(lines: list[bytes], lowest: int, sign: int) -> int:
    start = sign
    while start > max(lowest, sign - _HIGHEST) and _COMMENT.match(lines[start - 1]):
        start -= 1
    while start < sign and not lines[start].strip():
        start += 1
    return start


def _docstring(lines: list[bytes], lowest: int, sign: int) -> int | None:
    """The line in which the text in quotes above a sign begins."""
    above = _comments(lines, lowest, sign)
    above = next((place for place in range(above - 1, lowest - 1, -1) if lines[place].strip()), -1)
    if above < 0:
        return None
    for quotes in (b'"""', b"'''"):
        if lines[above].rstrip().endswith(quotes):
            seen = 0
            for place in range(above, max(lowest, above - _HIGHEST) - 1, -1):
                seen += lines[place].count(quotes)
                if seen >= 2 and seen % 2 == 0 and _QUOTES.match(lines[place]):
                    return place
    return None


def _parsed_until(texts: list[str], start: int) -> int:
    """The line behind the program that begins at `start`; `start` itself where none does."""
    end = len(texts)
    for _ in range(12):
        tree, wrong = _parsed("\n".join(texts[start:end]))
        if tree is not None:
            return _without_records(tree, texts, start, end)
        shorter = min(end - 1, start + max(wrong - 1, 0))
        if shorter == end - 1:  # what is wrong is that the text ends: back to where a statement may begin
            shorter = next((at for at in range(end - 1, start, -1) if texts[at][:1].strip()), start)
        if shorter <= start:
            return start
        end = shorter
    return start


def _parsed(text: str) -> tuple[ast.Module | None, int]:
    """The tree of a text, or the line at which it stops being a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text), 0
        except SyntaxError as error:
            return None, error.lineno or 1
        except (ValueError, RecursionError, MemoryError):
            return None, 1


def _without_records(tree: ast.Module, texts: list[str], start: int, end: int) -> int:
    """The line behind the last statement that belongs to a program: `epoch: 1` and `0.25` could be one, but are not."""
    body = list(tree.body)
    while body and _is_record(body[-1]):
        body.pop()
    if not any(isinstance(node, _DEFINES) for node in body) or _size(body) < _FEWEST_STATEMENTS:
        return start
    if len(body) < len(tree.body):
        end = start + (body[-1].end_lineno or 0)
    while end > start and not texts[end - 1].strip():
        end -= 1
    return end if sum(bool(text.strip()) for text in texts[start:end]) >= _FEWEST_LINES else start


def _size(body: list[ast.stmt]) -> int:
    """Statements, with those inside of definitions."""
    return sum(1 for node in body for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def _is_record(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign):
        return node.value is None and isinstance(node.annotation, ast.Constant | ast.UnaryOp | ast.BinOp)
    return isinstance(node, ast.Expr) and isinstance(
        node.value, ast.Constant | ast.UnaryOp | ast.BinOp | ast.Tuple | ast.Name | ast.Compare | ast.List | ast.Dict
    )


def _indented_until(lines: list[bytes], end: int) -> int:
    """Behind a program that broke off inside a block: the rest of the block."""
    if end >= len(lines) or not lines[end - 1][:1].isspace():
        return end
    last = end
    while last < len(lines) and (lines[last][:1].isspace() or not lines[last].strip()):
        last += 1
    return last if any(line.strip() for line in lines[end:last]) else end
