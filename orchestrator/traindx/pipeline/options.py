"""What the caller of `diagnose` may choose, by keyword."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from traindx.contract import Listener
from traindx.definitions.choices import BRAINS, EFFORTS, SPECIALISTS, BrainName, Effort, Specialists
from traindx.errors import UnknownName, UsageError, did_you_mean

if TYPE_CHECKING:
    from traindx.brains.llm.budget import ClaudeOptions


class Choices(TypedDict, total=False):
    """Keywords of `diagnose`, `adiagnose`, `stream` and `open_session`.

    specialist: send this one instead of those the request asks for.
    specialists: with a model, `needed` (one first, a second where that is not enough) or `all` of those at once.
    listener: called with an `Event` as the investigation goes on.
    brain: `auto` (Claude when a key is set, else local), `local` or `claude`.
    model: an alias (`opus`, `sonnet`, `haiku`, `fable`) or a full id; the specialist's own by default.
    effort: reasoning effort of the model, `low` to `max`.
    max_usd, max_seconds, max_tokens, max_tool_calls: what an investigation with a model may use.
    mask_user_names: also mask user names in the paths that are sent.
    save_case: where the transcript goes; with a model it goes to the user's cache by default.
    resume_case: the transcript of an interrupted investigation to resume.
    options: everything about the model at once; the keywords above go before it.
    max_input: bytes that are kept of standard input, or unpacked from an archive, instead of the usual bounds.
    allow_unsandboxed_tools: run the project's own tools where the system has no sandbox for them.
    """

    specialist: str | None
    specialists: Specialists
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
    max_input: int | None
    allow_unsandboxed_tools: bool


def check_choices(choices: Mapping[str, object]) -> None:
    """Refuse a keyword that there is not, and a value that can mean nothing: `brian=` must not send data by `auto`."""
    known = list(Choices.__annotations__)
    for name in choices:
        if name not in known:
            raise TypeError(
                f"there is no keyword `{name}`.{did_you_mean(name, known) or ' See `traindx.api.Choices`.'}"
            )
    brain = choices.get("brain", "auto")
    if brain not in BRAINS:
        raise UnknownName("brain", str(brain), BRAINS)
    effort = choices.get("effort")
    if effort is not None and effort not in EFFORTS:
        raise UnknownName("effort", str(effort), EFFORTS)
    specialists = choices.get("specialists", "needed")
    if specialists not in SPECIALISTS:
        raise UnknownName("choice of specialists", str(specialists), SPECIALISTS)
    for name in _AMOUNTS:
        given = choices.get(name)
        if given is None:
            continue
        if isinstance(given, bool) or not isinstance(given, int | float) or not given >= 0:
            raise UsageError(f"`{name}` is an amount, 0 or more, not {given!r}")


_AMOUNTS = ("max_usd", "max_seconds", "max_tokens", "max_tool_calls", "max_input")
OF_MODEL = (
    "specialists",
    "model",
    "effort",
    "max_usd",
    "max_seconds",
    "max_tokens",
    "max_tool_calls",
    "mask_user_names",
)
