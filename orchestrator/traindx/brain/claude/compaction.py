"""Making a long conversation shorter without losing a citation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from traindx.brain.claude.reply import Block
from traindx.brain.claude.results import Shown

WORTH_IT = 600
"""results shorter than this stay as they are"""


def compacted(messages: Sequence[Block], seen: Sequence[Shown], keep: int) -> list[Block] | None:
    """The messages with the tool results before the last `keep` user messages cut down to their citations.

    What the model itself said stays untouched: its thinking is signed. `None` when nothing could be cut.
    """
    mine = [index for index, message in enumerate(messages) if message["role"] == "user"][1:]
    old = set(mine[: len(mine) - keep] if keep else mine)
    said = "\n".join(
        json.dumps(block, ensure_ascii=False)
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
    )
    quoted = said.replace('\\"', '"')
    by_number = {f"result {shown.number}: ": shown for shown in seen}
    changed = False
    shorter = []
    for index, message in enumerate(messages):
        if index not in old:
            shorter.append(message)
            continue
        blocks = [_shortened(block, by_number, quoted) for block in message["content"]]
        changed = changed or blocks != message["content"]
        shorter.append({**message, "content": blocks})
    return shorter if changed else None


def _shortened(block: Block, by_number: dict[str, Shown], quoted: str) -> Block:
    content = block.get("content")
    if block["type"] != "tool_result" or not isinstance(content, str) or len(content) < WORTH_IT:
        return block
    shown = next((row for head, row in by_number.items() if content.startswith(head)), None)
    if shown is None:
        return {**block, "content": f"{content[: WORTH_IT // 2]}\n[shortened]"}
    stub = shown.stub(quoted)
    if len(stub) >= len(content):
        return block
    shown.shortened = True
    return {**block, "content": stub}
