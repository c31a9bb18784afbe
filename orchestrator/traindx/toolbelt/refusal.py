"""Why an input was refused, in one sentence that names the fields."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from traindx.errors import nearest
from traindx.toolbelt.declare import Tool

_MOST = 4


def refusal(tool: Tool, error: ValidationError) -> str:
    """What is wrong with the input of `tool`, field by field, and which fields there are."""
    fields = list(tool.input.model_fields)
    details = error.errors(include_url=False)
    problems = [_problem(detail, fields) for detail in details[:_MOST]]
    if len(details) > _MOST:
        problems.append(f"and {len(details) - _MOST} more")
    known = f"it takes {', '.join(f'`{name}`' for name in fields)}" if fields else "it takes no input"
    return f"bad input for `{tool.name}`: {'; '.join(problems)} ({known})"


def _problem(detail: ErrorDetails, fields: list[str]) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        close = nearest(place, fields)
        return f"there is no field `{place}`" + (f", did you mean `{close}`?" if close else "")
    if detail["type"] == "missing":
        return f"`{place}` is missing"
    what = detail["msg"][:1].lower() + detail["msg"][1:]
    if not place:
        return what
    given = repr(detail["input"])
    return f"`{place}`: {what}, not {given if len(given) <= 60 else given[:57] + '…'}"
