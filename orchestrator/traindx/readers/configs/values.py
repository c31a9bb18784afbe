"""Values of a configuration: what a bare word stands for, dotted keys, and what is too secret to keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from traindx.contract import Fact

DEEPEST = 24
LONGEST_TEXT = 500
Path = tuple[str | int, ...]

# YAML 1.1 wants a point and a signed exponent in a float: it takes `3e-4` and `1e5` for text.
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# `key` and `token` alone are too common (`key_dim`, `max_tokens`); what stands before them makes them secret.
_SECRET_KEY = re.compile(
    r"(?:^|_)(?:pass(?:word|wd|phrase)|pwd|secrets?|credentials?|authorization|bearer|cookie)(?:_|$)"
    r"|(?:^|_)(?:api|access|private|signing|encryption|account|license|ssh|shared|wandb|neptune|comet|openai|anthropic|hf)"
    r"_?key(?:_|$)"
)
_SECRET_TOKEN = re.compile(
    r"(?:^|_)(?:api|access|private|auth|bot|hub|session|refresh|github|gitlab|git|huggingface|hf|slack|telegram|security"
    r"|wandb|neptune|comet|openai|anthropic)_?token(?:_|$)|(?:^|_)token$"
)
# The tokens of a tokenizer are settings: `pad_token: <pad>`.
_VOCABULARY = re.compile(
    r"(?:^|_)(?:pad|bos|eos|unk|sep|cls|mask|eot|eod|eom|stop|start|end|special|additional_special|image|audio|video|"
    r"boi|eoi|begin|prefix|suffix|middle|decoder_start|forced_bos|forced_eos|class|blank|word_delimiter|padding)_?token$"
)
_SECRET_VALUE = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[\w-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}"
    r"|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}|wandb_v\d_\w{20,})"
    r"|://[^/\s:@]{1,80}:[^/\s@]{1,200}@|-----BEGIN [A-Z ]{0,30}PRIVATE KEY"
)


def is_secret(key: str, value: Fact = "") -> bool:
    """Whether a setting must not be kept: its name says password, key or token, or its value looks like one."""
    if isinstance(value, (bool, float)):
        return False
    name = _CAMEL.sub("_", key.rpartition(".")[2]).lower().replace("-", "_")
    if not isinstance(value, str):
        return _SECRET_KEY.search(name) is not None  # `max_token: 512` is a size
    named = _SECRET_KEY.search(name) or (_SECRET_TOKEN.search(name) and not _VOCABULARY.search(name))
    told = named and value.lower() not in {"", "null", "none"}
    return bool(told) or _SECRET_VALUE.search(value) is not None


def bounded(value: Fact) -> Fact:
    """The value, with text cut to what a setting can need."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def scalar(text: str) -> Fact:
    """The value that a bare word of a configuration stands for."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    if bare.lower() in {"true", "false"}:
        return bare.lower() == "true"
    digits = bare.replace("_", "")
    if len(digits) <= 40:
        if digits.lstrip("+-").isdecimal() and digits.isascii():
            return int(digits) if digits.count("-") + digits.count("+") <= 1 else bare
        if _FLOAT.fullmatch(digits) or digits.lower().lstrip("+-.") in {"inf", "nan"}:
            return _float(digits, bare)
    return bare


def _float(digits: str, bare: str) -> Fact:
    try:
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return bare


def dotted(path: Path) -> str:
    """`("schedule", "peaks", 1)` as `schedule.peaks[1]`."""
    key = ""
    for part in path:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def flat(value: object, path: Path = ()) -> Iterator[tuple[Path, Fact]]:
    """The scalars of nested dicts and lists, with the way to each."""
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from flat(inner, (*path, place))
    elif value is None:
        yield path, "null"
    else:
        yield path, value if isinstance(value, (bool, int, float, str)) else str(value)


Found = Iterator[tuple[str, Fact, int]]
"""key, value and line of each setting"""
Remark = Callable[[str], None]
Reader = Callable[[str, Remark], Found]

MOST = 5_000
"""settings of one file"""


class Unreadable(ValueError):
    """A configuration file that cannot be read, with the reason."""
