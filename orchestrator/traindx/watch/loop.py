"""The watch: look at the files every second, judge when something could matter, tell what is certain."""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from traindx.detectors.errors.ending import SHORTEST_SILENCE, SILENCE
from traindx.detectors.errors.watched import span_text
from traindx.errors import TraindxError, UsageError
from traindx.runtime.scope import Scope
from traindx.vocabulary.run_folder import SUMMARY
from traindx.watch.allowance import Allowance
from traindx.watch.certainty import FEWEST_SECONDS, Certainty, Moment
from traindx.watch.files import Files
from traindx.watch.finding import Finding, Tell
from traindx.watch.judge import Judge

EVERY = 1.0
SHARE = 0.04
"""of the time that asking the file system may take: a slow one is asked less often"""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 60.0
MOST_TROUBLES = 20
DOUBLED = 2.0
FEWEST_PAUSES = 10
"""times that something new came before it is known how long a run is usually silent"""
MORE_ASTRAY = 1.25
"""times the data since a loss went astray that a further judgement of it is worth"""


@dataclass(frozen=True)
class Ending:
    """When a watch ends by itself: with a process, or after so many seconds without anything new."""

    pid: int | None = None
    idle: float | None = None


def watch(
    path: str | Path,
    on_finding: Tell | None = None,
    *,
    until_idle: float | None = None,
    pid: int | None = None,
    stop: threading.Event | None = None,
) -> list[Finding]:
    """Follow a running job and call `on_finding` with each finding, until the job ends or `stop` is set.

    Args:
        path: the run's folder, or one file of it. It is only ever read.
        on_finding: called in this thread with a `Finding`.
        until_idle: end after so many minutes in which nothing was written.
        pid: end when this process does.
        stop: set it from another thread, or from `on_finding`, to end.

    Returns:
        All findings that were told.
    """
    idle = None if until_idle is None else 60.0 * until_idle
    return Watch(path, on_finding or (lambda _: None), Ending(pid, idle), stop).run()


