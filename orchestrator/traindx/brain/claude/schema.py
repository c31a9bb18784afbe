"""Tool schemas in the part of JSON Schema that the service enforces to the letter (`strict`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# https://platform.claude.com/docs/en/build-with-claude/structured-outputs: at most 20 strict tools in a request, no
# numeric or length bounds, and few optional fields; so every field is required and its default is told.
MOST_STRICT = 20
_TOLD = {
    "minimum": "at least {}", "maximum": "at most {}", "exclusiveMinimum": "above {}", "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters", "maxLength": "at most {} characters", "maxItems": "at most {} items",
    "pattern": "matching {}", "default": "{} when in doubt", "examples": "e.g. {}",
}  # fmt: skip
_KEPT = frozenset({"type", "enum", "const", "items", "properties", "anyOf", "description", "$ref", "$defs"})


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with bounds told in words, every field required and no others allowed."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    told = [text.format(_spelled(schema[key])) for key, text in _TOLD.items() if key in schema]
    if told:
        kept["description"] = f"{kept.get('description', '')} ({'; '.join(told)})".strip()
    for key in ("properties", "$defs"):
        if key in kept:
            kept[key] = {name: strict_schema(part) for name, part in kept[key].items()}
    if "items" in kept:
        kept["items"] = strict_schema(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [strict_schema(part) for part in kept["anyOf"]]
    if schema.get("type") == "object":
        kept.setdefault("properties", {})
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def tool_definition(name: str, description: str, schema: Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """A tool as the Messages API takes it."""
    whole: dict[str, Any] = {"name": name, "description": description, "input_schema": strict_schema(schema)}
    return {**whole, "strict": True} if strict else whole


def _spelled(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "empty" if value == "" else str(value).lower() if isinstance(value, bool) else str(value)
