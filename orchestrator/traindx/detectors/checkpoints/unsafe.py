"""What loading a checkpoint would run: commands and code, or merely the classes of the project."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_global
from traindx.readers.checkpoints import Checkpoint

SIGNALS = {
    "checkpoint-runs-code": "loading a checkpoint would run a command or code that it carries",
    "checkpoint-needs-classes": "a checkpoint holds objects, and safe loading (`weights_only=True`) refuses it",
}
MOST_NAMED = 3


def detect(checkpoints: Sequence[Checkpoint]) -> list[Signal]:
    """Files that run code when they are loaded; else those that need more than tensors."""
    hostile = [row for row in checkpoints if row.commands]
    if hostile:
        first = hostile[0]
        call = first.commands[0]
        symbol = call.partition("(")[0]
        claim = f"loading `{first.path}` would call `{call}`: code that the file brings along, run with your rights"
        facts: dict[str, Fact] = {"checkpoint": first.path, "symbol": symbol, "call": call}
        places = [
            cite_global(row, f"unpickling `{row.path}` calls `{row.commands[0].partition('(')[0]}`", row.commands[0])
            for row in hostile[:MOST_NAMED]
        ]
        return [Signal(id="checkpoint-runs-code", claim=claim, citations=places, facts=facts)]
    whole = [row for row in checkpoints if row.objects or row.unsafe]
    if not whole:
        return []
    first = whole[0]
    names = first.objects or first.unsafe
    claim = (
        f"`{first.path}` holds pickled objects (`{names[0]}`{f' and {len(names) - 1} more' if len(names) > 1 else ''}):"
        " loading it needs these classes and `weights_only=False`, nothing in it is a command"
    )
    known = next((name for name in names if name in first.globals), first.globals[0] if first.globals else "")
    places = [cite_global(first, f"`{first.path}` asks for `{known}`", known)] if known else []
    facts = {"checkpoint": first.path, "needed_class": names[0]}
    return [Signal(id="checkpoint-needs-classes", claim=claim, citations=places, facts=facts)]
