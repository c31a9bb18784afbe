"""What the tests of the Claude brain share: truthful answers, quick options, and a diagnosis over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from traindx.brains.llm import ClaudeOptions
from traindx.contract import Diagnosis, Event, null_listener
from traindx.definitions.project import Project
from traindx.pipeline.inputs import OpenRun
from traindx.pipeline.session import Session
from traindx.runtime import Toolbelt
from traindx.testing import Received, ScriptedMessagesServer, Turn, call

MESSAGE = "loss went up after epoch 7"
HEADINGS = {
    "training-monitor": (
        "Training Status Summary", "Key Findings", "Recommended Actions", "Expected Outcomes", "Monitoring Plan",
    ),
    "ml-debugger": ("Error Summary", "Root Cause", "Evidence", "Fix", "Prevention"),
    "state-debugger": (
        "State Management Assessment", "Issues Identified", "Memory Implications", "Gradient Flow Status",
        "Recommended Fixes", "Verification Steps",
    ),
}  # fmt: skip
Answer = dict[str, Any]
Investigate = Callable[..., Diagnosis]


def piece(locator: str = "line 17", quote: str = "lr: 0.4", source: str = "config.yaml", **more: str) -> dict[str, str]:
    """A piece of evidence that holds, unless it is changed."""
    return {
        "claim": "the rate of the second phase",
        "kind": "direct",
        "source": source,
        "locator": locator,
        "quote": quote,
        **more,
    }


def cause(**changes: Any) -> dict[str, Any]:
    """The true cause of the broken example, unless it is changed."""
    return {
        "id": "lr-schedule-spike",
        "issue": "The schedule raises the learning rate to 0.4 at epoch 7, where the loss breaks.",
        "severity": "critical",
        "confidence": 0.96,
        "evidence": [
            piece(),
            piece("epoch 7 of train_loss", "27.6908", "metrics.csv", claim="the loss breaks: 27.6908 at epoch 7"),
        ],
        "fix": {
            "summary": "Lower lr from 0.4 to 0.015 in config.yaml, the rate at which the loss was falling.",
            "diff": "--- a/config.yaml\n+++ b/config.yaml\n@@ -17 +17 @@\n-    lr: 0.4\n+    lr: 0.015\n",
            "expected": "the training loss stays near 0.1 after epoch 7",
            "verify": "run to epoch 8 and compare",
            "fallback": "drop the second phase",
        },
        **changes,
    }


def answer(*causes: dict[str, Any], specialist: str = "training-monitor", **changes: Any) -> Answer:
    """A whole submission."""
    return {
        "status": "diagnosis_complete",
        "causes": list(causes) or [cause()],
        "leads": [],
        "excluded": [],
        "questions": [],
        "sections": [{"heading": heading, "text": f"About {heading}."} for heading in HEADINGS[specialist]],
        **changes,
    }


def holds(why: str = "the rate was the same until epoch 6") -> Turn:
    """The sceptic finds nothing."""
    return call("submit_verdict", outcome="holds", why=why, evidence=[])


def is_sceptic(request: Received) -> bool:
    return "submit_verdict" in request.tools


def quick(server: ScriptedMessagesServer | None = None, **changes: Any) -> ClaudeOptions:
    """Options for a test: the scripted server, a key that is none, no waiting."""

    async def no_wait(seconds: float) -> None:
        await asyncio.sleep(0)

    given = {"base_url": server.url if server else None, "api_key": "test-key", "wait": no_wait, "silence": 5.0}
    return ClaudeOptions(**{**given, **changes})


def diagnosed(
    toolbelt: Toolbelt,
    options: ClaudeOptions,
    specialist: str | None = "training-monitor",
    heard: list[Event] | None = None,
    message: str = MESSAGE,
) -> Diagnosis:
    """A diagnosis by a Claude brain with these options."""

    async def whole() -> Diagnosis:
        listener = heard.append if heard is not None else null_listener
        run = OpenRun((str(toolbelt.scope.root),), toolbelt.scope, Project(), toolbelt)
        async with Session(run, {"brain": "claude", "options": options, "listener": listener}) as session:
            return await session.diagnose(message, specialist)

    return asyncio.run(whole())


Serve = Callable[..., ScriptedMessagesServer]
