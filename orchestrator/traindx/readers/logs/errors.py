"""Errors and warnings that a run printed, each where it first stands.

Training logs are full of words that are no errors: error rates, generated samples, advice. An error needs a
form that only errors have: a traceback, an exception line, a level, or a line of the driver or the scheduler.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO, Literal

from traindx.readers.coverage import Allowance
from traindx.readers.logs.frames import FATAL, Fault, Traceback, boxed_frame, ipython_frame, opens_box
from traindx.readers.logs.jsonerrors import structured
from traindx.readers.logs.kept_errors import LONGEST, Kept
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.logs.ranks import LABEL, labels_ranks, prefix_of
from traindx.readers.logs.resumed import speaks_of_resuming
from traindx.readers.logs.unusual import UnusualLines
from traindx.readers.model import LogError
from traindx.vocabulary.collectives import COLLECTIVE
from traindx.vocabulary.error_texts import error_by_itself
from traindx.vocabulary.prefixes import LEVEL, PREFIX

_FIRST = 200
"""different errors that are kept from the beginning of a file, and different warnings half as many"""
_RANKS = 4_096
"""lines in which a rank tells how far its collectives came that are kept"""
_KEPT = {"error": "errors", "warning": "warnings", "collective": "reports of ranks"}
_MOST_CLEAN = 20_000
_WORDS = tuple(
    word.encode()
    for word in (
        "Traceback", "rror", "xception", "ERROR", "CRITICAL", "FATAL", "Warning", "WARN", "illed", "NCCL", "CUDA",
        "oom-kill", "oom_kill", "ut of memory", "fault", "core dumped", "No space", "terminate called", "Watchdog",
        "signal", "DUE TO", "exit code", "Interrupt", "SystemExit", "Timeout", "Xid", "Root Cause", "Assertion",
        "CANCELLED", "bort", "timed out", "exitcode", "fallen off", "uota exceeded", "SIG", "bad_alloc",
        "return code", "nable to ", "ould not ", "ermission denied", "No module", "TERM_", "free", "ABORT", "mandatory",
        "uncorrectable", "Terminating", "not found", "Out Of Memory", "EXHAUSTED",
        "TIMEOUT", "PREEMPT", "NODE_FAIL", "OUT_OF_ME", "victed", "reempt", "has died", "low on resource", "Deadline",
        "subset of ranks", "rocBLAS", "(label)", "EI0002", "amdgpu", "available RAM", "smashing", "MaxRuntime",
        "bad allocation", "FailedScheduling", "FailedMount", "ImagePull", "ErrImage", "InvalidImage", "Failed to pull",
        "Cannot install", "ResolutionImpossible", "building wheel", "build wheels", "distribution found",
        "nsatisfiable", "NotFoundError", "resolving dep", "slots available", "node types can", "wallclock time",
        "could not select", "but source was compiled", "job killed", "xitCode", "xit Code", "xited (", "xited with",
        "xit status", "more memory than", "badness", "AER: ", "severity=Uncorrect", "lost from bus",
    )
)  # fmt: skip
_NUMBERED = re.compile(rb"signal|[Ee]xit|return code|Xid")
"""what is an error with some numbers only"""
_GLOG = (b"W ::", b"E ::", b"F ::")
"""how the lines of Google's loggers begin once their digits are gone"""
_FRAME = re.compile(r'\s*File "([^"]{1,400})", line (\d{1,7})(?:, in ?(\S{0,80})|$)')
_STATED = re.compile(
    r"\s*\"(\w{0,20}(?:reason|message|error|status|state|phase|detail|exit_?code|code|cause))\"\s?:\s?\"?(.{1,1800}?)\"?,?\s*$",
    re.IGNORECASE,
)
"""a line of JSON in which an orchestrator says how a job ended"""
_MARKS = re.compile(r"[\s^~]*")
"""an empty line, or the marks under the part of a line that raised"""
_CHAIN = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Warning|Iteration)(?::|$)"
)
_IGNORED = re.compile(
    r"Exception ignored (?:in|on|while)\b|Error in atexit\._run_exitfuncs:|[^\n]{0,300}--- Logging error ---$"
    r"|(?:Task|Future) exception was never retrieved"
)
"""headings of tracebacks after which the interpreter goes on: nobody waits for what raised"""
_ANY_EXCEPTION = re.compile(r"[A-Za-z_][\w.]{0,160}(?::\s|$)")
_QUOTED = re.compile(r"\"[^\"]{0,400}\"|`[^`]{0,400}`|(?<!\w)'[^']{0,400}'(?!\w)")
_WARNING = re.compile(r"\b[A-Z]\w{0,60}Warning: ")
_GENERATED = re.compile(r"\b(?:sample|samples|generated|generation|completion|prompt|prediction)\b", re.IGNORECASE)
_HEADING = re.compile(
    rb"[^\r\n]{0,120}(?:---|===|\*\*\*|###|>>>|<<<)[^\r\n]{0,200}(?:sampl|generat|completion|prompt|prediction)", re.I
)
_RULE = re.compile(r"\s*(?:-{3,}|={3,}|\*{3,}|#{3,}|>{3,}|<{3,})")
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_SAMPLE_LINES = 60
_SUMMARY = "Root Cause (first observed failure)"
"""the heading under which torchrun tells of the process that failed first"""
_SUMMARY_ROW = re.compile(r"\s{0,8}(rank|exitcode)\s{0,12}:\s{0,4}(-?\d{1,6})")
_SUMMARY_LINES = 12
_MESSAGE_LINES = 40
"""lines after an exception that may belong to its message"""
_GIVEN_UP = 20_000
"""lines of other processes after which the rest of a traceback does not come any more"""


