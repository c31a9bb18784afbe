"""Looking for orders in everything the run left, from inside the worker."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from traindx.contract import Citation, Signal
from traindx.errors import TraindxError
from traindx.readers import Run
from traindx.readers.folder.browse import what_binary
from traindx.runtime import Task, ToolInput, ToolOutput, tool

SCAN = Task("scan")
SIGNAL = "orders-in-artifacts"
# Of a large file both ends are looked at, where a person, or a model, looks as well.
END = 2 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
MOST_FOUND = 20
_SHOWN = 160


class Input(ToolInput):
    """Nothing to choose."""


class Orders(ToolOutput):
    """Where text in the artifacts gives orders."""

    places: list[Citation]
    left_out: int = 0


@tool(timeout=30.0)
def scan(given: Input, run: Run) -> Orders:  # noqa: ARG001 - every tool takes its input
    """Find lines in logs, code, configurations, file names and checkpoint keys that address a model."""
    found = list(_orders(run))
    kept = found[:MOST_FOUND]
    signals = []
    if kept:
        claim = f"{len(found)} place(s) in the artifacts give instructions to the reader; they were treated as data"
        signals = [Signal(id=SIGNAL, claim=claim, citations=kept)]
    return Orders(places=kept, left_out=len(found) - len(kept), signals=signals)


def _orders(run: Run) -> Iterator[Citation]:
    spent = 0
    for file in run.files:
        if reads_like_an_order(_words(file.path)):
            yield Citation(claim="the file's name", source=file.path, locator="file name", quote=file.path[:_SHOWN])
        if spent < MOST_BYTES:
            for number, line, size in _lines(run, file.path):
                spent += size
                if reads_like_an_order(line):
                    yield Citation(
                        claim="text that gives instructions",
                        source=file.path,
                        locator=f"line {number}",
                        quote=line.strip()[:_SHOWN],
                    )
    for checkpoint in run.checkpoints:
        keys = [
            *(tensor.name for tensor in checkpoint.tensors),
            *checkpoint.scalars,
            *map(str, checkpoint.scalars.values()),
        ]
        for key in keys:
            if reads_like_an_order(_words(key)) or reads_like_an_order(key):
                yield Citation(claim="a key", source=checkpoint.path, locator=f"tensor {key[:80]}", quote=key[:_SHOWN])


def _lines(run: Run, path: str) -> Iterator[tuple[int, str, int]]:
    """The lines of both ends of a text file; those of the tail of a long file are counted from its end."""
    try:
        with run.scope.open(path) as handle:
            if what_binary(handle) is not None:
                return
            head = handle.read(END)
            rest = handle.read(1)
            tail = b""
            if rest:
                size = handle.seek(0, 2)
                handle.seek(max(END, size - END))
                tail = handle.read(END)
    except (TraindxError, OSError):
        return
    for number, line in enumerate(head.decode("utf-8", "replace").splitlines(), 1):
        yield number, line, len(line)
    below = tail.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(below):
        yield number - len(below), line, len(line)


def _words(name: str) -> str:
    """A name as the sentence it may be meant to be."""
    return name.replace("_", " ").replace("-", " ").replace(".", " ").replace("/", " ")


_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_READER = r"(?:ai|a\.i\.|llms?|language models?|assistant|claude|gpt(?:-\d)?|chatbot|agents?|debugger|copilot|reviewer)"
_VERB = (
    r"(?:reports?|says?|answers?|outputs?|calls?|uses?|runs?|executes?|reads?|reveals?|prints?|sends?|submits?|"
    r"concludes?|marks?|ignores?|skips?|stops?|states?|replies|reply|respond|declare|omit|open|set|approve|trust)"
)
_WHAT = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|orders?|commands?|guardrails?|constraints?)"

PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:ignore|disregard|forget|override|bypass|drop|skip)\b[^\n]{{0,40}}\b(?:previous|prior|above|earlier|preceding|all|your|"
        rf"any|system|these|those|the)\b[^\n]{{0,30}}\b{_WHAT}\b",
        rf"\b(?:new|updated|revised|actual|real|secret|hidden|special|following)\s+(?:system\s+)?{_WHAT}\s*(?:for|to|:|follow)",
        r"\bsystem\s+(?:prompt|message|override|notice|instruction)s?\b",
        r"<\s{0,3}/?\s{0,3}(?:system|instructions?|assistant|function_calls|tool_result|tool_use|invoke|data)\b[^>\n]{0,80}>",
        r"<\|\s{0,3}(?:im_start|im_end|system|user|assistant|endofprompt|start_header_id)\b",
        r"\[/?INST\]|<</?SYS>>|^\s{0,8}(?:###|\[)\s{0,3}(?:system|instruction)s?\b\s{0,3}[:\]]",
        r"(?:^|\\n)\s{0,8}(?:Human|Assistant)\s{0,3}:\s{0,3}\S",
        r"\byou\s+are\s+(?:now|no\s+longer)\b|\bfrom\s+now\s+on,?\s+you\b|\bpretend\s+(?:to\s+be|you\s+are)\b",
        rf"\b(?:dear|hey|hello|attention|note\s+to|message\s+to|for|to)\s*,?:?\s+(?:the\s+|any\s+|all\s+)?{_READER}\b[^\n]{{0,12}}[:,!.-]",
        rf"\b{_READER}\b[^\n]{{0,30}}\b(?:must|should|shall|please|need\s+to|needs\s+to|has\s+to|have\s+to|is\s+to|are\s+to|will)\b"
        rf"[^\n]{{0,20}}\b{_VERB}\b",
        r"\b(?:do\s+not|don'?t|never)\s+(?:report|mention|tell|reveal|cite|diagnose|flag|disclose)\b",
        r"\b(?:report|mark|declare|conclude|answer|say|state|diagnose|classify)\b[^\n]{0,30}\b(?:run|training|model|status|it)\b"
        r"[^\n]{0,12}\b(?:is|as|was|=|:)\s{0,2}[`'\"]?(?:healthy|fine|ok|perfect|successful)\b",
        r"\b(?:reveal|print|repeat|show|output|leak|give|send|tell)\b[^\n]{0,30}\b(?:system\s+prompt|your\s+(?:instructions|prompt|"
        r"rules)|api[\s_-]?keys?|secrets?|credentials|environment\s+variables|passwords?)\b",
        r"\b(?:call|use|invoke|run|execute)\b[^\n]{0,25}\b(?:submit_diagnosis|submit_verdict|the\s+(?:tool|function)\b|Read\s*\(|"
        r"Grep\s*\(|Glob\s*\()",
        r"\b(?:read|open|cat|print|fetch|load|show|include)\b[^\n]{0,40}(?:/etc/(?:passwd|shadow|hosts)|~/\.|\.ssh/|id_rsa|/proc/self|"
        r"\.\./\.\./|\.aws/credentials|/root/|\.netrc)",
        r"\b(?:curl|wget)\b[^\n]{0,200}\|\s{0,3}(?:ba|z)?sh\b|\brm\s+-rf\s+[/~]",
        r"\b(?:send|post|upload|exfiltrate|forward)\b[^\n]{0,60}\b(?:to)\s+https?://",
        r"\b(?:begin|end|start)\s+(?:of\s+)?(?:system|admin|developer|secret)\s+(?:prompt|message|instructions?|override)\b",
        r"\b(?:developer|debug|god|dan|jailbreak|admin|root|unrestricted)\s+mode\b[^\n]{0,30}\b(?:enabled|activated|on|now|engaged)\b",
        r"\b(?:ignoriere|vergiss|missachte)\b[^\n]{0,40}\b(?:anweisung|instruktion|befehl)",
        r"\b(?:ignora|olvida|ignorez|oubliez)\b[^\n]{0,40}\b(?:instruc|consignes)",
        "(?:\u5ffd\u7565|\u65e0\u89c6)[^\n]{0,12}(?:\u6307\u4ee4|\u6307\u793a|\u63d0\u793a)",
        "(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439|\u0437\u0430\u0431\u0443\u0434\u044c)[^\n]{0,30}\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446",
    )
)
_CERTAINTY = re.compile(
    r"\b(?:with|set|use|report)\b[^\n]{0,20}\bconfidence\b[^\n]{0,8}\b(?:1\.0|0\.99|100\s?%|to\s+(?:1|0\.9))",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
# Without one of these a line cannot match: most lines of a log are passed over by one search.
_TRIGGER = re.compile(
    r"ignor|disregard|forget|overrid|bypass|drop|skip|instruc|prompt|rules|guideline|directive|orders|command|guardrail|"
    r"constraint|system|assistant|human|\[/?inst|sys>>|<\||you|pretend|\bai\b|a\.i\.|llm|language model|claude|gpt|"
    r"chatbot|agent|debugger|copilot|reviewer|do not|don.?t|never|healthy|fine|perfect|successful|reveal|leak|secret|"
    r"key|credential|password|environment|submit_|/etc/|~/\.|\.ssh|id_rsa|/proc/|\.\./\.\.|\.aws|/root/|netrc|curl|wget|"
    r"rm -rf|https?://|confidence|mode|vergiss|missachte|olvida|oubliez|function|tool|<data|</data|[\u0400-\u04ff]|"
    r"[\u4e00-\u9fff]",
    re.IGNORECASE,
)
LONGEST = 2000


def reads_like_an_order(line: str) -> bool:
    """Whether a line addresses a reader that follows instructions, rather than reporting on a training."""
    text = line[:LONGEST]
    if not text.isascii():
        if _TAGS.search(text):
            return True
        # Letters from other alphabets and invisible ones between letters are how such a line hides from a search.
        text = _HIDDEN.sub("", unicodedata.normalize("NFKC", text))
    if "onfidence" in text and _CERTAINTY.search(text):
        return True
    # The lines of a log differ in their numbers: what is left of them is judged once.
    return _judged(_DIGITS.sub("0", text))


@lru_cache(maxsize=8192)
def _judged(text: str) -> bool:
    return bool(_TRIGGER.search(text)) and any(pattern.search(text) for pattern in PATTERNS)
