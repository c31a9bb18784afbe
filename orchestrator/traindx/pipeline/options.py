"""What the caller of `diagnose` may choose, by keyword."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict

from traindx.contract import Listener

if TYPE_CHECKING:
    from traindx.brains.llm.budget import ClaudeOptions, Effort

BrainName = Literal["auto", "local", "claude"]


class Choices(TypedDict, total=False):
    """Keywords of `diagnose`, `adiagnose`, `stream` and `open_session`.

    specialist: send this one instead of those the request asks for.
    listener: called with an `Event` as the investigation goes on.
    brain: `auto` (Claude when a key is set, else local), `local` or `claude`.
    model: an alias (`opus`, `sonnet`, `haiku`, `fable`) or a full id; the specialist's own by default.
    effort: reasoning effort of the model, `low` to `max`.
    max_usd, max_seconds, max_tokens, max_tool_calls: what an investigation with a model may use.
    mask_user_names: also mask user names in the paths that are sent.
    save_case: where the transcript goes; with a model it goes to the user's cache by default.
    resume_case: the transcript of an interrupted investigation to resume.
    options: everything about the model at once; the keywords above go before it.
    """

    specialist: str | None
    listener: Listener
    brain: BrainName
    model: str | None
    effort: Effort | None
    max_usd: float | None
    max_seconds: float
    max_tokens: int
    max_tool_calls: int
    mask_user_names: bool
    save_case: str | Path | None
    resume_case: str | Path | None
    options: ClaudeOptions | None


OF_MODEL = ("model", "effort", "max_usd", "max_seconds", "max_tokens", "max_tool_calls", "mask_user_names")
