"""What a file is made of, by its first bytes alone."""

from __future__ import annotations

import re
from typing import Literal, get_args

from traindx.readers.checkpoints.safetensors import looks_like_safetensors
from traindx.vocabulary.file_magic import KNOWN, UTF_16, ZIP, magic_of

Content = Literal[
    "torch-zip", "keras-zip", "npz", "zip", "pickle", "safetensors", "hdf5", "gguf", "npy", "tfevents", "wandb",
    "sqlite", "parquet", "gzip", "picture", "pdf", "lfs-pointer", "html", "notebook", "json", "jsonl", "csv", "yaml",
    "ini", "python", "shell", "text", "binary", "empty",
]  # fmt: skip

_PICKLE = re.compile(rb"\x80[\x02-\x05](?:[\x95\x8a}\](c\x8cXK]|\x8a)")
_FIRST_MEMBER = re.compile(re.escape(ZIP) + rb".{22}(..)", re.DOTALL)
# A pickle needs a second look; what is packed or compiled otherwise is no more than binary here.
_TOLD_BY_MAGIC: dict[str, Content] = {
    name: name
    for name in get_args(Content)
    if name in {magic.name for magic in KNOWN} and name not in {"zip", "pickle"}
}
_TEXT_CONTROLS = frozenset(b"\t\n\r\b\f\x1b")
_PYTHON = re.compile(r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w+|#!.*python)", re.MULTILINE)
_SHELL = re.compile(r"#!\s*/(?:usr/)?bin/(?:env )?(?:ba|z|da|k)?sh|^#SBATCH ", re.MULTILINE)
_SECTION = re.compile(r"^\s*\[[\w.\- \"']{1,80}\]\s*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^\s*[\w.\-/]{1,80}\s*=\s*\S", re.MULTILINE)
_YAML_LINE = re.compile(r"\s*(?:- )?[A-Za-z_][\w.\-/]{0,60}:(?:\s+\S.*|\s*)$|\s*- \S.*$|\s*#.*$|---\s*$|\s*$")


def recognise(head: bytes) -> Content:
    """What a file with these first bytes (16 KB of them, or all) holds."""
    if not head:
        return "empty"
    magic = magic_of(head)
    if magic is not None and magic.name == "zip":
        return _zip(head)
    if magic is not None and magic.name in _TOLD_BY_MAGIC:
        return _TOLD_BY_MAGIC[magic.name]
    # A record of an event file: length, its checksum, and an event that begins with the wall time.
    if b"brain.Event:2" in head[:64]:
        return "tfevents"
    if looks_like_safetensors(head):
        return "safetensors"
    if _PICKLE.match(head):
        return "pickle"
    if is_binary(head):
        return "binary"
    return _text(decoded(head))


def is_binary(head: bytes) -> bool:
    """Whether these first bytes are something other than text; NULs at the end are what a crash leaves."""
    if head.startswith(UTF_16):
        return False
    seen = head.rstrip(b"\0")
    if not seen:
        return bool(head)
    controls = sum(1 for byte in seen if byte < 32 and byte not in _TEXT_CONTROLS)
    strange = decoded(seen).count("\ufffd")
    return controls > 0.02 * len(seen) or strange > 0.2 * len(seen)


def decoded(head: bytes) -> str:
    """The first bytes of a text file as text."""
    if head.startswith(UTF_16):
        return head.decode("utf-16", errors="replace")
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff")
    # The cut may have gone through a character: its bytes at the end are not counted as strange.
    return text.rstrip("\ufffd") if len(head) >= 1 << 14 else text


def _zip(head: bytes) -> Content:
    found = _FIRST_MEMBER.match(head)
    name = head[30 : 30 + int.from_bytes(found[1], "little")] if found else b""
    if name.endswith(b"data.pkl") or b"/data.pkl" in head or b"/.data/" in head[:4096]:
        return "torch-zip"
    if name.endswith(b".npy"):
        return "npz"
    return "keras-zip" if name in {b"metadata.json", b"config.json", b"model.weights.h5"} else "zip"


def _text(text: str) -> Content:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "text"
    first = lines[0].lstrip()
    low = first.lower()
    if low.startswith(("<!doctype html", "<html")):
        return "html"
    if first.startswith(("{", "[")):
        told = _json(text, lines)
        if told is not None:
            return told
    if _SHELL.search(text[:2_000]):
        return "shell"
    if len(_PYTHON.findall(text)) >= 2 and "Traceback (most recent" not in text:
        return "python"
    if _is_table(lines):
        return "csv"
    if _SECTION.search(text) and len(_ASSIGNED.findall(text)) >= 1:
        return "ini"
    keyed = sum(1 for line in lines if _YAML_LINE.match(line))
    nested = any(line.startswith((" ", "- ")) for line in lines)
    return "yaml" if len(lines) > 1 and keyed == len(lines) and nested and ":" in text else "text"


def _json(text: str, lines: list[str]) -> Content | None:
    if len(lines) > 1 and all(line.startswith('{"') and line.rstrip().endswith("}") for line in lines[:5][:-1]):
        return "jsonl"
    start = text.lstrip()[:200]
    if re.match(r'\{\s*(?:"|\}|//|/\*)|\[\s*(?:[{\["\d\-]|\])', start) is None:
        return None
    if '"cells"' in text and ('"cell_type"' in text or '"nbformat"' in text):
        return "notebook"
    # `[12:01:33] epoch 1` and `[2024-01-01 …]` are time stamps.
    return None if re.match(r"\[[\d\-:., T]+\]\s*\S", start) and not start.rstrip().endswith("]") else "json"


def _is_table(lines: list[str]) -> bool:
    """Whether lines share a separator and have the same number of cells, with numbers below the first."""
    if len(lines) < 2:
        return False
    rows = lines[: max(2, min(20, len(lines) - 1))]  # the last line may be cut
    for separator in ",\t;|":
        counts = [row.count(separator) for row in rows]
        if counts[0] and min(counts) == max(counts):
            cells = [cell.strip(" \"'") for row in rows[1:] for cell in row.split(separator)]
            plain = sum(1 for cell in cells if not cell or _numeric(cell))
            names = [cell.strip(" \"'") for cell in rows[0].split(separator)]
            short = all(len(name) <= 60 for name in names)
            return short and (plain > 0.3 * len(cells)) and not any("=" in name or ": " in name for name in names)
    return False


def _numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
