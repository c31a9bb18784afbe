"""`key = value` in all its notations: INI sections, `.env`, gin bindings, argparse dumps and command lines."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from traindx.contract import Fact
from traindx.readers.configs.values import Found, Remark, dotted, flat, scalar

_PAIR = re.compile(r"\s*(?:export\s+|set\s+)?([A-Za-z_][\w.\-/ ]{0,60}?)\s*(?:[:=]|\s->)\s*(\S.*?)\s*$")
_SECTION = re.compile(r"\s*\[\[?\s*([\w.\- \"']{1,80}?)\s*\]\]?\s*$")
_COMMENTS = ("#", ";", "//")
_CALL = re.compile(r"\b(?:Namespace|\w{0,40}(?:Config|Args|Arguments|Params|Parameters))\((\w{1,60}=)")
_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w.\-]{0,60})(?:[= ]\s*([^\s-]\S{0,300}|-\.?\d\S{0,40}))?(?!\S)")
_OPENING, _CLOSING = "([{", ")]}"
_LONGEST_LINE = 2_000
_LONGEST_CALL = 40_000
# A value in brackets may go on over lines, as gin files have it.
_MOST_LINES = 40


def read_pairs(text: str, remark: Remark) -> Found:
    """Every pair with its section, value and line."""
    call = _CALL.search(text)
    if call and not text[: call.start()].strip().count("\n"):
        yield from _call(text, call)
        return
    section, lines = "", text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            remark(f"line {number} is too long for a setting and was left out")
            continue
        if line.lstrip().startswith(_COMMENTS):
            continue
        header = _SECTION.match(line)
        if header:
            section = header[1].strip("\"' ")
            continue
        pair = _PAIR.match(line)
        if pair and "--" not in pair[1]:
            key = pair[1].strip().replace(" ", "_")
            value = pair[2].split(" #")[0].split(" ;")[0]
            named = f"{section}.{key}" if section else key
            yield from _value(named, value, lines, number)
        elif "--" in line:
            yield from flags(line, number)


def _value(key: str, value: str, lines: list[str], number: int) -> Found:
    """One value, or the leaves of a list or dict that is written as Python writes it."""
    if value[:1] and value[0] in _OPENING:
        for more in lines[number : number + _MOST_LINES]:
            if sum(map(value.count, _OPENING)) <= sum(map(value.count, _CLOSING)):
                break
            value += " " + more.partition("#")[0].strip()[:_LONGEST_LINE]
        read = _literal(value.strip())
        if isinstance(read, (list, tuple, dict)):
            for path, leaf in flat(read, (key,)):
                yield dotted(path), leaf, number
            return
    yield key, scalar(value.rstrip(",")), number


def _literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape inside a string is the run's business
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return None


def flags(line: str, number: int) -> Found:
    """`--lr 0.1 --amp`, as a launch script or a recorded command has them."""
    for name, value in _FLAG.findall(line.rstrip("\\ ")):
        yield name.replace("-", "_"), scalar(value) if value else True, number


def _call(text: str, call: re.Match[str]) -> Found:
    """`Namespace(lr=0.1, …)`, on one line or many."""
    first = text.count("\n", 0, call.start()) + 1
    tree = _parsed(text[call.start() : call.start() + _LONGEST_CALL].strip())
    if tree is None or not isinstance(tree.body, ast.Call):
        return
    for keyword in tree.body.keywords:
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, RecursionError, MemoryError):
            value = (ast.get_source_segment(text[call.start() :], keyword.value) or "")[:200]
        for path, leaf in flat(value, (keyword.arg or "",)):
            yield dotted(path), leaf, first + keyword.value.lineno - 1


def _parsed(text: str) -> ast.Expression | None:
    # What follows the call (another print) is cut off at closing brackets, last one first.
    ends = [place for place, letter in enumerate(text) if letter == ")"][-20:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for end in reversed(ends):
            try:
                return ast.parse(text[: end + 1], mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


_STARTS = re.compile(r"\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|horovodrun)\b|^\s*--\w")


def launch_options(text: str) -> Iterator[tuple[str, Fact, int]]:
    """Name, value and line of every option that a launch script gives; a command may go on over several lines."""
    going_on = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("#") or not (going_on or _STARTS.search(line)):
            going_on = False
            continue
        yield from flags(line, number)
        going_on = bare.endswith("\\")
