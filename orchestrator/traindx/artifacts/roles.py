"""What a file is for, by its name and by the first few KB of its content."""

from __future__ import annotations

import re
from functools import lru_cache

from traindx.artifacts.model import Role
from traindx.artifacts.names import normalise
from traindx.artifacts.textlog import records_in

HEAD = 16 << 10
"""bytes of a file that are looked at"""

_CHECKPOINTS = {
    "pt",
    "pth",
    "ckpt",
    "safetensors",
    "h5",
    "hdf5",
    "keras",
    "pdparams",
    "msgpack",
    "onnx",
    "tflite",
    "gguf",
}
_DATA = {
    "npy", "npz", "parquet", "arrow", "feather", "tfrecord", "record", "lmdb", "mdb", "zip", "tar", "gz", "tgz", "bz2",
    "xz", "zst", "wav", "flac", "mp3", "ogg", "mp4", "avi", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "bin",
    "idx", "dat", "mat", "db", "sqlite", "vocab", "pkl", "pickle", "tsv", "csv",
}  # fmt: skip
_OUTPUTS = {"png", "svg", "pdf", "html", "htm"}
_CONFIGS = {"yaml", "yml", "toml", "ini", "cfg", "conf", "gin"}
_CODE = {"py", "sh", "sbatch", "slurm", "ipynb", "cu", "cpp", "c", "h"}
_LOGS = {"log", "out", "err", "stdout", "stderr"}
_TEXT = {"txt", "text", "md", "rst", "json", "jsonl", "ndjson", "csv", "tsv", ""} | _LOGS | _CONFIGS
_LOG_NAME = re.compile(
    r"(?:^|[^a-z])(?:log|logs|train|training|stdout|stderr|output|nohup|console|slurm|run|error)(?:[^a-z]|$)"
)
_METRICS_NAME = re.compile(r"metric|history|progress|scalars|results|losses|trainer_state|log")
_SUMMARY_NAME = re.compile(r"results|summary|scores")
_CONFIG_NAME = re.compile(r"config|args|params|settings|hparams|options|cfg")
_PICTURE_NAME = re.compile(r"plot|curve|loss|sample|confusion|fig|chart")
_MODEL_NAME = re.compile(r"model|ckpt|checkpoint|weights|state|optimizer|best|last|epoch")
_EVENTS = "tfevents"
_LOG_SIGN = re.compile(
    r"Traceback \(most recent call last\)|^\S{0,40}\s?(?:INFO|WARNING|ERROR|DEBUG)\b"
    r"|^[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d",
    re.MULTILINE,
)
_DIGITS = str.maketrans("", "", "0123456789")
_TEXT_CONTROLS = frozenset(b"\t\n\r\b\f\x1b")


def suffix(path: str) -> str:
    """The extension of a path; of `train.log.1` it is `log`."""
    parts = path.rpartition("/")[2].lower().split(".")
    if len(parts) > 2 and parts[-1].isdecimal():
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def by_name(path: str) -> Role:
    """The role that a name suggests; what needs the content to decide is `other`, `data` or `log`."""
    # A folder of a million files has a million numbers but few names.
    name = path.rpartition("/")[2]
    stem, dot, kind = name.rpartition(".")
    return _by_name(f"{stem.translate(_DIGITS) if dot else ''}{dot}{kind}")


@lru_cache(maxsize=20_000)
def _by_name(path: str) -> Role:
    name, kind = path.lower(), suffix(path)
    if _EVENTS in name or kind in {"jsonl", "ndjson", "wandb"}:
        return "metrics"
    if kind in _CHECKPOINTS or (kind in {"bin", "pkl", "pickle"} and _MODEL_NAME.search(name)):
        return "checkpoint"
    if kind in {"csv", "tsv"}:
        return "metrics" if _METRICS_NAME.search(name) else "data"
    if kind in _OUTPUTS:
        return "output" if kind != "png" or _PICTURE_NAME.search(name) else "data"
    if kind in _DATA:
        return "data"
    if kind == "json":
        if _SUMMARY_NAME.search(name):
            return "output"
        return "metrics" if _METRICS_NAME.search(name) and not _CONFIG_NAME.search(name) else "config"
    if kind in _CODE:
        return "code"
    if kind in _CONFIGS:
        return "config"
    if kind in _LOGS or (kind in {"", "txt"} and _LOG_NAME.search(name)):
        return "log"
    return "other"


def needs_look(path: str) -> bool:
    """Whether the content may change what the name says."""
    return suffix(path) in _TEXT and _EVENTS not in path


def by_content(path: str, role: Role, head: bytes) -> Role:
    """The role once the first bytes of a text file have been seen."""
    kind, text = suffix(path), _decoded(head)
    if kind in {"csv", "tsv"}:
        return "metrics" if _metric_header(text) else "data"
    if kind == "json":
        return "metrics" if '"log_history"' in text or (role != "config" and "[" in text) else role
    if kind in _CONFIGS or kind in {"jsonl", "ndjson"}:
        return role
    lines = [line for line in text.splitlines() if line.strip()]
    # One object with double quotes per line is a table, whatever it is called.
    if len(lines) > 1 and all(line.startswith('{"') for line in lines[:5]):
        return "metrics"
    if _metric_header(text) and "\t" in lines[0]:
        return "metrics"
    if kind in {"md", "rst"}:
        return "other"
    if role == "log":
        return "log"
    return "log" if records_in(text) >= 2 or _LOG_SIGN.search(text) or _says_loss_at_end(text) else "other"


def is_binary(head: bytes) -> bool:
    """Whether these first bytes are something other than text; NULs at the end are what a crash leaves."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    seen = head.rstrip(b"\0")
    if not seen:
        return bool(head)
    controls = sum(1 for byte in seen if byte < 32 and byte not in _TEXT_CONTROLS)
    strange = _decoded(seen).count("\ufffd")
    return controls > 0.02 * len(seen) or strange > 0.2 * len(seen)


def _says_loss_at_end(text: str) -> bool:
    return records_in("\n".join(text.splitlines()[-5:])) > 0


def _metric_header(text: str) -> bool:
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    cells = [cell.strip(" \"'") for cell in re.split(r"[,;\t|]", first[:4_000])]
    kinds = [normalise(cell).kind for cell in cells if cell]
    measured = any(kind in {"loss", "accuracy"} for kind in kinds)
    counted = any(kind in {"epoch", "step"} for kind in kinds)
    return len(kinds) > 1 and (measured or (counted and any(kind in {"score", "rate", "norm"} for kind in kinds)))


def _decoded(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="replace")
    # The cut may have gone through a character: its bytes at the end are not counted as strange.
    return (
        head.decode("utf-8", errors="replace").rstrip("\ufffd")
        if len(head) >= HEAD
        else head.decode("utf-8", errors="replace")
    )
