"""OpenTelemetry spans around what we do; the SDK makes its own for every call, below ours.

Without a tracer provider, which `opentelemetry-instrument` or the host program registers, these cost nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

# The operation names of https://opentelemetry.io/docs/specs/semconv/gen-ai/.
_OPERATIONS = {"agent": "invoke_agent", "chat": "chat", "tools": "execute_tool"}


@contextlib.contextmanager
def span(what: str, who: str) -> Iterator[None]:
    """A span named after what is done and who does it."""
    from opentelemetry import trace

    operation = _OPERATIONS[what]
    with trace.get_tracer("traindx").start_as_current_span(f"{operation} {who}") as current:
        current.set_attribute("gen_ai.operation.name", operation)
        current.set_attribute("gen_ai.agent.name", who)
        yield
