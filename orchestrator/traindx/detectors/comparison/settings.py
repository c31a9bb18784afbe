"""Settings of two runs, key by key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from traindx.contract import Fact
from traindx.detectors.comparison.difference import Difference
from traindx.readers.model import Setting
from traindx.vocabulary.settings import CLIP

ABSENT = "(not set)"


@dataclass(frozen=True)
class _Kind:
    """Settings of one kind: how they are called, and how much a change of them usually does."""

    what: str
    weight: float
    names: re.Pattern[str]


def _kind(what: str, weight: float, names: str) -> _Kind:
    return _Kind(what, weight, re.compile(names, re.IGNORECASE))


# The first that fits counts: what cannot matter stands before what may, since `output_data_dir` is no data.
_KINDS = (
    _kind("a seed changes the randomness, not the method", 0.12, r"seed|random_state"),
    _kind(
        "names, places and logging do not change what is learned",
        0.04,
        r"(?:out|output|save|log|logging|ckpt|checkpoint|work|cache|tmp|tensorboard|wandb|results?)_?(?:dir|path|folder|root|file|every"
        r"|interval|steps|freq|level|name|project)|(?:^|\.)(?:run|exp|experiment|job)_?(?:name|id)$|(?:^|\.)(?:tags?|notes?|name"
        r"|host(?:name)?|user|date|time(?:stamp)?|pid|port|verbose|version)$|print_?(?:every|freq)|report_to|uuid",
    ),
    _kind(
        "workers and devices mainly change the speed",
        0.2,
        r"num_?workers|workers|prefetch|pin_memory|gpus?$|devices?$|local_rank|threads",
    ),
    _kind(
        "the learning rate decides more than any other setting",
        1.0,
        r"(?:^|[^a-z])(?:lr|lrs|learning_?rate)(?:$|[^a-z])|max_lr|base_lr|eta_min|lr$",
    ),
    _kind(
        "the schedule sets the rate step by step",
        0.92,
        r"warm_?up|sched|milestone|gamma|t_max|t_0|t_mult|step_size|pct_start|decay_steps|total_steps"
        r"|div_factor|restart",
    ),
    _kind("another optimizer needs another learning rate", 0.95, r"optim|(?:^|\.)opt(?:$|\.)"),
    _kind(
        "precision decides what overflows and what is rounded away",
        0.9,
        r"precision|fp16|bf16|half|amp|autocast|dtype|loss_?scale|tf32",
    ),
    _kind("clipping bounds every update", 0.88, CLIP.pattern),
    _kind(
        "the loss is what is optimized",
        0.85,
        r"loss|criterion|label_?smooth|reduction|objective|pos_weight|class_weight",
    ),
    _kind("the batch sets the noise of the gradient and the steps per epoch", 0.8, r"batch|(?:^|\.)bs$|accum|micro"),
    _kind(
        "other data is another task",
        0.8,
        r"data|(?:^|\.)(?:train|val|valid|test)_?(?:path|file|dir|set|split)|shard|corpus|tokeni[sz]er"
        r"|vocab|split|augment|normali[sz]e|shuffle|n_train|n_samples|num_samples|subset|(?:^|\.)mean$|(?:^|\.)std$",
    ),
    _kind(
        "momentum multiplies the effective rate",
        0.75,
        r"momentum|betas?(?:$|[^a-z])|nesterov|(?:^|\.)eps(?:ilon)?$",
    ),
    _kind("regularization works against the loss", 0.72, r"decay|(?:^|\.)wd$|l1|l2|drop|mixup|cutmix|regulari[sz]"),
    _kind(
        "initialization decides whether gradients flow at the start",
        0.75,
        r"init|pretrain|resume|load|freeze|finetune",
    ),
    _kind(
        "another model is another capacity",
        0.65,
        r"model|arch|backbone|hidden|width|depth|layers?|heads?|d_model|embed|channels|units|norm"
        r"|activation|bias|kernel",
    ),
    _kind("a longer or shorter run ends elsewhere", 0.5, r"epochs?|max_?steps|num_?steps|iters?|iterations"),
)
_UNKNOWN = _Kind("its effect is unknown", 0.35, re.compile(""))


def setting_differences(
    good: Sequence[Setting], good_files: AbstractSet[str], bad: Sequence[Setting], bad_files: AbstractSet[str]
) -> list[Difference]:
    """Settings that were changed, added or removed, given the settings of both runs and the paths of their files.

    A setting is missing only where there is a place it could stand in: a file that only one run has is no difference.
    """
    ours, theirs = _by_key(good), _by_key(bad)
    found = []
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key), theirs.get(key)
        if one is not None and other is not None:
            if not _equal(one.value, other.value):
                found.append(_changed(one, other))
        elif other is not None and other.source in good_files:
            found.append(_only(other, in_bad=True))
        elif one is not None and one.source in bad_files:
            found.append(_only(one, in_bad=False))
    return found


def _by_key(settings: Iterable[Setting]) -> dict[str, Setting]:
    """The first setting of each key: configuration files come before logs, and logs before the defaults in code."""
    found: dict[str, Setting] = {}
    for row in settings:
        found.setdefault(row.key, row)
    return found


def _equal(one: Fact, other: Fact) -> bool:
    if _number(one) and _number(other):
        return math.isclose(float(one), float(other), rel_tol=1e-9) or one == other
    return str(one) == str(other)


def _number(value: Fact) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _changed(one: Setting, other: Setting) -> Difference:
    kind = _kind_of(other.key)
    size, said = _size(one.value, other.value)
    return Difference(
        kind="setting",
        name=other.key,
        good=str(one.value),
        bad=str(other.value),
        suspicion=kind.weight * (0.4 + 0.6 * size),
        reason=f"{said}; {kind.what}",
        source=other.source,
        line=other.line,
    )


def _size(one: Fact, other: Fact) -> tuple[float, str]:
    """How large a change is, from 0 to 1, and in words; a factor of ten is as large as it gets."""
    if not (_number(one) and _number(other)):
        return 0.8, "changed"
    before, after = float(one), float(other)
    if before * after > 0 and math.isfinite(after / before):
        ratio = after / before
        said = f"{ratio:.3g}-fold" if ratio >= 1 else f"1/{1 / ratio:.3g} of it"
        return min(1.0, abs(math.log10(ratio))), said
    return 1.0, "switched on" if before == 0 else "switched off" if after == 0 else "its sign is flipped"


def _only(row: Setting, *, in_bad: bool) -> Difference:
    kind = _kind_of(row.key)
    return Difference(
        kind="setting",
        name=row.key,
        good=ABSENT if in_bad else str(row.value),
        bad=str(row.value) if in_bad else ABSENT,
        suspicion=0.75 * kind.weight,
        reason=f"{'added' if in_bad else 'removed'}; {kind.what}",
        source=row.source,
        line=row.line,
        in_bad=in_bad,
    )


def _kind_of(key: str) -> _Kind:
    return next((kind for kind in _KINDS if kind.names.search(key)), _UNKNOWN)