class _Reader:
    """Reads one log for errors, line by line."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._kept = {"error": Kept(_FIRST), "warning": Kept(_FIRST // 2), "collective": Kept(_RANKS)}
        self.noted = 0
        self._open: dict[str, Traceback] = {}
        self._last: dict[str, int] = {}
        """the line of the last exception of each process"""
        self._chained: dict[str, int] = {}
        self._ignored: set[str] = set()
        """processes whose next traceback changes nothing"""
        self._sample = 0
        self._summary = 0
        """lines that are left of a launcher's summary"""
        self._failed_first: int | None = None
        self._message: _Message | None = None
        self._fault: Fault | None = None
        """a crash whose stacks follow, as the fault handler prints them"""
        self.labelled = False
        """whether a launcher put the number of a rank before every line"""

    @property
    def busy(self) -> bool:
        """Whether the next lines matter whatever they say."""
        return bool(self._open or self._sample or self._summary or self._fault or self._message)

    def forget(self, first: int) -> None:
        """Give up tracebacks that a process began and never ended, long before the line `first`."""
        self._open = {process: seen for process, seen in self._open.items() if first - seen.last < _GIVEN_UP}

    def line(self, number: int, line: str) -> None:
        """Take in one line; of a record in JSON, the lines of the traceback in it, or its message."""
        told = structured(line)
        if len(told) == 1:
            self._single(number, told[0], told[0], "ERROR")
        else:
            for part in told or (line,):
                self._line(number, part)
        if told:
            self._message = None  # what follows is another record

    def _line(self, number: int, line: str) -> None:
        label = LABEL.match(line) if self.labelled else None
        begin = label.end() if label else 0
        prefix = PREFIX.match(line, begin)
        message = line[prefix.end() if prefix else begin :]
        if self._is_sample(message):
            return
        process = label[0].strip() if label else _process(prefix[0] if prefix else "")
        if self._fault is not None and self._fault.takes(message):
            return
        self._take_more(process, message, prefix is not None and prefix.end() > begin)
        if self._fault is not None:
            self._end_fault()
        if message.startswith(FATAL):
            self._fault = Fault(number, line, message)
        elif self._summary:
            self._summarised(number, line, message)
        elif _SUMMARY in message:
            self._summary = _SUMMARY_LINES
        elif "Traceback (most recent call last)" in message[:80] or opens_box(message):
            # Also `Original Traceback`, of a loader's worker.
            ignored = process in self._ignored
            self._ignored.discard(process)
            self._open[process] = Traceback(last=number, follows=self._chained.pop(process, 0), ignored=ignored)
        elif _IGNORED.match(message.lstrip()):
            self._ignored.add(process)
        elif _CHAIN.match(message.lstrip()):
            self._chained[process] = self._last.get(process, 0)
        elif process in self._open:
            self._continue(process, number, line, message)
        else:
            self._single(number, line, message, prefix[0] if prefix else "")

    def _take_more(self, process: str, message: str, prefixed: bool) -> None:
        """Take in a line that may belong to the message of the last exception; what begins like a record does not."""
        if self._message is None or process != self._message.process:
            return
        if prefixed or "Traceback (most recent" in message or _CHAIN.match(message.lstrip()) or not self._message.left:
            self._message = None
            return
        self._message.left -= 1
        self._kept["error"].extend(self._message.key, message.strip())

    def _end_fault(self) -> None:
        """Note the crash whose stacks have been read."""
        fault, self._fault = self._fault, None
        if fault is not None:
            self._note(fault.number, fault.line, fault.message, "error", Traceback(list(fault.frames)))

    def _is_sample(self, message: str) -> bool:
        """Whether the line belongs to text that the model generated, between a heading and the rule that ends it."""
        ruled = _RULE.match(message)
        if self._sample:
            self._sample = 0 if ruled else self._sample - 1
            return True
        if ruled and _GENERATED.search(message[:200]):
            self._sample = _SAMPLE_LINES
            return True
        return False

    def _summarised(self, number: int, line: str, message: str) -> None:
        """Take in a line of a launcher's summary: which rank failed first, and how it ended."""
        self._summary -= 1
        row = _SUMMARY_ROW.match(message)
        if row and row[1] == "rank":
            self._failed_first = int(row[2])
        elif row:
            self._note(number, line, message, "error", rank=self._failed_first)
            self._summary = 0

    def _continue(self, process: str, number: int, line: str, message: str) -> None:
        traceback = self._open[process]
        traceback.lines += 1
        traceback.last = number
        frame = _FRAME.match(message)
        if frame:
            traceback.enter(frame[1], int(frame[2]), frame[3] or "")
        elif ipython_frame(traceback, message) or boxed_frame(traceback, message):
            return
        elif not message[:1].isspace() and message.strip():
            del self._open[process]
            if traceback.frames and _ANY_EXCEPTION.match(message):
                self._last[process] = number
                self._note(number, line, message, "error", traceback)
                self._message = _Message(process, message.strip())
            else:
                self._single(number, line, message, "")
        elif traceback.lines > 2_000:
            del self._open[process]
        elif traceback.frames and not traceback.code and not _MARKS.fullmatch(message):
            traceback.code = message.strip()[:LONGEST]

    def _single(self, number: int, line: str, message: str, prefix: str) -> None:
        stated = _STATED.match(message) if message.lstrip().startswith('"') else None
        if stated is not None:
            message = f"{stated[1]}: {stated[2]}"
        if len(message) > LONGEST or message.lstrip()[:1] in {'"', "'", "`", ">"}:
            return
        level = LEVEL.search(f"{prefix} ") if prefix else LEVEL.match(f"{message[:40]} ")
        said = (level[1] or level["glog"]) if level else ""
        if _EXCEPTION.match(message):
            kind: Literal["error", "warning"] = "warning" if "Warning" in message.split(":", maxsplit=1)[0] else "error"
            self._note(number, line, message, kind)
        elif said in {"INFO", "DEBUG"}:
            return  # `INFO CUDA out of memory guard enabled`: who logs it as information does not report a failure
        elif error_by_itself().search(_QUOTED.sub("", message)) or said in {"ERROR", "CRITICAL", "FATAL", "E", "F"}:
            self._note(number, line, message, "error")
        elif said in {"WARNING", "WARN", "W"} or _WARNING.search(message):
            self._note(number, line, message, "warning")

    def _note(
        self,
        number: int,
        line: str,
        message: str,
        kind: Literal["error", "warning"],
        raised: Traceback | None = None,
        rank: int | None = None,
    ) -> None:
        # Warnings repeat with other numbers in them; two errors are the same only to the letter.
        self.noted += 1
        said = message.strip()
        key = (kind, said if kind == "error" else _DIGITS.sub("#", said))
        if said.strip("*-=# "):
            rank = prefix_of(line, self.labelled)[1] if rank is None else rank
            told = rank if rank >= 0 else None
            seen = LogError(self.source, number, line.strip()[:LONGEST], kind, rank=told)
            if raised is not None:
                seen = replace(seen, frames=tuple(raised.frames), follows=raised.follows, ignored=raised.ignored)
                seen = replace(seen, code=raised.code, calls=tuple(raised.calls))
            if COLLECTIVE.search(said):  # every rank says the same of itself
                self._kept["collective"].note(f"{told}: {said}", seen)
            else:
                self._kept[kind].note(key[1], seen)

    def found(self) -> list[LogError]:
        """What was kept, in the order of the lines."""
        self._end_fault()
        return sorted((seen for kept in self._kept.values() for seen in kept.all()), key=lambda seen: seen.line)

    def remarks(self) -> list[str]:
        """What was left out, in words."""
        return [
            f"of the {_KEPT[kind]} in `{self.source}`, {kept.left_out:,} between the first and the last were left out"
            for kind, kept in self._kept.items()
            if kept.left_out
        ]


