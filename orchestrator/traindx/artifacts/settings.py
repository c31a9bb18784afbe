"""Configuration files: every scalar of a YAML, JSON, TOML or INI file with its dotted key and its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from traindx.artifacts.jsontext import leaves
from traindx.artifacts.lines import blocks
from traindx.artifacts.model import Setting
from traindx.contract import Fact

if TYPE_CHECKING:
    import yaml

Found = Iterator[tuple[str, Fact, int]]
"""key, value and line of each setting"""

# A hand-written configuration is a few KB; reading YAML costs about ten seconds per MB.
LARGEST = 256 << 10
MOST = 5_000
_DEEPEST = 24
_LONGEST_TEXT = 500
# YAML 1.1 wants a point and a signed exponent in a float: it takes `3e-4` and `1e5` for text.
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PAIR = re.compile(r"\s*([A-Za-z_][\w.\-/ ]{0,60}?)\s*[:=]\s*(\S.*?)\s*$")
_SECTION = re.compile(r"\s*\[\[?\s*([\w.\- \"']{1,80}?)\s*\]\]?\s*$")


class Unreadable(ValueError):
    """A configuration file that cannot be read, with the reason."""


def read_settings(handle: BinaryIO, source: str) -> list[Setting]:
    """The settings of a configuration file; raises `Unreadable` with the reason where it has none to give."""
    text = "".join(text for _, text in blocks(handle, LARGEST + 1))
    if len(text) > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST >> 10} KB, which no configuration is")
    found: list[Setting] = []
    seen: set[tuple[str, int]] = set()
    for key, value, line in _reader(source)(text):
        if len(found) >= MOST:
            break
        if key and (key, line) not in seen:
            seen.add((key, line))
            found.append(Setting(key, _bounded(value), source, line))
    return found


def scalar(text: str) -> Fact:
    """The value that a bare word of a configuration stands for."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    if bare.lower() in {"true", "false"}:
        return bare.lower() == "true"
    digits = bare.replace("_", "")
    if len(digits) <= 40:
        if digits.lstrip("+-").isdecimal() and digits.isascii():
            return int(digits)
        if _FLOAT.fullmatch(digits) or digits.lower().lstrip("+-.") in {"inf", "nan"}:
            return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return bare


def dotted(path: tuple[str | int, ...]) -> str:
    """`("schedule", "peaks", 1)` as `schedule.peaks[1]`."""
    key = ""
    for part in path:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def flat(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Fact]]:
    """The scalars of nested dicts and lists, with the way to each."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from flat(inner, (*path, place))
    elif value is None:
        yield path, "null"
    else:
        yield path, value if isinstance(value, (bool, int, float, str)) else str(value)


def _bounded(value: Fact) -> Fact:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else value


def _reader(source: str) -> Callable[[str], Found]:
    suffix = source.rpartition(".")[2].lower()
    return {"json": _json, "toml": _toml, "yaml": _yaml, "yml": _yaml}.get(suffix, _pairs)


def _json(text: str) -> Found:
    for leaf in leaves(text):
        yield dotted(leaf.path), leaf.value, leaf.line


def _yaml(text: str) -> Found:
    import yaml

    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}" if mark else ""
        raise Unreadable(f"it is not valid YAML: {error.problem or error.context}{where}") from None
    except yaml.YAMLError as error:
        raise Unreadable(f"it is not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    for document in documents:
        if document is not None:
            yield from _unwrapped(_nodes(document, ()))


def _nodes(node: yaml.Node, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Fact, int]]:
    import yaml

    if len(path) > _DEEPEST:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                # `<<: *defaults` brings the keys of another mapping up to this level.
                yield from _nodes(value, path if key.value == "<<" else (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield from _nodes(value, (*path, place))
    elif isinstance(node, yaml.ScalarNode):
        quoted = node.style in ("'", '"', "|", ">")
        yield path, node.value if quoted else _yaml_scalar(node), node.start_mark.line + 1


def _yaml_scalar(node: yaml.ScalarNode) -> Fact:
    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in {"yes", "true", "on"}
    if node.tag == "tag:yaml.org,2002:null":
        return "null"
    return scalar(node.value)


def _unwrapped(found: Iterator[tuple[tuple[str | int, ...], Fact, int]]) -> Found:
    """The settings, without the `value` and `desc` that Weights & Biases puts around each of its own."""
    kept = []
    for entry in found:
        kept.append(entry)
        if len(kept) >= MOST:  # aliases of aliases grow without end
            break
    wrapped = bool(kept) and all(len(path) > 1 and path[1] in {"value", "desc"} for path, _, _ in kept)
    for path, value, line in kept:
        if not wrapped:
            yield dotted(path), value, line
        elif path[1] == "value":
            yield dotted((path[0], *path[2:])), value, line


def _toml(text: str) -> Found:
    try:
        import tomllib
    except ImportError:
        raise Unreadable("reading TOML needs Python 3.11 or newer") from None
    try:
        values = dict(flat(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"it is not valid TOML: {error}") from None
    places = {key: line for key, _, line in _pairs(text)}
    for path, value in values.items():
        key = dotted(path)
        yield key, value, places.get(key.partition("[")[0], 1)


def _pairs(text: str) -> Found:
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 2_000 or line.lstrip().startswith(("#", ";", "//")):
            continue
        header = _SECTION.match(line)
        if header:
            section = header[1].strip("\"' ")
            continue
        pair = _PAIR.match(line)
        if pair:
            key = pair[1].strip().replace(" ", "_")
            value = pair[2].split(" #")[0].split(" ;")[0].rstrip(",")
            yield f"{section}.{key}" if section else key, scalar(value), number
