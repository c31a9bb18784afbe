"""What a file is for: its name suggests something, its content has the last word."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import pairwise

from traindx.readers.configs.packages import NAME as PACKAGES_NAME
from traindx.readers.configs.packages import lists_packages
from traindx.readers.folder.glance import Glance
from traindx.readers.folder.recognise import Content, decoded, recognise
from traindx.readers.folder.textkinds import (
    JOB_STATUS,
    LOG_SIGN,
    holds_history,
    holds_samples,
    is_log_behind,
    is_mostly_log,
    outside_programs,
    says_how_job_ended,
    says_trace,
)
from traindx.readers.logs.textlog import records_in
from traindx.readers.model import Role
from traindx.readers.tables.plaintable import plain_names
from traindx.readers.tables.record import is_long_form
from traindx.vocabulary.metrics import normalise
from traindx.vocabulary.probe_results import NAME as RESULT_NAME

__all__ = ["by_content", "by_name", "is_binary", "needs_look", "suffix"]

_CHECKPOINTS = {
    "pt", "pth", "ckpt", "safetensors", "h5", "hdf5", "keras", "pdparams", "pdopt", "msgpack", "onnx", "tflite", "gguf",
    "distcp", "torch", "weights",
}  # fmt: skip
_DATA = {
    "npy", "npz", "parquet", "arrow", "feather", "tfrecord", "record", "lmdb", "mdb", "zip", "tar", "gz", "tgz", "bz2",
    "xz", "zst", "wav", "flac", "mp3", "ogg", "mp4", "avi", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "bin",
    "idx", "dat", "mat", "db", "sqlite", "vocab", "pkl", "pickle", "tsv", "csv",
}  # fmt: skip
_OUTPUTS = {"png", "svg", "pdf", "html", "htm"}
_CONFIGS = {"yaml", "yml", "toml", "ini", "cfg", "conf", "gin", "env"}
_CODE = {"py", "sh", "sbatch", "slurm", "ipynb", "cu", "cpp", "c", "h"}
_SCRIPTS = {"py", "sh"}
_LOGS = {"log", "out", "err", "stdout", "stderr", "rout"}
_SPOOLED = re.compile(r"p?[oe]\d{1,12}(?:[-.]\d{1,6})?$")
"""how schedulers of the PBS family end the names of what a job printed: `train.o8812`"""
_TABLES = {"jsonl", "ndjson"}
_LOG_NAME = re.compile(
    r"(?:^|[^a-z])(?:log|logs|train|training|stdout|stderr|output|nohup|console|slurm|run|error|dmesg|out|err)(?:[^a-z]|$)"
)
_METRICS_NAME = re.compile(r"metric|history|progress|scalars|results|losses|trainer_state|log")
_SUMMARY_NAME = re.compile(r"results|summary|scores")
_CONFIG_NAME = re.compile(r"config|args|params|settings|hparams|options|cfg")
_PICTURE_NAME = re.compile(r"plot|curve|loss|sample|confusion|fig|chart|generated|recon|attention|grid")
_MODEL_NAME = re.compile(r"model|ckpt|checkpoint|weights|state|optimizer|best|last|epoch")
_OUTPUT_NAME = re.compile(
    r"^(?:generated|generations?|predictions?|preds?|samples?|outputs_|submission|translations?|hypotheses|hyps?|decoded|"
    r"completions?|answers|inference)(?:[^a-z]|$)|[_-](?:predictions?|preds?|generations?|samples|hyps?|submission)\."
)
_OUTPUT_FOLDER = re.compile(r"(?:^|/)(?:samples?|generated|generations?|predictions?|preds?|inference)/(?:.*/)?[^/]+$")
_OUTPUT_TEXT = {"txt", "csv", "tsv", "jsonl", "json", "md", "ndjson"}
_EVENTS = "tfevents"
_LABEL = {
    "label",
    "labels",
    "target",
    "targets",
    "class",
    "y",
    "id",
    "filename",
    "file",
    "image",
    "path",
    "text",
    "index",
}
_DIGITS = str.maketrans("", "", "0123456789")
# What these hold is told by their first bytes, whatever they are called.
_ROLES: dict[Content, Role] = {
    "torch-zip": "checkpoint",
    "keras-zip": "checkpoint",
    "safetensors": "checkpoint",
    "gguf": "checkpoint",
    "tfevents": "metrics",
    "wandb": "metrics",
    "npy": "data",
    "npz": "data",
    "parquet": "data",
    "sqlite": "data",
    "lfs-pointer": "checkpoint",
}


def suffix(path: str) -> str:
    """The extension of a path; of `train.log.1` and `workerlog.0` it is `log`."""
    parts = path.rpartition("/")[2].lower().split(".")
    if len(parts) > 1 and parts[-1].isdecimal() and (len(parts) > 2 or parts[0].endswith("log")):
        parts.pop()
        return "log" if parts[-1].endswith("log") else parts[-1]
    return parts[-1] if len(parts) > 1 else ""


def by_name(path: str) -> Role:
    """The role that a name suggests; what needs the content to decide is `other`, `data` or `log`."""
    # A folder of a million files has a million numbers but few names.
    folder, _, name = path.rpartition("/")
    if name.lower().endswith(".gz") and not name.lower().endswith(".tar.gz"):
        inner = by_name(path[:-3])
        return inner if inner in {"log", "metrics"} else "data"
    stem, dot, kind = name.rpartition(".")
    role = _by_name(f"{stem.translate(_DIGITS) if dot else ''}{dot}{kind}")
    if folder and role in {"other", "log", "data", "metrics"} and kind.lower() in _OUTPUT_TEXT:
        return "output" if _OUTPUT_FOLDER.search(path.lower()) else role
    return role


@lru_cache(maxsize=20_000)
def _by_name(path: str) -> Role:
    name, kind = path.lower(), suffix(path)
    if RESULT_NAME.search(name):
        return "probe"
    if _EVENTS in name or kind == "wandb":
        return "metrics"
    if PACKAGES_NAME.search(name):
        return "config"
    if kind == "tar" and suffix(name.removesuffix(".tar")) in _CHECKPOINTS:
        return "checkpoint"  # `checkpoint.pth.tar`, which is no archive
    if kind in _CHECKPOINTS or (kind in {"bin", "pkl", "pickle"} and _MODEL_NAME.search(name)):
        return "checkpoint"
    if kind in _OUTPUT_TEXT and _OUTPUT_NAME.search(name):
        return "output"
    if kind in _TABLES:
        return "metrics"
    if kind in {"csv", "tsv"}:
        return "metrics" if _METRICS_NAME.search(name) else "data"
    if kind in _OUTPUTS:
        return "output" if kind != "png" or _PICTURE_NAME.search(name) else "data"
    if kind in _DATA:
        return "data"
    return _text_by_name(name, kind)


def _text_by_name(name: str, kind: str) -> Role:
    if kind == "json":
        if name.endswith(".index.json"):
            return "checkpoint"
        if _SUMMARY_NAME.search(name):
            return "output"
        return "metrics" if _METRICS_NAME.search(name) and not _CONFIG_NAME.search(name) else "config"
    if kind in _CODE:
        return "code"
    if kind in _CONFIGS:
        return "config"
    if kind in _LOGS or _SPOOLED.match(kind) or (kind in {"", "txt"} and _LOG_NAME.search(name)):
        return "log"
    return "other"


def needs_look(path: str) -> bool:
    """Whether the content may change what the name says."""
    kind = suffix(path)
    if by_name(path) == "probe":
        return False
    if kind in {"bin", "pkl", "pickle", "dat"}:
        return by_name(path) == "data"
    if kind in (_CODE - _SCRIPTS) | _OUTPUTS or _EVENTS in path:
        return False
    return kind not in _CHECKPOINTS | (_DATA - {"csv", "tsv"}) | {"wandb"} and by_name(path) != "checkpoint"


def is_binary(head: bytes) -> bool:
    """Whether these first bytes are something that no reader here understands."""
    return recognise(head) in {"binary", "gzip", "zip", "picture", "pdf"}


def by_content(path: str, role: Role, glance: Glance) -> Role:
    """The role once a file has been looked into."""
    head = glance.head
    kind, content = suffix(path), recognise(head)
    if says_trace(head):
        return "trace"
    if content in _ROLES:
        return _ROLES[content]
    if content in {"pickle", "hdf5"}:
        # A pickled data set keeps its role; any other pickle is something that somebody will load.
        return "data" if role == "data" and kind in {"pkl", "pickle", "h5", "hdf5", "dat"} else "checkpoint"
    if role == "checkpoint":
        return role  # an HTML page in place of weights is a checkpoint that cannot be loaded
    if kind in _CODE:
        return _misnamed_code(role, content, decoded(head))
    if kind in {"txt", "dat", "log", "out", ""} and plain_names(head, path) is not None:
        return "log"
    return _text_role(kind, role, content, glance)


def _misnamed_code(role: Role, content: Content, text: str) -> Role:
    """A program by its name: a state that was saved as `state.py`, output that went to `run.sh`."""
    if content in {"json", "jsonl"} and holds_history(text):
        return "metrics"
    return "log" if content == "text" and records_in(text) >= 5 and is_mostly_log([text]) else role


def _text_role(kind: str, role: Role, content: Content, glance: Glance) -> Role:
    text = decoded(glance.head)
    if '"log_history"' in text:
        return "metrics"
    if '"weight_map"' in text and kind in {"json", "", "txt"}:
        return "checkpoint"
    if kind in {"csv", "tsv"}:
        return role if role == "output" else "metrics" if _metric_header(text) else "data"
    if kind in {"json", "yaml", "yml"} and says_how_job_ended(text):
        return "log"
    if kind == "json":
        history = role not in {"config", "output"} and "[" in text
        return "metrics" if history or holds_history(text) or any(map(holds_history, glance.rest)) else role
    if role == "output" or kind in _TABLES:
        return "data" if role == "metrics" and holds_samples(text) else role
    return _misnamed(kind, role, content, glance)


def _misnamed(kind: str, role: Role, content: Content, glance: Glance) -> Role:
    """The role of a text whose name says little: logs, tables and configurations are told apart by their lines."""
    text = decoded(glance.head)
    if content == "jsonl":
        return "metrics"
    if kind in _CONFIGS and content in {"text", "yaml", "ini", "json", "csv"}:
        return role
    if content == "csv" or ("\t" in text.partition("\n")[0] and _metric_header(text)):
        return _table(text, role)
    if kind in {"md", "rst"}:
        return "log" if is_mostly_log([text, *glance.rest]) else "other"
    if content == "notebook" or (content in {"python", "shell"} and role != "log" and not _log_follows(glance)):
        return "code"
    if role == "log" or JOB_STATUS.search(text):
        return "log"
    if content == "json":
        return "metrics" if holds_history(text) else "config"
    logged = records_in(text) >= 2 or LOG_SIGN.search(text) is not None or _says_loss_at_end(text)
    if logged or is_log_behind(glance.rest):
        return "log"
    return "config" if role == "config" or content in {"yaml", "ini"} or lists_packages(text) else "other"


def _log_follows(glance: Glance) -> bool:
    """Whether a file that begins with a program goes on with what it printed."""
    return is_log_behind(glance.rest) or is_log_behind(outside_programs(glance.head))


def _table(text: str, role: Role) -> Role:
    if _metric_header(text):
        return "metrics"
    return "log" if (role == "log" or "|" in text.partition("\n")[0]) and records_in(text) >= 2 else "data"


def _says_loss_at_end(text: str) -> bool:
    return records_in("\n".join(text.splitlines()[-5:])) > 0


def _metric_header(text: str) -> bool:
    """Whether the first line names metrics; a table with labels or file names beside a loss is one of samples."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    cells = [cell.strip(" \"'") for cell in re.split(r"[,;\t|]", first[:4_000])]
    kinds = [normalise(cell).kind for cell in cells if cell]
    measured = any(kind in {"loss", "accuracy"} for kind in kinds)
    counted = any(kind in {"epoch", "step"} for kind in kinds)
    if counted and is_long_form(cells):
        return True
    if not counted and any(cell.lower() in _LABEL for cell in cells):
        return False
    if len(kinds) < 2:
        return False
    return measured or (counted and (any(kind in {"score", "rate", "norm"} for kind in kinds) or _counts(text)))


def _counts(text: str) -> bool:
    """Whether the first column counts, evenly or nearly so, and the others hold numbers: a history by other names."""
    rows = [re.split(r"[,;\t|]", line) for line in text.splitlines()[:40] if line.strip() and not line.startswith("#")]
    if len(rows) < 4 or normalise(rows[0][0].strip(" \"'")).kind not in {"epoch", "step"}:
        return False
    rows = rows[1:-1]  # the last may be cut off
    try:
        counts = [float(row[0]) for row in rows]
        filled = [float(cell) for row in rows for cell in row[1:] if cell.strip()]
    except ValueError:
        return False
    rises = all(later >= sooner for sooner, later in pairwise(counts)) and counts[-1] > counts[0]
    return rises and any(value != int(value) for value in filled if math.isfinite(value))
