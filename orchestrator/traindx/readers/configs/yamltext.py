"""YAML with the line of every value. Tags are never obeyed: the text is read as events, nothing is constructed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from traindx.contract import Fact
from traindx.readers.configs.values import DEEPEST, MOST, Found, Path, Remark, Unreadable, dotted, scalar

if TYPE_CHECKING:
    import yaml

# libyaml's scanner takes time in the square of the nesting: 200,000 brackets keep it busy for three minutes.
_MOST_NESTED = 60
_MOST_SECONDS = 5.0
# Ten times what the settings that are kept can need.
_MOST_EVENTS = 20 * MOST
SLOW = 256 << 10
"""characters that are read where PyYAML has no libyaml: its own parser takes ten seconds per MB"""
_OVERRIDE = re.compile(r"[+~]{0,2}([A-Za-z_][\w.]{0,200})=(.{1,400})$")
_TRUE, _SWITCHES = {"yes", "true", "on"}, {"yes", "no", "true", "false", "on", "off"}
_PYTHON = "tag:yaml.org,2002:python/"
_CALLS = ("object/apply", "object/new", "name", "module")


@dataclass(slots=True)
class _Node:
    """A value of the text: a scalar, a list or a mapping as pairs."""

    line: int
    value: Fact = ""
    items: list[_Node] | None = None
    pairs: list[tuple[_Node, _Node]] | None = None
    waiting: _Node | None = None
    """the key whose value comes next"""

    def take(self, node: _Node) -> None:
        """Put a finished value where it belongs."""
        if self.items is not None:
            self.items.append(node)
        elif self.pairs is not None:
            if self.waiting is None:
                self.waiting = node
            else:
                self.pairs.append((self.waiting, node))
                self.waiting = None


@dataclass
class _Composer:
    """Builds documents from events."""

    remark: Remark
    documents: list[_Node] = field(default_factory=list)
    anchors: dict[str, _Node] = field(default_factory=dict)
    open: list[_Node] = field(default_factory=list)

    def event(self, event: yaml.Event) -> None:
        """Take in the next event."""
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            self._place(event, _Node(_line(event), self._scalar(event)))
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin(event, _Node(_line(event), pairs=[]))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._begin(event, _Node(_line(event), items=[]))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self.open.pop()
        elif isinstance(event, yaml.AliasEvent) and event.anchor in self.anchors:
            self._attach(self.anchors[event.anchor])

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, node: _Node) -> None:
        self._tag(event.tag or "", node.line)
        self._place(event, node)
        self.open.append(node)
        if len(self.open) > _MOST_NESTED:
            raise Unreadable("it is nested too deeply")

    def _place(self, event: yaml.NodeEvent, node: _Node) -> None:
        if event.anchor:
            self.anchors[event.anchor] = node
        self._attach(node)

    def _attach(self, node: _Node) -> None:
        if self.open:
            self.open[-1].take(node)
        else:
            self.documents.append(node)

    def _scalar(self, event: yaml.ScalarEvent) -> Fact:
        text, tag = event.value, event.tag or ""
        if tag.startswith("!") and len(tag) > 1:
            # Another program's tag (`!include other.yaml`, `!ENV ${HOME}`) changes the value: it stays beside it.
            return f"{tag} {text}"
        self._tag(tag, _line(event))
        if event.style in {"'", '"', "|", ">"}:
            return str(text)
        if text.lower() in _SWITCHES:
            return text.lower() in _TRUE
        return "null" if text in {"", "~", "null", "Null", "NULL"} else scalar(text)

    def _tag(self, tag: str, line: int) -> None:
        if tag.startswith(_PYTHON) and tag.removeprefix(_PYTHON).startswith(_CALLS):
            self.remark(f"line {line}: `!!python/{tag.removeprefix(_PYTHON)}` makes a full YAML loader call that code")


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def read_yaml(text: str, remark: Remark) -> Found:
    """Every scalar with its dotted key and line; duplicate keys and dangerous tags are remarked."""
    composer = _compose(text, remark)
    kept: list[tuple[Path, Fact, int]] = []
    for document in composer.documents:
        for entry in _leaves(document, (), remark):
            kept.append(entry)
            if len(kept) >= MOST:  # aliases of aliases grow without end
                break
    # Weights & Biases puts `value` and `desc` around each of its settings.
    theirs = [path for path, _, _ in kept if path != ("wandb_version",)]
    wrapped = bool(theirs) and all(len(path) > 1 and path[1] in {"value", "desc"} for path in theirs)
    for path, value, line in kept:
        if not wrapped:
            yield dotted(path), value, line
        elif len(path) > 1 and path[1] == "value":
            yield dotted((path[0], *path[2:])), value, line


def _compose(text: str, remark: Remark) -> _Composer:
    import yaml

    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None and len(text) > SLOW:
        raise Unreadable(f"it is larger than {SLOW >> 10} KB, which takes too long without libyaml")
    composer = _Composer(remark)
    give_up = monotonic() + _MOST_SECONDS
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader or yaml.SafeLoader)):
            composer.event(event)
            if count >= _MOST_EVENTS or (not count % 256 and monotonic() > give_up):
                remark("it is too long for a configuration: only its beginning was read")
                break
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}" if mark else ""
        raise Unreadable(f"it is not valid YAML: {error.problem or error.context}{where}") from None
    except yaml.YAMLError as error:
        raise Unreadable(f"it is not valid YAML: {str(error).splitlines()[0]}") from None
    except UnicodeEncodeError:
        raise Unreadable("it is not valid YAML: it contains an incomplete character") from None
    return composer


def _leaves(node: _Node, path: Path, remark: Remark) -> Iterator[tuple[Path, Fact, int]]:
    if len(path) > DEEPEST:
        return
    if node.pairs is not None:
        yield from _mapping(node.pairs, path, remark)
    elif node.items is not None:
        for place, inner in enumerate(node.items):
            given = _OVERRIDE.match(inner.value) if not path and isinstance(inner.value, str) else None
            if given:  # Hydra keeps what the command line gave as a list: `- optim.lr=5e-6`
                yield (given[1],), scalar(given[2]), inner.line
            else:
                yield from _leaves(inner, (*path, place), remark)
    elif path:
        yield path, node.value, node.line


def _mapping(pairs: list[tuple[_Node, _Node]], path: Path, remark: Remark) -> Iterator[tuple[Path, Fact, int]]:
    last: dict[str, _Node] = {}
    for key, value in pairs:
        name = _key(key)
        if name in last and name != "<<":
            remark(f"line {key.line}: `{dotted((*path, name))[:120]}` is repeated here; the last one counts")
        last[name] = value
    for name, value in last.items():
        if name == "<<":
            # `<<: *defaults` brings the keys of another mapping to this level, under those that stand here.
            for merged in value.items if value.items is not None else [value]:
                own = [pair for pair in merged.pairs or () if _key(pair[0]) not in last]
                if len(path) < DEEPEST:
                    yield from _mapping(own, path, remark)
        else:
            yield from _leaves(value, (*path, name), remark)


def _key(node: _Node) -> str:
    return str(node.value) if node.pairs is None and node.items is None else "?"
