"""Telling kinds of text apart, whatever the file is called: logs, histories, programs, traces."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from traindx.readers.folder.listings import find_listings, is_code_like
from traindx.readers.folder.parts import without_listings
from traindx.readers.folder.recognise import decoded
from traindx.readers.logs.textlog import records_in
from traindx.vocabulary.file_magic import FLIGHT_RECORDER, PROFILER
from traindx.vocabulary.metrics import normalise

LOG_SIGN = re.compile(
    r"Traceback \(most recent call last\)|^\S{0,40}\s?(?:INFO|WARNING|ERROR|DEBUG)\b"
    r"|^[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\[\s{0,8}\d{1,9}\.\d{6}\] \S|^slurmstepd: |^srun: "
    r"|^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ |^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ kernel: ",
    re.MULTILINE,
)
JOB_STATUS = re.compile(
    r"^\s{0,12}Reason:\s+[A-Z]\w+\s*$|^\s{0,12}Exit Code:\s+\d|\bJobState=[A-Z_]+|^\s*JobID\b.{0,200}\bState\b"
    r"|\bOut of memory: Killed process \d|\boom-kill:",
    re.MULTILINE,
)
"""what `kubectl describe`, `sacct`, `scontrol` and `dmesg` print about a job"""
_ENDED = re.compile(r"^[\s\-{,]*[\"']?(?:exit_?code|exit_?status)[\"']?\s?[:=]\s?\"?-?\d", re.IGNORECASE | re.MULTILINE)
_WHY = re.compile(
    r"^[\s\-{,]*[\"']?\w{0,20}(?:reason|status|state|phase|message|error)[\"']?\s?[:=]\s?[\"']?[A-Za-z]",
    re.IGNORECASE | re.MULTILINE,
)
_FRAME = re.compile(r"\s*File \"[^\"]+\", line \d+|\s{4,}\S")
_FEWEST_RECORDS = 5
_LAST_PART = 4
"""a window may still hold the end of a program: its last quarter is looked at by itself"""
_RECORDED = re.compile(r'\{[^{}\[\]]{0,600}"(?:epoch|step|iter|iteration|global_step|round)"\s*:\s*\d[^{}]{0,600}\}')
_NUMBER = r"\s*-?(?:\d[\d.eE+-]*|NaN|Infinity|null)\s*"
_LISTED = re.compile(rf'"([^"\n]{{1,80}})"\s*:\s*\[(?:{_NUMBER},){{3}}')
_KEY = re.compile(r'"([^"\n]{1,80})"\s*:\s*-?[\dNI]')
_ANY_KEY = re.compile(r'"([\w-]{1,80})"\s*:')
_SAMPLE_LINES = 3
_WORDED = re.compile(r'"\s*:\s*"(?:[^"\\\s]{1,40}\s+){4}[^"\\\s]')
"""a value of five words or more: a text, whatever its key is called"""
_OF_SAMPLES = {
    "text", "label", "labels", "prompt", "completion", "messages", "instruction", "question", "answer", "sentence",
    "conversations", "chosen", "rejected", "premise", "hypothesis", "source", "target", "features", "tokens",
    "input_ids", "image", "y", "class",
}  # fmt: skip
_OF_RECORDS = {"step", "epoch", "iter", "iteration", "global_step", "loss", "train_loss", "level", "event", "timestamp"}


def says_how_job_ended(text: str) -> bool:
    """Whether it is what an orchestrator keeps of a job, as YAML or JSON: its exit code, with a reason or a state."""
    return _ENDED.search(text) is not None and _WHY.search(text) is not None


def holds_history(text: str) -> bool:
    """Whether a piece of JSON holds metrics over time: records that count and measure, or lists named like a loss."""
    if '"log_history"' in text:
        return True
    if sum(_measures(record) for record in _RECORDED.findall(text)[:40]) > 2:
        return True
    return any(normalise(name.rpartition("/")[2]).kind in {"loss", "accuracy"} for name in _LISTED.findall(text)[:200])


def holds_samples(text: str) -> bool:
    """Whether lines of JSON hold training examples: texts, labels or messages, and nothing that counts steps."""
    for line in text.splitlines()[:_SAMPLE_LINES]:
        keys = {key.lower() for key in _ANY_KEY.findall(line[:20_000])}
        if not (keys & _OF_SAMPLES or _WORDED.search(line[:20_000])) or keys & _OF_RECORDS:
            return False
    return bool(text.strip())


def _measures(record: str) -> bool:
    return any(normalise(name).kind in {"loss", "accuracy", "score", "norm"} for name in _KEY.findall(record))


def is_log_behind(windows: Sequence[str]) -> bool:
    """Whether later places of a file are a log's: a program that printed itself first, a long preamble."""
    told = [[line for line in window.splitlines() if line.strip()] for window in windows]
    return any(_is_log(lines) or _is_log(lines[-len(lines) // _LAST_PART :]) for lines in told if len(lines) > 1)


def outside_programs(head: bytes) -> list[str]:
    """What stands around the programs at the beginning of a file; nothing where there is no program."""
    handle = io.BytesIO(head)
    listings = find_listings(handle)
    if not listings:
        return []
    return [decoded(without_listings(handle, listings).view(handle).read())]


def _is_log(lines: list[str]) -> bool:
    kept = [line for line in lines if not is_code_like(line)]
    # In a program, nearly every line is indented or a statement; in a log, hardly any is.
    told = "\n".join(kept)
    if len(kept) < 0.5 * len(lines):
        return "Traceback (most recent call last)" in told
    return records_in(told) >= 3 or LOG_SIGN.search(told) is not None


def is_mostly_log(windows: Sequence[str]) -> bool:
    """Whether most lines of a text are a log's: what a `.md` must show, since prose quotes logs as well."""
    lines = [line for window in windows for line in window.splitlines() if line.strip() and not line.startswith("|")]
    records = records_in("\n".join(lines))
    signs = 0
    traced = False
    for line in lines:
        traced = "Traceback (most recent" in line or (traced and _FRAME.match(line) is not None)
        signs += traced or LOG_SIGN.search(line) is not None
    return records + signs >= _FEWEST_RECORDS and records + signs > 0.5 * len(lines)


def says_trace(head: bytes) -> bool:
    """Whether a file tells what a machine was doing: a dump of NCCL's flight recorder, a profiler's trace."""
    return all(word in head for word in FLIGHT_RECORDER) or any(all(map(head.__contains__, one)) for one in PROFILER)
