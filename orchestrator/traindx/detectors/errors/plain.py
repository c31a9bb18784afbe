"""Errors in text that lost its form: pasted without its traceback, indented, with lines of several processes in one.

The words of a family count where nothing follows that shows the run going on, and the sentence is no advice, condition
or quotation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from traindx.contract import Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_line
from traindx.detectors.curves.completion import NOT_OVER, OVER
from traindx.detectors.errors.root import Logged, Reading, first_cause, read
from traindx.detectors.errors.telling import told
from traindx.readers.logs.ranks import prefix_of
from traindx.readers.model import Excerpt, LogError
from traindx.vocabulary.prefixes import LEVEL, PREFIX

SIGNALS = {"loss-stated-non-finite": "the text of the log gives the loss as NaN or Inf"}
STRENGTH = 0.42
"""what such a line says of its family, against an error that was read in its form"""
SHORT = 300
"""lines of a log that is asked as a whole; of a longer one only the last lines are"""
LAST = 40
LONGEST = 8_000
"""characters of a line that are searched"""
SHOWN = 400
SENTENCE = 4
"""words of a message that stand together in nothing but the message"""
_FAILS = re.compile(
    r"\b(?:\w{0,60}Error|\w{0,60}Exception|error|fatal|fail(?:ed|ure|s)?|cannot|could not|can't|unable|denied|refused"
    r"|abort(?:ed|ing)?|killed|crash(?:ed)?|invalid|not found|exiting|timed out|expired)(?![\w-])",
    re.IGNORECASE,
)
_RUN_FAILED = re.compile(
    r"\b(?:train(?:ing)?|run|job|experiment|trial|fold|epoch|step|worker|process|script|main|program|fit|stage)\b.{0,30}"
    r"\b(?:fail(?:ed|ure)|aborted|crashed|died|terminated|stopped with|raised)\b|\b\w{1,60}(?:Error|Exception)\b: ",
    re.IGNORECASE,
)
"""what a program says that caught its own end"""
ENDS = 25
"""lines before the end of a log within which such a sentence is its end"""
_NO_FAULT = re.compile(
    r"\b(?:0|no|without) (?:errors?|failures?|warnings?)\b|\berror[_ -]rate\b|\bretry|\bretries\b|\bwill try\b"
    r"|\bfall(?:ing|s)? ?back\b|\bignor(?:ed|ing|e)\b|\bskipp(?:ed|ing)\b|\brecovered\b|\bhandled\b",
    re.IGNORECASE,
)
_WARNS = re.compile(r"\w{1,60}Warning:")
_HYPOTHETICAL = re.compile(
    r"\b(?:if|when(?:ever)?|unless|in case|to avoid|avoid(?:s|ing)?|prevents?|may|might|can|could|would|should|how to"
    r"|example|e\.g\.|such as|fix(?:es|ed)?|solved?|errors? like|like|instead of|otherwise|see also|what|why"
    r"|means?|called|known as|about)\b",
    re.IGNORECASE,
)
"""what stands before the words of an error that nobody met"""
_QUOTED = re.compile(r"\"[^\"]{0,400}\"|`[^`]{0,400}`|(?<!\w)'[^']{0,400}'(?!\w)|“[^”]{0,400}”")
_NOT_SAID = re.compile(
    r"\s*(?:[\"'`>#*•]|- \S|//|--\w|usage:|\[?(?:Q|A|User|Assistant|Human|System|Prompt|Input|Output|Question|Answer"
    r"|Response|Instruction|Text|Sample|Source|Target|Label|Hyp|Ref)\b\]?\s{0,2}[:=>])|\s*\{|.{0,80}\btext['\"]?\s?[:=]",
    re.IGNORECASE,
)
"""how lines begin that hold data, dialogue, advice or help"""
_GENERATED = re.compile(
    r"^\W{0,12}(?:---|===|\*\*\*|###|>>>|<<<).{0,200}(?:sampl|generat|completion|prompt|prediction)", re.IGNORECASE
)
_LOSS = re.compile(
    r"(?:^|[\s,|;(])(?P<name>(?:\w{1,30}[ _/.-]){0,3}loss)\s{0,12}(?::|=|\bis\b|\s)\s{0,12}"
    r"(?P<value>[-+]?(?:nan|inf(?:inity)?|\d[\d.e+-]{0,20}))(?![\w.])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?\d")
_INFORMS = re.compile(r"(?:\S{1,30} ){0,2}I(?:\d{4})? (?:\S{1,30} ){0,3}\S{1,120}:\d{1,6}\] ")
"""lines of Google's loggers that report no failure"""
_OPEN_WARNING = re.compile(r"\w{1,60}Warning:\s{0,4}$")


def detect(
    logs: Sequence[Excerpt],
    patterns: Sequence[ErrorPattern],
    logged: Logged,
    printed: Collection[LogError] = (),
) -> list[Signal]:
    """The family of the first such line, where no root was read in its form (`printed` is what was read)."""
    told_of = _read_in_form(printed)
    seen = [one for log in logs for one in rows(log, patterns, told_of)]
    cause = first_cause([*read(_errors(seen, logged), patterns, logged)])
    if cause is None or cause.family is None:
        return []
    signal = told(cause.family.name, cause.family.means, cause.row, (), {**cause.facts})
    found = [signal.model_copy(update={"strength": min(STRENGTH, cause.family.strength)})]
    last = max(log.last for log in logs if log.source == cause.row.source)
    if _RUN_FAILED.search(cause.row.text) and cause.row.line > last - ENDS:
        found.append(told("run-ended-by-error", "the run ended with an error", cause.row, ()))
    return found


