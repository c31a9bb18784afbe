"""A pad token that is the end-of-text token, in a program that takes every pad id out of the labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

SIGNALS: dict[str, str | SignalKind] = {
    "eos-is-padding": "the pad token is the end-of-text token, and labels are masked wherever the pad id stands",
    "own-end-is-masked": SignalKind("the program ends its texts with a token that every label leaves out", proof=True),
}

# Both set every label to -100 whose token is the pad token, wherever it stands.
_BY_ID = {"DataCollatorForLanguageModeling", "DataCollatorForCompletionOnlyLM"}
_END = {"eos_token", "eos_token_id"}
_PAD = re.compile(r"\bpad(?:ding)?_?(?:token_?)?(?:id|idx|index)\b", re.IGNORECASE)
_STOPS = re.compile(r"stop|terminat|end|bad|special|suppress", re.IGNORECASE)
_IGNORED = {"-100", "ignore_index", "IGNORE_INDEX", "self.ignore_index"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """The line that makes the two tokens one, together with the line that masks by id."""
    shared = _first(code, lambda unit: _same_token(unit.tree))
    masked = _first(code, lambda unit: _masks_by_id(unit.tree))
    if shared is None or masked is None:
        return []
    claims = ["the pad token is made the end-of-text token", "every label with the pad id is left out of the loss"]
    ended = _first(code, lambda unit: _ends_texts(unit.tree))
    rows = [*zip((shared, masked), claims, strict=True)]
    if ended is not None:
        rows.append((ended, "the texts are ended with that token"))
    places = [cite_code(unit, line, claim) for (unit, line), claim in rows]
    claim = f"`{places[0].quote}`, and `{places[1].quote}` masks by that id: no end of text is ever a label"
    facts: dict[str, Fact] = {"pad_place": shared[0].place(shared[1]), "mask_place": masked[0].place(masked[1])}
    name = "eos-is-padding" if ended is None else "own-end-is-masked"
    return [Signal(id=name, claim=claim, citations=places, facts=facts)]


def _first(code: Sequence[CodeUnit], find: Callable[[CodeUnit], int]) -> tuple[CodeUnit, int] | None:
    return next(((unit, line) for unit in code for line in [find(unit)] if line), None)


def _same_token(tree: ast.Module) -> int:
    """`tokenizer.pad_token = tokenizer.eos_token`, or by id; 0 where nothing of the kind is there."""
    found = 0
    for node in all_nodes(tree):
        if isinstance(node, ast.Assign) and name_of(node.value) in _END:
            pads = any(name_of(target) in {"pad_token", "pad_token_id"} for target in node.targets)
            owners = {name_of(getattr(target, "value", None)) for target in node.targets}
            # The pad id of a model's configuration silences a warning and masks nothing.
            found = node.lineno if pads and not owners & {"config", "generation_config"} else found
        if not isinstance(node, ast.Call):
            continue
        given = {part.arg: part.value for part in node.keywords if part.arg is not None}
        if name_of(node.func) == "add_special_tokens" and "pad_token" in ast.unparse(node):
            token = _entry(node, "pad_token")
            if token is None or name_of(token) not in _END:
                return 0
            found = node.lineno
        elif {"pad_token", "eos_token"} <= given.keys() and _same_text(given["pad_token"], given["eos_token"]):
            found = node.lineno
    return found


def _entry(node: ast.Call, key: str) -> ast.expr | None:
    """What a dictionary among the arguments holds under a key."""
    for given in node.args:
        for name, value in zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ():
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    return None


def _same_text(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Constant) and isinstance(other, ast.Constant) and one.value == other.value is not None


def _masks_by_id(tree: ast.Module) -> int:
    """A collator that masks by id, or the same written out; a loss that ignores the pad id."""
    for node in all_nodes(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            if _is_pad(node.targets[0].slice) and ast.unparse(node.value) in _IGNORED:
                return node.lineno
        elif isinstance(node, ast.IfExp):
            if _is_pad(node.test) and ast.unparse(node.body) in _IGNORED:
                return node.lineno
        elif isinstance(node, ast.Call) and _call_masks(node):
            return node.lineno
    return 0


def _call_masks(node: ast.Call) -> bool:
    name = name_of(node.func)
    if name in _BY_ID:
        return not _is_masked_lm(node)
    if name in {"masked_fill", "masked_fill_", "where"}:
        return any(_is_pad(part) for part in node.args) and any(ast.unparse(part) in _IGNORED for part in node.args)
    ignored = next((part.value for part in node.keywords if part.arg == "ignore_index"), None)
    return name in {"CrossEntropyLoss", "cross_entropy"} and ignored is not None and bool(_told_pad(ignored))


def _is_pad(node: ast.expr) -> bool:
    """`ids == tokenizer.pad_token_id`."""
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq) and _told_pad(node)


def _told_pad(node: ast.expr) -> bool:
    return _PAD.search(ast.unparse(node)) is not None


def _ends_texts(tree: ast.Module) -> int:
    """Where the end-of-text token is put behind a text or its ids by the program itself."""
    ends = {
        name_of(target)
        for node in all_nodes(tree)
        if isinstance(node, ast.Assign) and name_of(node.value) in _END
        for target in node.targets
        if isinstance(target, ast.Name)
    } | _END
    for node in all_nodes(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            last = node.right
            parts = list(last.elts) if isinstance(last, ast.List | ast.Tuple) else [last]
        elif isinstance(node, ast.JoinedStr) and node.values:
            parts = [part.value for part in node.values[-1:] if isinstance(part, ast.FormattedValue)]
        elif isinstance(node, ast.Call):
            parts = _added(node)
            if any(part.arg == "add_eos_token" and ast.unparse(part.value) == "True" for part in node.keywords):
                return node.lineno
        if any(isinstance(part, ast.Name | ast.Attribute) and name_of(part) in ends for part in parts):
            return getattr(node, "lineno", 0)
    return 0


def _added(node: ast.Call) -> list[ast.expr]:
    """What is appended to ids; a list of tokens at which generation stops is none."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "append" else None
    return list(node.args) if owner is not None and not _STOPS.search(ast.unparse(owner)) else []


def _is_masked_lm(node: ast.Call) -> bool:
    """Whether a collator hides random tokens for a masked language model, as it does unless told otherwise."""
    told = next((row.value for row in node.keywords if row.arg == "mlm"), None)
    plain = name_of(node.func) == "DataCollatorForLanguageModeling" and len(node.args) < 2
    return getattr(told, "value", None) is True or (told is None and plain)
