"""A pad token that is the end-of-text token, in a collator that takes every pad id out of the labels."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {"eos-is-padding": "the pad token is the end-of-text token, and labels are masked wherever the pad id stands"}

# Both set every label to -100 whose token is the pad token, wherever it stands.
_BY_ID = {"DataCollatorForLanguageModeling", "DataCollatorForCompletionOnlyLM"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """The line that makes the two tokens one, together with the line that masks by id."""
    shared = next(((unit, line) for unit in code for line in [_same_token(unit.tree)] if line), None)
    masked = next(((unit, line) for unit in code for line in [_masks_by_id(unit.tree)] if line), None)
    if shared is None or masked is None:
        return []
    places = [
        cite_line(unit.path, unit.file_line(line), claim, unit.quote(line))
        for (unit, line), claim in (
            (shared, "the pad token is made the end-of-text token"),
            (masked, "every label with the pad id is left out of the loss"),
        )
    ]
    claim = f"`{places[0].quote}`, and `{places[1].quote}` masks by that id: no end of text is ever a label"
    facts: dict[str, Fact] = {"pad_place": shared[0].place(shared[1]), "mask_place": masked[0].place(masked[1])}
    return [Signal(id="eos-is-padding", claim=claim, citations=places, facts=facts)]


def _same_token(tree: ast.Module) -> int:
    """`tokenizer.pad_token = tokenizer.eos_token`, or by id; 0 where nothing of the kind is there."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and name_of(node.value) in {"eos_token", "eos_token_id"}:
            pads = any(name_of(target) in {"pad_token", "pad_token_id"} for target in node.targets)
            owners = {name_of(getattr(target, "value", None)) for target in node.targets}
            # The pad id of a model's configuration silences a warning and masks nothing.
            found = node.lineno if pads and not owners & {"config", "generation_config"} else found
        if (
            isinstance(node, ast.Call)
            and name_of(node.func) == "add_special_tokens"
            and "pad_token" in ast.unparse(node)
        ):
            return 0
    return found


def _masks_by_id(tree: ast.Module) -> int:
    """A collator that masks by id, or `labels[labels == pad_token_id] = -100` written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _BY_ID and not _is_masked_lm(node):
            return node.lineno
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            where = ast.unparse(node.targets[0].slice)
            if "pad_token_id" in where and "==" in where and ast.unparse(node.value) in {"-100", "ignore_index"}:
                return node.lineno
    return 0


def _is_masked_lm(node: ast.Call) -> bool:
    """Whether a collator hides random tokens for a masked language model, as it does unless told otherwise."""
    told = next((row.value for row in node.keywords if row.arg == "mlm"), None)
    plain = name_of(node.func) == "DataCollatorForLanguageModeling" and len(node.args) < 2
    return getattr(told, "value", None) is True or (told is None and plain)
