"""Secrets known by the name they are assigned to: `password: x`, `API_KEY=x`, `"token": "x"`, `--secret x`."""

from __future__ import annotations

import re
from collections.abc import Callable

# In JSON text a line begins with `\n` or `\t` spelled out, whose letter is no part of the name that follows.
_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=\\[ntr]))"
_STRONG = (
    r"passw(?:or)?d|passphrase|pwd|api[_-]?key|secret|(?:secret|private|access|account|encryption|signing|master|"
    r"service|subscription|license|storage|shared|auth|db|deploy)[_-]?key|(?:client|app|webhook|shared|consumer|"
    r"signing)[_-]?secret|(?:auth|access|refresh|session|bearer|api|bot|personal|id|security|registry|deploy|"
    r"hub|hf|huggingface|wandb|github|gitlab|slack|npm|pypi|neptune|comet|mlflow|dagshub)[_-]?token|"
    r"(?:secret|private)_?key_?id|connection[_-]?string"
)
_CAMEL = r"(?:Password|Passphrase|Secret|ApiKey|SecretKey|AccessKey|PrivateKey|AuthToken|AccessToken|RefreshToken)"
_VALUE = (
    r"(?:\\?\"(?P<double>[^\"\n\\]{1,400})|\\?'(?P<single>[^'\n\\]{1,400})|(?P<bare>[^\s\"'\\,;&)}\]<>{(\[]{1,400}))"
)
_SEPARATOR = r"\\?[\"']?\]?\s{0,8}(?::=|=>|[:=])\s{0,8}"

_PLACEHOLDER = re.compile(
    r"(?:none|null|nil|true|false|yes|no|on|off|unset|required|optional|str|string|bytes|int|bool|any|secretstr|"
    r"undefined|empty|redacted|hidden|masked|changeme|your.{0,40}|[*x.•_-]{2,}|\$.{1,200}|%.{1,80}%?|<.{0,200}|\{.{0,200}|"
    r"\[.{0,200}|env\b.{0,80}|os\.environ.{0,80}|os\.getenv.{0,80}|getpass.{0,40}|(?:args|self|cfg|config|conf|opt|"
    r"opts|options|settings|params|kwargs|hparams|flags|secrets|vault|credentials|creds)[.\[].{0,100}|"
    r"[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,6}|\d{1,3}|.)",
    re.IGNORECASE | re.DOTALL,
)
# Words of language models: a token of text is not a token of trust.
_OF_TEXT = re.compile(
    r"(?:pad|eos|bos|unk|sep|cls|mask|image|audio|video|next|prev|previous|last|first|per|special|stop|start|end|sos|"
    r"eot|bot|eop|fim|prefix|suffix|middle|new|max|min|num|target|source|input|output|word|sub|think|tool|system|user|"
    r"assistant|patch|register|class|newline|space|blank|single|each|begin|text|time|by|of|the|a|csrf|trigger)[_-]?$",
    re.IGNORECASE,
)


def _given(match: re.Match[str]) -> str:
    return match.group("double") or match.group("single") or match.group("bare") or ""


def _is_value(match: re.Match[str]) -> bool:
    """Whether something stands there that could be a secret, and not a placeholder, a path or an expression."""
    value = _given(match).strip()
    if not value or (_PLACEHOLDER.fullmatch(value) and not _mixed(value)):
        return False
    if value.startswith(("/", "./", "~/", "[masked:")) or "(" in value:
        return False
    return not (match.group("bare") and match.string[match.end() : match.end() + 1] in {"(", "["})


def _mixed(value: str) -> bool:
    """Letters of both cases and digits, as generated secrets have and names of variables have not."""
    return (
        any(c.isdigit() for c in value)
        and any(c.islower() for c in value)
        and any(c.isupper() for c in value)
        and not value.startswith(("$", "%", "<", "{", "["))
        and "." not in value[:12]
    )


def _is_token(match: re.Match[str]) -> bool:
    """The bare word `token` is common in this field: only a value that looks generated counts."""
    value = _given(match)
    before = match.string[max(0, match.start() - 20) : match.start()]
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    if _OF_TEXT.search(before) or len(value) < 16 or digits < 3 or letters < 3 or " " in value:
        return False
    return _is_value(match) and not value.endswith((".json", ".model", ".txt", ".yaml", ".bin", ".pt"))


Assignment = tuple[str, tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], bool]]
_STRONG_WORDS = ("passw", "passphrase", "pwd", "key", "secret", "token", "string")

ASSIGNMENTS: tuple[Assignment, ...] = (
    (
        "assigned-secret",
        _STRONG_WORDS,
        re.compile(f"{_BEFORE}(?:{_STRONG}){_SEPARATOR}{_VALUE}", re.IGNORECASE),
        _is_value,
    ),
    (
        "assigned-secret",
        ("password", "passphrase", "secret", "apikey", "accesskey", "privatekey", "token"),
        re.compile(f"(?<=[a-z]){_CAMEL}{_SEPARATOR}{_VALUE}"),
        _is_value,
    ),
    (
        "assigned-token",
        ("token", "key", "sig", "auth", "credential", "cookie", "session"),
        re.compile(
            f"{_BEFORE}(?:token|key|signature|sig|auth|credentials?|cookie|session){_SEPARATOR}{_VALUE}", re.IGNORECASE
        ),
        _is_token,
    ),
    (
        "flag-secret",
        ("--",),
        re.compile(rf"--(?:[a-z0-9]{{1,20}}[-_]){{0,4}}?(?:{_STRONG})[ =]{{1,3}}{_VALUE}", re.IGNORECASE),
        _is_value,
    ),
    (
        "flag-token",
        ("--",),
        re.compile(rf"--(?:[a-z0-9]{{1,20}}[-_]){{0,4}}?token[ =]{{1,3}}{_VALUE}", re.IGNORECASE),
        _is_token,
    ),
)