@dataclass
class _Message:
    """The exception whose message may go on in the next lines."""

    process: str
    key: str
    left: int = _MESSAGE_LINES


def read_errors(
    handle: BinaryIO,
    source: str,
    remark: Callable[[str], None] | None = None,
    resumed: Callable[[int], None] | None = None,
    allowance: Allowance | None = None,
    compiled: bool = True,
) -> list[LogError]:
    """The errors and warnings of a log in the order of its lines; each once, with how often it came.

    `resumed` hears of every line in which the run says that it goes on from a checkpoint. `compiled` code is used for
    large files, where there is some.
    """
    reader = _Reader(source)
    # Without their digits, the lines of a log are few: each of them is searched for telling words once.
    clean: set[bytes] = set()
    resuming: set[bytes] = set()
    unusual = UnusualLines(compiled)
    blocks = RawBlocks(handle, allowance=allowance)
    for first, data in blocks:
        blocks.count = unusual.line_feeds
        reader.forget(first)
        reader.labelled = reader.labelled or (first == 1 and labels_ranks(data))
        bare = unusual.of(data)
        fresh = {line for _, line in bare} - clean
        telling = _telling(fresh)
        resuming |= speaks_of_resuming(fresh) if resumed is not None and len(resuming) < _FIRST else set()
        if resumed is not None and resuming:
            for place, line in bare:
                if line in resuming:
                    resumed(first + place)
        clean = (clean | (fresh - telling)) if len(clean) < _MOST_CLEAN else set()
        if telling or reader.busy:
            _read_lines(reader, first, data, bare, telling, clean)
        unusual.call_usual(line in clean and line not in resuming for _, line in bare)
    for text in [*reader.remarks(), *(f"`{source}`: {trouble}" for trouble in blocks.troubles)]:
        if remark is not None:
            remark(text)
    return reader.found()


