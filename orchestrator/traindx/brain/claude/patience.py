"""Waiting for something, but not for ever, and not when the user has had enough."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from traindx.brain.claude.faults import ModelFault

Result = TypeVar("Result")


async def within(work: Coroutine[Any, Any, Result], seconds: float, stop: asyncio.Event | None = None) -> Result:
    """The result of `work`; raises `ModelFault` when the time is over or `stop` is set, and ends the work."""
    task = asyncio.ensure_future(work)
    halt = asyncio.ensure_future(stop.wait()) if stop is not None else None
    try:
        await asyncio.wait(
            {task, halt} if halt else {task}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED
        )
        if task.done():
            return task.result()
        if halt is not None and halt.done():
            raise ModelFault("interrupted", "interrupted")
        raise ModelFault("timeout", f"no answer within the {seconds:.3g} s that were left")
    finally:
        for one in (task, halt):
            if one is not None and not one.done():
                one.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await one
