"""What would be sent to a model, for a person to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from traindx.report.canvas import Canvas
from traindx.report.render import Page


def as_text(url: str, requests: Mapping[str, Mapping[str, Any]], masked: Mapping[str, int], page: Page) -> str:
    """Per specialist the parameters, the system prompt, the tools and the messages, to the letter."""
    canvas = Canvas(page)
    total = sum(masked.values())
    kinds = f" ({', '.join(f'{kind} {count}' for kind, count in sorted(masked.items()))})" if total else ""
    canvas.text(f"{len(requests)} request(s) would go to {url} first. Nothing was sent.", style="bold")
    canvas.text(f"Secrets masked: {total}{kinds}. Later requests add the results of the tools the model asks for.")
    for name, request in requests.items():
        size = len(json.dumps(request, ensure_ascii=False))
        canvas.heading(f"{name}: {size:,} characters, about {size // 4:,} tokens")
        plain = {key: value for key, value in request.items() if key not in {"system", "tools", "messages"}}
        canvas.verbatim(json.dumps(plain), style="")
        for block in request["system"]:
            canvas.heading("system")
            canvas.exactly(block["text"])
        canvas.heading("tools")
        for tool in request["tools"]:
            canvas.exactly(json.dumps(tool, ensure_ascii=False))
        for message in request["messages"]:
            canvas.heading(message["role"])
            for block in message["content"]:
                canvas.exactly(block.get("text") or json.dumps(block, ensure_ascii=False))
    return canvas.drawn()
