"""From what a host sends to what it gets: input checked, errors as one sentence, answers within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from traindx.errors import TraindxError, UnknownName
from traindx.mcp.capping import MOST_CHARACTERS, capped
from traindx.mcp.offer import Asked, Offer, Said, as_text
from traindx.runtime import ToolInput
from traindx.runtime.declaration import refusal_of

_LONGEST_ERROR = 2000
Input = TypeVar("Input", bound=ToolInput)


class BadInput(TraindxError):
    """What a host sent is not what the tool takes."""


def parsed(name: str, model: type[Input], given: Mapping[str, Any]) -> Input:
    """The input of an offer; raises `BadInput` that says which field is wrong and which there are."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        raise BadInput(refusal_of(name, model, error)) from None


async def answered(offers: Mapping[str, Offer], name: str, given: Mapping[str, Any], asked: Asked) -> Said:
    """What the host gets for a call; a fault is an answer that says so in a sentence."""
    offer = offers.get(name)
    try:
        if offer is None:
            raise UnknownName("tool", name[:100], offers)
        said = await offer.answer(given, asked)
    except TraindxError as error:
        return Said({}, _shortened(str(error)), failed=True)
    except RecursionError:
        return Said({}, f"the input of `{name}` is nested too deeply", failed=True)
    if said.failed:
        return Said({}, _shortened(said.text), failed=True)
    result = capped(said.result, offer.narrow)
    whole = said.text and len(said.text) <= MOST_CHARACTERS and "cut" not in result
    return Said(result, said.text if whole else as_text(result))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 1]}…"
