"""Everything that can go wrong with a model, as one sentence each."""

from __future__ import annotations

import json
from typing import Literal

FaultKind = Literal[
    "no_key", "bad_key", "forbidden", "unknown_model", "bad_request", "too_long", "rate_limited", "overloaded",
    "server", "timeout", "no_network", "cut", "malformed", "refusal", "no_answer", "budget", "interrupted",
]  # fmt: skip
PASSING: frozenset[FaultKind] = frozenset(
    {"rate_limited", "overloaded", "server", "timeout", "no_network", "cut", "malformed"}
)


class ModelFault(Exception):
    """A call of the model gave nothing usable; `reason` is what the report says."""

    def __init__(self, kind: FaultKind, reason: str, retry_after: float | None = None) -> None:
        self.kind, self.reason, self.retry_after = kind, reason, retry_after
        super().__init__(reason)

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in PASSING


def fault_from(error: Exception, url: str, model: str) -> ModelFault:
    """The fault behind whatever the SDK or its transport raised."""
    import anthropic
    import httpx2

    if isinstance(error, ModelFault):
        return error
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error, url, model)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return ModelFault("timeout", f"no answer from {url} in time")
    if isinstance(error, anthropic.APIConnectionError):
        cause = error.__cause__ or error
        broken = isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError | httpx2.WriteError)
        if broken:
            return ModelFault("cut", f"{url} closed the connection before it answered")
        return ModelFault("no_network", f"{url} cannot be reached ({_brief(cause)})")
    if isinstance(error, httpx2.TransportError):
        return ModelFault("cut", f"the answer of {url} broke off in the middle ({_brief(error)})")
    if isinstance(error, TypeError) and "authentication method" in str(error):
        return ModelFault("no_key", "no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN")
    if isinstance(error, anthropic.CredentialsError):
        return ModelFault("no_key", f"no usable key: {_brief(error)}")
    if isinstance(error, json.JSONDecodeError):
        return ModelFault("malformed", f"{url} answered with something that is not the Messages protocol")
    return ModelFault("malformed", f"{url} answered with something that was not understood ({_brief(error)})")


def _from_status(error: object, url: str, model: str) -> ModelFault:
    code = int(getattr(error, "status_code", 0))
    said = str(getattr(error, "api_message", None) or "")[:200]
    kind = str(getattr(error, "type", None) or "")
    after = _seconds(getattr(error, "response", None))
    if code == 401 or kind == "authentication_error":
        return ModelFault("bad_key", f"the key was refused by {url} (401)")
    if code == 403:
        return ModelFault("forbidden", f"the key may not use `{model}` (403: {said})")
    if code == 404:
        return ModelFault("unknown_model", f"`{model}` is not known at {url} (404)")
    if code == 413 or (code == 400 and ("too long" in said or "context" in said.lower())):
        return ModelFault("too_long", f"the conversation is too long for `{model}` ({code})")
    if code == 429 or kind == "rate_limit_error":
        wait = f"; it asks for {after:g} s of patience" if after is not None else ""
        return ModelFault("rate_limited", f"rate limit at {url} (429){wait}", after)
    # An error inside a stream comes with the status 200 of its beginning; its type says what it is.
    if code == 529 or kind == "overloaded_error":
        return ModelFault("overloaded", f"{url} is overloaded (529)", after)
    if code >= 500 or code == 200:
        return ModelFault("server", f"{url} had an internal error ({code})", after)
    if code in {408, 409}:
        return ModelFault("timeout", f"{url} gave up on the request ({code})", after)
    return ModelFault("bad_request", f"{url} refused the request ({code}: {said})")


def _seconds(response: object) -> float | None:
    headers = getattr(response, "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def _brief(error: BaseException) -> str:
    said = " ".join(str(error).split())[:120]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
