"""What a user has tried or seen and no artifact shows: it moves beliefs, and is never evidence."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from traindx.contract import Signal


@dataclass(frozen=True)
class UserReport:
    """A thing that people say, the signal it becomes, and how it is repeated to them."""

    signal: str
    what: str
    pattern: re.Pattern[str]


def _said(signal: str, what: str, pattern: str) -> UserReport:
    return UserReport(signal, what, re.compile(pattern, re.IGNORECASE))


_FULL = (
    r"(?:fp32|float32|f32|bf16|bfloat16|full precision|single precision|amp off"
    r"|without (?:amp|fp16|mixed precision|half))"
)
_FINE = (
    r"(?:works?|fine|ok(?:ay)?|good|trains?|converges?|goes (?:to|down)|learns?|stable|no nan"
    r"|l\u00e4uft|geht|funktioniert)"
)
HEARD = (
    _said(
        "said-fine-in-full-precision",
        "you say that it trains in full precision",
        rf"\b{_FULL}\b[^.!?\n]{{0,60}}\b{_FINE}\b(?!\s?\?)|\b{_FINE}\b[^.!?\n]{{0,30}}\b{_FULL}\b(?!\s?\?)",
    ),
    _said(
        "said-resumed",
        "you say that the run was resumed",
        r"\b(?:after|since|when|nach)\b[^.!?\n]{0,30}\b(?:resum\w+|restart\w*|preempt\w+|requeue\w*|continu\w+"
        r"|fortgesetzt\w*|neustart\w*)\b|\bresum(?:ed|ing)\b",
    ),
    _said(
        "said-slow",
        "you say that training is slow",
        r"\b(?:slow(?:er|ly|s)?|takes? (?:forever|ages|too long|so long|longer)|throughput|bottleneck"
        r"|(?:gpu|device)s? (?:is |are |sits? |mostly )?idle|(?:low|no|0 ?%|poor) (?:gpu )?util\w*"
        r"|gpu[- ]?util\w*|(?:hours|minutes) per (?:step|epoch)|langsam\w*|lento"
        r"|(?:takes?|took|taking|needs?) (?:just )?(?:as|that|this|very|much too) long"
        r"|takes? (?:half|all) (?:a|the) (?:day|night)"
        r"|(?:no|not (?:any|a bit|much)) (?:faster|quicker)"
        r"|(?:run|train|go|get|make)\w* (?:it |this )?(?:faster|quicker)"
        r"|(?:gpu|card|device)s? (?:is |are |stays? |sits? )?(?:mostly |nearly |almost )?(?:bored|cold|quiet|waiting)"
        r"|dauert (?:\w+ ){0,3}(?:ewig|lange?|zu lang\w*)|trop lent\w*)\b"
        # `the estimate was 20 hours, it is still running on day two`
        r"|\b(?:estimat\w+|eta|predicted|supposed to|should have)\b[^.!?\n]{0,60}\b(?:hours?|days?|minutes?)\b"
        r"[^.!?\n]{0,40}\b(?:now|still|already|day)\b",
    ),
    _said(
        "said-never-stops",
        "you say that the model does not stop generating",
        r"\b(?:(?:never|not|\w+n'?t) stops?\b"
        r"|keeps? (?:on )?(?:generating|going|talking|rambling)|endless\w*|until (?:the )?max\w*|no eos"
        r"|rambl\w+|goes on (?:and on|forever))\b",
    ),
    _said(
        "said-too-good",
        "you say that the results are too good, or do not hold on other data",
        r"\b(?:too good|suspicious\w*|implausibl\w*|unrealistic\w*|(?:in|on) (?:production|the field|the wild)"
        r"|on (?:new|real|fresh|other) (?:data|samples|images)"
        r"|in (?:der|die|the|a) (?:klinik|praxis|produktion|clinic|hospital|practice)|in practice"
        r"|kaggle|leader ?board|leak\w*|fresh data|deployed|deployment)\b",
    ),
    _said(
        "said-not-learning",
        "you say that the model does not learn",
        r"\b(?:(?:not|never|\w+n'?t) (?:learn|train|converg|improv)\w*|no better than (?:chance|guess\w*|random)"
        r"|stuck|learns? nothing|chance level|lernt nicht\w*)\b",
    ),
    _said(
        "said-poor-results",
        "you say that the results are not good enough",
        r"\b(?:bad(?:ly)?|poor(?:ly)?|terribl[ey]|awful(?:ly)?|horribl[ey]|weak|mediocre|disappointing\w*|unusable"
        r"|useless|gibberish|nonsense|garbage|nois[ey]|blurr\w*|blobs?|worse|hardly|barely|expected|supposed to"
        r"|(?:are|look\w*|comes?(?: out)?) wrong|still (?:\w+ ){0,2}(?:gaussian|random|bad|low|high)"
        r"|too (?:low|high|small|few|weak|simple|short)|(?:so|very|quite|rather) low|should be|compared (?:to|with)"
        r"|not (?:good|great|enough|usable|visible|right|there)|(?:only|just) (?:gets?|got|reach\w*|\D{0,8}\d[\d.]*)"
        r"|(?:bigger|larger|deeper|different|more) (?:model|network|net|backbone|data|latent)"
        r"|(?:colleague|others?|other team|paper|tutorial|baseline)\b[^.!?\n]{0,40}\b(?:gets?|got|reports?|ha[sd]|real)"
        r"|schlecht\w*|zu (?:niedrig|hoch|klein))\b",
    ),
    _said(
        "said-one-answer",
        "you say that the model gives the same answer to everything",
        r"\b(?:(?:always|only|just|never) (?:predict|say|output|answer|give|return)\w*"
        r"|same (?:class|label|output|prediction|answer|value)"
        r"|one class|never predict\w*)\b",
    ),
    _said(
        "said-variance-warning",
        "you report a warning about a variance or a standard deviation",
        r"degrees of freedom|\b(?:var|std)\(\)",
    ),
)
KINDS_HEARD = {"hang": ("said-hangs", "you say that the run hangs")}
"""kinds of trouble that are signals as soon as they are reported"""
VOCABULARY = {one.signal: one.what for one in HEARD} | dict(KINDS_HEARD.values())


def user_reports(message: str, kinds: Collection[str] = ()) -> list[Signal]:
    """The signals in what the user says; nobody can open them, so they carry no citation."""
    said = [Signal(id=one.signal, claim=one.what) for one in HEARD if one.pattern.search(message[:4000])]
    return said + [Signal(id=name, claim=what) for kind, (name, what) in KINDS_HEARD.items() if kind in kinds]
