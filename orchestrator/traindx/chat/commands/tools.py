"""`/tools [NAME [field=value …]]`: the toolbelt by hand."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from traindx.chat.flow import fenced, unwrapped
from traindx.chat.session import ChatSession
from traindx.errors import UnknownName, UsageError
from traindx.report.pages import as_text
from traindx.report.render import Page
from traindx.runtime import ToolSpec

PICTURES = "pictures"


async def carry(session: ChatSession, rest: str) -> str:
    """The list, or what a tool answers."""
    specs = session.session.run.toolbelt.specs()
    name, _, given = rest.strip().partition(" ")
    if not name:
        rows = [f"- `{spec.name}`: {_first_sentence(spec.description)}" for spec in specs.values()]
        return "\n".join([*rows, "", "`/tools NAME field=value …` calls one, `/tools NAME ?` shows its fields."])
    if name not in specs:
        raise UnknownName("tool", name, specs)
    spec = specs[name]
    if given.strip() == "?":
        return _described(spec)
    result = await session.call(name, _input(spec, given.strip()))
    if result.status == "failed":
        raise UsageError(f"`{name}` failed: {result.reason}; `/tools {name} ?` shows its fields")
    shown = {key: value for key, value in result.output.items() if key != PICTURES}
    return fenced(as_text(result.model_copy(update={"output": shown}), Page(width=max(40, session.page.width - 2))))


def known(session: ChatSession, words: Sequence[str]) -> list[str]:
    """The names, then the chosen one's fields."""
    specs = session.session.run.toolbelt.specs()
    if len(words) < 2:
        return list(specs)
    return [f"{field}=" for field in _fields(specs[words[0]])] if words[0] in specs else []


def _input(spec: ToolSpec, text: str) -> dict[str, Any]:
    """`field=value`, `--field value`, or one JSON object; a bare first word is the field it cannot do without."""
    if text.startswith("{"):
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise UsageError(f"the input of `{spec.name}` is not a JSON object: {error}") from None
    try:
        words = shlex.split(re.sub(r"--([\w-]+)[ =]", lambda match: f"{match[1].replace('-', '_')}=", text))
    except ValueError as error:
        raise UsageError(f"`/tools {spec.name} {text}`: {error}") from None
    fields = _fields(spec)
    given: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or name not in fields:
            first = next(iter([*spec.input_schema.get("required", []), *fields]), "")
            if given or not first or (sign and re.fullmatch(r"\w+", name)):
                listed = ", ".join(fields) or "none"
                raise UsageError(f"`{word}` is no field of `{spec.name}`; its fields: {listed}")
            name, value = first, word
        given[name] = _value(value, fields[name])
    return given


def _value(text: str, field: Mapping[str, Any]) -> Any:
    """The value a field wants; what does not fit is left to the tool, which says what it expected."""
    if field.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fields(spec: ToolSpec) -> dict[str, Mapping[str, Any]]:
    return dict(spec.input_schema.get("properties", {}))


def _described(spec: ToolSpec) -> str:
    rows = [f"- `{name}`: {field.get('description', '')}" for name, field in _fields(spec).items()]
    return "\n".join([unwrapped(spec.description), "", *(rows or ["It takes no input."])])


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]