class Watch:
    """One watch; `findings` is what was told so far."""

    def __init__(
        self, path: str | Path, tell: Tell, ending: Ending | None = None, stop: threading.Event | None = None
    ) -> None:
        scope = Scope.of(path)
        if ending is not None and ending.pid is not None and not is_alive(ending.pid):
            raise UsageError(f"there is no process {ending.pid} to watch")
        if not scope.only and scope.root == Path(scope.root.anchor):
            raise UsageError(f"`{scope.root}` is the whole machine; give the folder of a run")
        self.findings: list[Finding] = []
        self.judgements = 0
        self.troubles: list[str] = []
        """the latest judgements that failed, in words"""
        self._path, self._scope, self._tell = str(path), scope, tell
        self._ending, self._stop = ending or Ending(), stop or threading.Event()
        self._judge = Judge(scope, str(path))
        self._certainty = Certainty(str(path), self._judge.live)
        now = time.monotonic()
        self._allowance = Allowance(now)
        self._grew_at, self._pauses = now, deque[float](maxlen=200)
        self._judged_size, self._judged_at, self._looked_at = 0, now, now
        self._noticed_at: float | None = None
        """when an event was noticed that waits to be judged"""
        self._astray_since: tuple[int, int, int] | None = None
        """size when a loss went astray, when that was judged last, and how much was told before"""
        self._asked_silence = False

    def run(self) -> list[Finding]:
        """Watch until the job ends, or until told to stop."""
        with tempfile.TemporaryDirectory(prefix="traindx-watch-", ignore_cleanup_errors=True) as spool:
            files = Files(self._scope, Path(spool))
            while not self._stop.is_set():
                ended = self._has_ended()
                self._look(files)
                if ended:
                    files.end()
                    self._judge_now(files, ended=True)
                    break
                self._judge_if_due(files)
                self._stop.wait(min(max(self._pause(), files.waited / SHARE), LONGEST_PAUSE))
        return self.findings

    def _pause(self) -> float:
        """Seconds to the next look: an event is judged, and confirmed, as soon as it can be."""
        now = time.monotonic()
        waiting = [self._noticed_at] if self._noticed_at is not None else []
        waiting += [self._judged_at] if self._certainty.waiting else []
        # One that could not be afforded for longer than that waits like everything else.
        due = [at + FEWEST_SECONDS for at in waiting if at + 2 * FEWEST_SECONDS >= now]
        return max(SHORTEST_PAUSE, min([*due, self._looked_at + EVERY]) - now)

    def _look(self, files: Files) -> None:
        self._looked_at = time.monotonic()
        grown = files.look()
        now = time.monotonic()
        if grown:
            self._pauses.append(now - self._grew_at)
            self._grew_at, self._asked_silence = now, False

    def _judge_if_due(self, files: Files) -> None:
        now = time.monotonic()
        if files.urgent() and self._noticed_at is None:
            self._noticed_at = self._looked_at
        # What a run writes in the second after an event belongs to it: the rest of an error, or that all is well again.
        if self._noticed_at is not None and now - self._noticed_at < FEWEST_SECONDS:
            return
        if self._noticed_at is not None or self._certainty.waiting or self._is_worse(files):
            if self._allowance.affords(now, event=True):
                self._judge_now(files)
        elif self._is_silent(now):
            self._asked_silence = True
            self._judge_now(files, f"The run hangs: nothing was written for {span_text(now - self._grew_at)}.")
        elif self._has_more(files) and self._allowance.affords(now):
            self._judge_now(files)

    def _has_more(self, files: Files) -> bool:
        """Whether so much has come since the last judgement that another may see more."""
        more = files.size >= max(1, DOUBLED * self._judged_size)
        anew = 0 < files.size < self._judged_size / DOUBLED  # rotated, or emptied
        return more or anew or files.others_changed

    def _is_worse(self, files: Files) -> bool:
        """Whether a loss went astray, or has stayed so for long enough to look again."""
        if not files.astray:
            self._astray_since = None
            return False
        since, judged, told = self._astray_since or (files.size, 0, len(self.findings))
        worth = len(self.findings) == told and files.size - since >= MORE_ASTRAY * (judged - since)
        self._astray_since = (since, files.size if worth else judged, told)
        return worth

    def _is_silent(self, now: float) -> bool:
        """Whether nothing has come for far longer than ever before, in a run that had come along."""
        if self._asked_silence or len(self._pauses) < FEWEST_PAUSES:
            return False
        usual, longest = statistics.median(self._pauses), max(self._pauses)
        return now - self._grew_at >= max(SHORTEST_SILENCE, SILENCE * usual, 2 * longest)

    def _judge_now(self, files: Files, message: str = "", *, ended: bool = False) -> None:
        if not files.size and not files.others_changed and not ended:
            return
        files.others_changed = False
        self._judged_size = files.size
        stamp = time.strftime("%H:%M:%S")
        self._judged_at = time.monotonic()
        now = Moment(files.taken, files.points, self._judged_at, stamp, ended, self._noticed_at)
        self._noticed_at = None
        try:
            judgement = self._judge.judged(files.stand_ins(), message)
        except (TraindxError, OSError) as error:
            # The folder went away, or the disk on which long logs are condensed is full: the next look may fare better.
            self.troubles = [*self.troubles, str(error)][-MOST_TROUBLES:]
            self._allowance.spend(self._allowance.usual)
            return
        self.judgements += 1
        self._allowance.spend(judgement.cost)
        for finding in self._certainty.weigh(judgement.diagnosis, now, asked=bool(message)):
            self.findings.append(finding)
            self._tell(finding)

    def _has_ended(self) -> bool:
        """Whether the job is over: its process is gone, `traindx run` says so, or nothing has come for long enough."""
        if self._ending.pid is not None and not is_alive(self._ending.pid):
            return True
        idle = self._ending.idle
        if idle is not None and time.monotonic() - self._grew_at >= idle:
            return True
        try:
            told = json.loads((self._scope.root / SUMMARY).read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(told, dict) and "command" in told and told.get("end") is not None


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended; one that nobody has waited for yet has."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