def _read_lines(
    reader: _Reader,
    first: int,
    data: bytes,
    unusual: list[tuple[int, bytes]],
    telling: set[bytes],
    clean: set[bytes],
) -> None:
    """Read the telling lines of a block, and those that matter after them."""
    bare = dict(unusual)
    lines = data.split(b"\n")
    places = iter([place for place, line in unusual if line in telling])
    at = 0 if reader.busy else next(places, len(lines))
    while at < len(lines):
        line = lines[at]
        if line and (reader.busy or bare.get(at) in telling):
            quiet = not reader.busy
            noted = reader.noted
            for part in line.decode(errors="replace").split("\r"):
                if part:
                    reader.line(first + at, part)
            if quiet and not reader.busy and noted == reader.noted and not _NUMBERED.search(line):
                telling.discard(bare[at])  # `val_error: 0.25` says the same whatever its numbers are
                clean.add(bare[at])
        at = at + 1 if reader.busy else next((place for place in places if place > at), len(lines))


def _telling(lines: set[bytes]) -> set[bytes]:
    """Those of the lines that may speak of an error, or head a generated sample."""
    together = b"\n".join(lines)
    words = [word for word in _WORDS if word in together]
    return {
        line for line in lines if line.startswith(_GLOG) or any(word in line for word in words) or _HEADING.match(line)
    }


def _process(prefix: str) -> str:
    """The part of a prefix that tells processes apart: ranks and process ids, not times."""
    told = re.search(
        r"(?:rank|local_rank|gpu|worker|node)[ :=_]?\d+|pid=\d+|\[\d{1,5}\]:|\[\d{1,6},\d{1,5}\]<",
        prefix,
        re.IGNORECASE,
    )
    return told[0] if told else ""
