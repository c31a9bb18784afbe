"""The model that a configuration describes against the one whose settings were saved in the checkpoint it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_key
from traindx.detectors.citing import cite_setting
from traindx.readers.checkpoints import Checkpoint
from traindx.readers.model import Setting

SIGNALS = {
    "model-differs-from-checkpoint": (
        "a configuration for using a checkpoint describes another model than the settings saved in it"
    ),
}
# What decides how weights are used. Number of classes, length of the context and dropout change on purpose.
_OF_THE_MODEL = frozenset({
    "n_head", "n_heads", "num_heads", "heads", "nhead", "num_attention_heads", "attention_heads", "encoder_heads",
    "decoder_heads", "n_kv_head", "n_kv_heads", "num_kv_heads", "num_key_value_heads", "head_dim", "d_head",
    "n_layer", "n_layers", "num_layers", "num_hidden_layers", "depth", "d_model", "hidden_size", "hidden_dim", "n_embd",
    "embed_dim", "activation", "act", "act_fn", "hidden_act", "activation_function", "norm", "norm_type", "norm_first",
    "pre_norm", "norm_eps", "layer_norm_eps", "rms_norm_eps", "rope_theta", "rope_base", "rotary_pct", "mlp_ratio",
    "patch_size", "window_size", "num_groups", "cell", "rnn_type", "bidirectional",
})  # fmt: skip
# Weights of the same shapes fit whatever these say.
_SHAPELESS = frozenset({
    "n_head", "n_heads", "num_heads", "heads", "nhead", "num_attention_heads", "attention_heads", "encoder_heads",
    "decoder_heads", "activation", "act", "act_fn", "hidden_act", "activation_function", "norm_first", "pre_norm",
    "norm_eps", "layer_norm_eps", "rms_norm_eps", "rope_theta", "rope_base", "rotary_pct", "num_groups", "causal",
})  # fmt: skip
_FOR_USE = re.compile(
    r"(?:^|[^a-z])(?:eval\w*|infer\w*|predict\w*|test|serv(?:e|ing)|deploy\w*|generat\w*|sampl(?:e|ing)|export|demo)"
    r"(?:[^a-z]|$)",
    re.IGNORECASE,
)
FEWEST_SHARED = 2
"""settings of the model that are the same on both sides, by which they are known to describe one model"""
_SUFFIX = re.compile(r"\.(?:pt|pth|ckpt|bin|safetensors|h5|keras|msgpack|npz|pkl)$", re.IGNORECASE)
_TRIED_OUT = frozenset({"sweep", "search", "grid", "ablation", "ablations"})


def detect(checkpoint: Checkpoint, settings: Sequence[Setting]) -> list[Signal]:
    """Compare every configuration that names this checkpoint with the settings inside it."""
    written = [row for row in settings if not row.coded]
    for source in sorted({row.source for row in written if _names(row, checkpoint)}):
        own = [row for row in written if row.source == source]
        differing = list(_differing(checkpoint, own))
        if differing:
            return [_signal(checkpoint, *differing[0])]
    return []


def unnamed(checkpoints: Sequence[Checkpoint], settings: Sequence[Setting]) -> list[Signal]:
    """Compare configurations that are for using a model, as their name says, and name no checkpoint, with the settings
    saved in those there are: all that shapes the weights is the same in one of them, and none fits altogether.
    """
    written = [row for row in settings if not row.coded]
    for source in sorted({row.source for row in written if _FOR_USE.search(PurePosixPath(row.source).stem)}):
        own = [row for row in written if row.source == source]
        if any(isinstance(row.value, str) and _SUFFIX.search(row.value) for row in own):
            continue  # it names its own
        compared = [(one, *_compared(one, own)) for one in checkpoints]
        alike = [one for one in compared if one[1] >= FEWEST_SHARED]
        if alike and all(differing for _, _, differing in alike):
            first, _, differing = alike[0]
            if all(row.key.lower().rpartition(".")[2] in _SHAPELESS for row, _ in differing):
                return [_signal(first, *differing[0])]
    return []


def _compared(checkpoint: Checkpoint, own: Sequence[Setting]) -> tuple[int, list[tuple[Setting, str]]]:
    """How many settings are the same under the same name and heading, and those that differ."""
    same, differing = 0, []
    for row in own:
        words = row.key.lower().split(".")
        if not _plain(row.value) or _TRIED_OUT & set(words):
            continue
        saved = [key for key in checkpoint.scalars if _is_setting(key) and key.lower().split(".")[-2:] == words[-2:]]
        if len(saved) == 1 and len(words) > 1:
            if _different(row.value, checkpoint.scalars[saved[0]]):
                differing.append((row, saved[0]))
            else:
                same += 1
    return same, differing


def _names(row: Setting, checkpoint: Checkpoint) -> bool:
    """Whether a setting is the path of the checkpoint, from whatever folder."""
    if not isinstance(row.value, str) or len(row.value) > 1_000:
        return False
    given, there = PurePosixPath(row.value.replace("\\", "/")), PurePosixPath(checkpoint.path)
    if not given.suffix or given.name != there.name:
        return False
    shared = min(len(given.parts), len(there.parts), 2)
    return given.parts[-shared:] == there.parts[-shared:]


def _differing(checkpoint: Checkpoint, own: Sequence[Setting]) -> Iterator[tuple[Setting, str]]:
    for row in own:
        *above, name = row.key.lower().split(".")
        if name not in _OF_THE_MODEL or _TRIED_OUT & set(above) or not _plain(row.value):
            continue
        if sum(other.key.lower().rpartition(".")[2] == name for other in own) > 1:
            continue  # an encoder's and a decoder's: which is which is not known
        saved = [key for key in checkpoint.scalars if _is_setting(key) and key.lower().rpartition(".")[2] == name]
        values = {str(checkpoint.scalars[key]) for key in saved}
        if len(values) == 1 and _different(row.value, checkpoint.scalars[saved[0]]):
            yield row, saved[0]


def _is_setting(key: str) -> bool:
    """Whether a saved value belongs to settings, not to an optimizer or a schedule."""
    return "." in key and "[" not in key and not key.lower().startswith(("optim", "sched", "lr_sched", "state"))


def _plain(value: Fact) -> bool:
    return isinstance(value, int | float | str)


def _different(given: Fact, saved: Fact) -> bool:
    if isinstance(given, bool) or isinstance(saved, bool):
        return isinstance(given, bool) and isinstance(saved, bool) and given is not saved
    if isinstance(given, int | float) and isinstance(saved, int | float):
        return abs(given - saved) > 1e-9 * max(abs(given), abs(saved))
    if isinstance(given, str) and isinstance(saved, str):
        return given.strip().lower() != saved.strip().lower()
    return False


def _signal(checkpoint: Checkpoint, row: Setting, key: str) -> Signal:
    saved = checkpoint.scalars[key]
    name = row.key.rpartition(".")[2]
    claim = f"`{row.source}` loads `{checkpoint.path}` with `{row.key}` {row.value}; it was trained with {saved}"
    facts: dict[str, Fact] = {
        "setting": name,
        "given": row.value,
        "saved": saved,
        "checkpoint": checkpoint.path,
        "config_place": f"{row.source}:{row.line}",
    }
    places = [
        cite_setting(row, f"`{row.key}` is {row.value} here"),
        cite_key(checkpoint, key, f"the checkpoint was saved with `{name}` {saved}"),
    ]
    return Signal(id="model-differs-from-checkpoint", claim=claim, citations=places, facts=facts)