def warnings(
    logs: Sequence[Excerpt], patterns: Sequence[ErrorPattern], logged: Logged, printed: Collection[LogError] = ()
) -> list[LogError]:
    """Warnings whose text begins in the line after their heading, and those at the end that have no heading."""
    known = {(row.source, row.line) for row in printed}
    families = [one for one in patterns if one.role == "warning"]
    found = []
    for log in logs:
        for number, text in _asked(log):
            if (log.source, number) not in known and _names(text, families) is not None:
                found.append(LogError(log.source, number, text.strip()[:SHOWN], "warning"))
    found = _errors(found, logged)
    for log in logs:
        for number, text in log.numbered():
            before = log.lines[number - log.first - 1] if number > log.first else ""
            if _OPEN_WARNING.search(before[-200:]) and text.strip():
                found.append(LogError(log.source, number, text.strip()[:LONGEST], "warning"))
    return found


def stated(logs: Iterable[Excerpt], logged: Logged) -> list[Signal]:
    """A loss that the text calls NaN or Inf, where none was read as a curve: a summary, a sentence."""
    for log in logs:
        told = [(n, text, found) for n, text in _asked(log) for found in [_last(_LOSS, text)] if found is not None]
        if not told:
            continue
        number, text, found = told[-1]
        lost = not _NUMBER.match(found["value"]) and not _NO_FAULT.search(text)
        if lost and not _HYPOTHETICAL.search(text, 0, found.start()) and not logged.goes_on(log.source, number):
            claim = f"the log gives `{found['name']}` as {found['value']}"
            place = cite_line(log.source, number, claim, text.strip()[:SHOWN])
            return [Signal(id="loss-stated-non-finite", claim=claim, citations=[place])]
    return []


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place of a line where a pattern is found."""
    return next(reversed(list(pattern.finditer(text[:SHOWN]))), None)


def names_a_root(readings: Sequence[Reading]) -> bool:
    """Whether what was read in its form says what ended the run."""
    return any(not one.survived and (one.role == "root" or one.bare) for one in readings)


def _read_in_form(printed: Iterable[LogError]) -> set[tuple[str, int]]:
    """The lines of errors that were read: their tracebacks, as far as their frames go, and their messages."""
    return {
        (row.source, line)
        for row in printed
        for line in range(
            row.line - (2 * len(row.frames) + 1 if row.frames else 0), row.line + len(row.more.splitlines()) + 1
        )
    }


def rows(log: Excerpt, patterns: Sequence[ErrorPattern], known: Collection[tuple[str, int]]) -> list[LogError]:
    """The lines that hold the words of a family, and pairs of lines that hold them together."""
    families = [one for one in patterns if one.role in {"root", "cascade"}]
    others = [one for one in patterns if one.role in {"advice", "teardown", "survived", "warning"}]
    found = []
    for number, text in _asked(log):
        before = log.lines[number - log.first - 1] if number > log.first else ""
        if (log.source, number) in known or _OPEN_WARNING.search(before[-200:]):
            continue
        rest = log.lines[number - log.first + 1 : number - log.first + 2]
        for line in (text, f"{text.rstrip()} {rest[0].strip()}" if rest and not _NOT_SAID.match(rest[0]) else ""):
            border = len(text.rstrip()) if line is not text else None
            place = _names(line, families, border) if line else None
            if place is not None and not any(one.found_in(line) is not None for one in others):
                words = line[max(0, place - SHOWN // 2) : place + SHOWN].strip()
                rank = prefix_of(text, labelled=False)[1]
                told_of = words if words in text else text.strip()[:SHOWN]
                process = rank if rank >= 0 else None
                found.append(LogError(log.source, number, told_of, "error", rank=process, more=words))
                break
    return found


def _asked(log: Excerpt) -> Iterator[tuple[int, str]]:
    """The lines that may hold an error: of a short log all, of a long one the last; no samples, data, information."""
    sample = 0
    begins = log.first if log.first == 1 and len(log.lines) <= SHORT else log.last - LAST
    over = max(
        (n for n, text in log.numbered() if OVER.search(text[:400]) and not NOT_OVER.search(text[:400])), default=0
    )
    for number, text in log.numbered():
        sample = 60 if _GENERATED.match(text[:300]) else sample - 1
        if sample > 0 or number <= max(begins - 1, over) or _NOT_SAID.match(text[:200]):
            continue
        prefix = PREFIX.match(text)
        level = LEVEL.search(f"{prefix[0]} ") if prefix else None
        if (level is None or level[1] not in {"INFO", "DEBUG"}) and not _INFORMS.match(text):
            yield number, text[:LONGEST]


def _names(text: str, families: Sequence[ErrorPattern], border: int | None = None) -> int | None:
    """Where the line holds the words of a family as what happened, across a border if there is one; None if nowhere."""
    if _NO_FAULT.search(text) or _WARNS.search(text):
        return None
    said = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    fails = _FAILS.search(said) is not None
    for family in families:
        if family.found_in(text) is None:
            continue
        for found in family.places_in(said):
            if border is not None and not found.start() < border < found.end():
                continue
            begin = max(said.rfind(". ", 0, found.start()), said.rfind("; ", 0, found.start()), 0)
            sentence = len(re.findall(r"[A-Za-z]{2,}", found[0])) >= SENTENCE
            if (fails or sentence) and not _HYPOTHETICAL.search(said, begin, found.start()):
                return found.start()
    return None


def _errors(seen: Iterable[LogError], logged: Logged) -> list[LogError]:
    """Those after which no value was logged."""
    return [row for row in seen if not logged.goes_on(row.source, row.line)]
