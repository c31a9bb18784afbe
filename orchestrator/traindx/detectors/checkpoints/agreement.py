"""Whether a checkpoint agrees with what lies beside it: rows of its embedding, number of layers, names of tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.detectors.citing import cite_line, cite_setting
from traindx.readers.checkpoints import Checkpoint, TensorInfo
from traindx.readers.configs.tokenizers import Tokenizer
from traindx.readers.model import LogError, Setting

SIGNALS = {
    "token-ids-beyond-embedding": "the tokenizer has ids for which the embedding of the checkpoint has no row",
    "vocab-size-differs": "the configuration beside a checkpoint gives another vocabulary than its embedding has rows",
    "layers-differ-from-config": "the configuration beside a checkpoint asks for more layers than the checkpoint has",
    "checkpoint-keys-prefixed": "loading failed, and all names in the checkpoint carry a wrapper's prefix",
}
_TOKENS = re.compile(
    r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings|token_embeddings?|tok_emb|token_emb|shared|embed_in)"
    r"\.weight$"
)
_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d{1,4})\.")
_VOCABULARY = ("vocab_size", "n_vocab", "padded_vocab_size")
_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_LOADING = re.compile(r"state_dict|(?:missing|unexpected) key", re.IGNORECASE)
_TWO_STACKS = re.compile(r"(?:^|\.)(?:encoder|decoder)\.")


def embedding(checkpoint: Checkpoint) -> TensorInfo | None:
    """The table of token embeddings; None where there is none, or several that differ."""
    found = [
        one
        for one in checkpoint.tensors
        if one.part == "model" and len(one.shape) == 2 and _TOKENS.search(one.name) and "lora" not in one.name
    ]
    return found[0] if found and len({one.shape[0] for one in found}) == 1 else None


def detect(
    checkpoint: Checkpoint, settings: Sequence[Setting], tokenizers: Sequence[Tokenizer], errors: Sequence[LogError]
) -> list[Signal]:
    """Compare a checkpoint with the configuration and the tokenizer in its folder, and with a failure to load."""
    folder = str(PurePosixPath(checkpoint.path).parent)
    beside = [row for row in settings if str(PurePosixPath(row.source).parent) == folder and not row.coded]
    configured = [row for row in beside if PurePosixPath(row.source).name == "config.json"]
    table = embedding(checkpoint)
    found = []
    if table is not None:
        found += _beyond(checkpoint, table, [one for one in tokenizers if one.folder == folder])
        found += _vocabulary(checkpoint, table, configured)
    return [*found, *_layers(checkpoint, configured), *_prefixed(checkpoint, errors)]


def _beyond(checkpoint: Checkpoint, table: TensorInfo, tokenizers: Sequence[Tokenizer]) -> list[Signal]:
    """More rows than tokens are padding, to a multiple of 8, 64 or 128; fewer are ids that cannot be looked up."""
    rows = table.shape[0]
    found = max((one for one in tokenizers if one.highest >= rows), key=lambda one: one.highest, default=None)
    if found is None:
        return []
    lacking = found.highest + 1 - rows
    claim = (
        f"`{found.path}` has ids up to {found.highest:,} (`{found.highest_token}`), `{table.name}` has {rows:,} rows:"
        f" {lacking:,} too few"
    )
    facts: dict[str, Fact] = {
        "embedding": table.name,
        "embedding_rows": rows,
        "highest_id": found.highest,
        "highest_token": found.highest_token,
        "rows_needed": found.highest + 1,
        "tokenizer": found.path,
    }
    place = cite_tensor(checkpoint, table, f"`{table.name}` has {rows:,} rows")
    return [Signal(id="token-ids-beyond-embedding", claim=claim, citations=[place], facts=facts)]


def _vocabulary(checkpoint: Checkpoint, table: TensorInfo, configured: Sequence[Setting]) -> list[Signal]:
    setting = next((row for row in configured if row.key in _VOCABULARY and _is_count(row.value)), None)
    if setting is None or setting.value == table.shape[0]:
        return []
    rows = table.shape[0]
    claim = (
        f"`{setting.key}` is {setting.value} in `{setting.source}`, `{table.name}` of the checkpoint has {rows} rows"
    )
    facts: dict[str, Fact] = {
        "setting": setting.key,
        "saved": rows,
        "given": setting.value,
        "embedding": table.name,
        "embedding_rows": rows,
    }
    places = [cite_setting(setting, claim), cite_tensor(checkpoint, table, f"`{table.name}` has {rows} rows")]
    return [Signal(id="vocab-size-differs", claim=claim, citations=places, facts=facts)]


def _layers(checkpoint: Checkpoint, configured: Sequence[Setting]) -> list[Signal]:
    """Fewer layers than asked for; more may be heads for speculation, which come after the last."""
    setting = next((row for row in configured if row.key in _LAYERS and _is_count(row.value)), None)
    own = [one for one in checkpoint.tensors if one.part == "model" and "lora" not in one.name.lower()]
    numbers = {int(found[1]) for one in own if (found := _LAYER.search(one.name))}
    stacks = {found[0] for one in own if (found := _TWO_STACKS.search(one.name))}
    if setting is None or not numbers or len(stacks) > 1 or checkpoint.damage or "-of-" in checkpoint.path:
        return []
    asked, there = int(setting.value), max(numbers) + 1
    if there >= asked or len(numbers) != there or len({one.name.split(".")[0] for one in own}) < 2:
        return []
    last = next(one for one in own if (found := _LAYER.search(one.name)) and int(found[1]) == there - 1)
    claim = f"`{setting.key}` is {asked} in `{setting.source}`, the checkpoint has {there}: the others start at random"
    facts: dict[str, Fact] = {"setting": setting.key, "saved": there, "given": asked}
    places = [cite_setting(setting, claim), cite_tensor(checkpoint, last, f"`{last.name}` belongs to the last of them")]
    return [Signal(id="layers-differ-from-config", claim=claim, citations=places, facts=facts)]


def _prefixed(checkpoint: Checkpoint, errors: Sequence[LogError]) -> list[Signal]:
    failed = next((row for row in errors if row.kind == "error" and _LOADING.search(row.text)), None)
    prefix = next((one for one in checkpoint.prefixes.values() if one.split(".")[0] in {"module", "_orig_mod"}), None)
    if failed is None or prefix is None:
        return []
    wrapper = f"{prefix.split('.')[0]}."
    first = next(one for one in checkpoint.tensors if one.part == "model")
    claim = f"every name in `{checkpoint.path}` begins with `{wrapper}`, as DataParallel or torch.compile saves it"
    facts: dict[str, Fact] = {"prefix": wrapper, "checkpoint": checkpoint.path}
    places = [
        cite_tensor(checkpoint, first, claim),
        cite_line(failed.source, failed.line, "loading failed", failed.text),
    ]
    return [Signal(id="checkpoint-keys-prefixed", claim=claim, citations=places, facts=facts)]


def _is_count(value: Fact) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
