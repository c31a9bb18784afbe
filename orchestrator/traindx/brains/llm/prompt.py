"""What the model is told: the specialist, the rules, the case."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from traindx.brains.interface import Case
from traindx.brains.llm.reply import Block
from traindx.contract import ContextPackage, Evidence, RootCause, SeriesSummary, Signal
from traindx.definitions.content import PROMPTS
from traindx.diagnosis.findings import Findings
from traindx.diagnosis.neighbours import neighbours
from traindx.redaction import Redactor

if TYPE_CHECKING:
    from jinja2 import Environment

    from traindx.brains.llm.briefing import Briefing
    from traindx.brains.llm.tool_runner import Shown

FOLDER = PROMPTS / "investigation"
SHOW = "show_result"
ALL_RESULTS = 9_000
"""characters of tool results that the first message holds"""
OF_A_RESULT = 1_400
NOTHING = "(an empty result)"
CACHED = {"type": "ephemeral"}


def system_prompt(case: Case) -> str:
    """The specialist's own prompt and the rules of the house; the same for every turn, and for every run."""
    modes = [(mode.id, mode.title) for mode in case.catalog.values()]
    return rendered("system", specialist=case.specialist, modes=modes, project=case.context.project)


def opening(case: Case, local: Findings, briefing: Briefing) -> str:
    """The first message: what the user says, what the run left, what the local investigator and its tools found."""
    return rendered(
        "case",
        message=case.request.message,
        kind=case.request.kind,
        symptoms=[row.replace("<", "&lt;") for row in case.request.symptoms],
        package=framed(package_text(case.context), "context package"),
        leads=framed(leads_text(local), "leads"),
        verdict=local.status,
        sure=[cause for cause in local.causes if cause.likely],
        odds=odds(local),
        norms=framed("\n".join(briefing.norms), "norms") if briefing.norms else "",
        files=[framed(text, title) for title, text in briefing.files],
        results=results_text(briefing.results),
    )


# Of verdicts on runs that nobody had looked at before (benchmarks/blind), by the confidence that was claimed.
ODDS = ((0.9, "about 17 in 20"), (0.7, "about 3 in 4"), (0.5, "about half"))
HEALTHY_ODDS = "about 17 in 20"


def odds(local: Findings) -> str:
    """How often a verdict such as the local one is right."""
    first = next((cause.confidence for cause in local.causes if cause.likely), None)
    if first is not None:
        share = next(said for bar, said in ODDS if first >= bar)
        return f"Of its first causes at such a confidence {share} are right."
    if local.status == "healthy":
        return f"Of the runs it calls healthy {HEALTHY_ODDS} are."
    return "It could not tell; then the answer most often stands in the program or in text that no tool reads."


def results_text(results: Sequence[Shown]) -> str:
    """What the tools that take no input returned, the short ones whole; the others are numbered, to be shown."""
    parts: list[str] = []
    room = ALL_RESULTS
    for shown in results:
        if shown.text == NOTHING:
            continue
        most = min(OF_A_RESULT, room)
        if len(shown.text) > most:
            shown.shortened = True
            parts.append(f"result {shown.number}: {shown.tool}: {len(shown.text)} characters; `{SHOW}` shows it")
        else:
            room -= len(shown.text)
            parts.append(f"result {shown.number}: {shown.tool}\n{framed(shown.text, shown.tool)}")
    return "\n".join(parts)


def sceptic_prompt(case: Case) -> str:
    """The system prompt of the one who doubts."""
    return rendered("sceptic", specialist=case.specialist.name)


def challenge(case: Case, cause: RootCause, redactor: Redactor) -> str:
    """What the sceptic is to refute, with everything it needs to judge by; calls the toolbelt."""
    mode = case.catalog.get(cause.id)
    beside = [(name, case.catalog[name].title) for name in neighbours(cause.id, case.catalog)]
    pieces = [
        f"{number}. [{piece.kind}, {'opened: it stands there' if piece.verified else 'not found there'}]"
        f" {piece.source}, {piece.locator}: {piece.claim}\n{redactor.clean(_around(case, piece))}"
        for number, piece in enumerate(cause.evidence, 1)
    ]
    return rendered(
        "claim",
        message=case.request.message,
        cause=cause,
        title=mode.title if mode is not None else cause.title,
        beside=beside,
        claim=framed(cause.issue, "the colleague's sentence"),
        evidence=framed("\n".join(pieces) or "(none)", "the colleague's evidence"),
        package=framed(package_text(case.context), "context package"),
    )


AROUND = 3
"""lines before and after a cited one that a sceptic is shown"""


def _around(case: Case, piece: Evidence) -> str:
    """The cited line with its neighbours, or the quote where no line is cited."""
    line = re.search(r"\blines? (\d{1,9})\b", piece.locator)
    if line:
        first = max(1, int(line[1]) - AROUND)
        read = case.toolbelt.call("Read", {"path": piece.source, "start_line": first, "max_lines": 2 * AROUND + 1})
        if read.status == "ok":
            return str(read.output.get("text", ""))
    return f"   {piece.quote}"


def rendered(name: str, **values: Any) -> str:
    """A template of `prompts/investigation/`."""
    return _templates().get_template(f"{name}.md.j2").render(**values).strip()


def system_blocks(text: str) -> list[Block]:
    """The system prompt as one block that stays in the cache."""
    return [{"type": "text", "text": text, "cache_control": CACHED}]


def with_breakpoints(messages: list[Block]) -> list[Block]:
    """The messages with a cache mark at the end of the first and of the latest one; at most four are allowed."""
    marked = list(messages)
    for index in {0, len(messages) - 1}:
        message = messages[index]
        if message["role"] == "user" and message["content"]:
            *before, last = message["content"]
            marked[index] = {**message, "content": [*before, {**last, "cache_control": CACHED}]}
    return marked


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # the output is a prompt; artifacts' text is escaped by `framing`
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )


MOST_SERIES, MOST_SETTINGS, MOST_ERRORS, MOST_PATHS, MOST_LEADS, MOST_PLACES = 60, 150, 25, 60, 40, 4


def package_text(context: ContextPackage) -> str:
    """Files by role, series, settings, errors, checkpoints, data, and what is missing: one row each."""
    roles = [(role, paths) for role, paths in context.artifacts.model_dump().items() if role != "error_messages"]
    parts = [
        f"run: {context.run}",
        _rows("files", [f"{role}: {', '.join(_some(paths, MOST_PATHS))}" for role, paths in roles if paths], 10),
        _rows("series", [_series(row) for row in context.series if not row.duplicate_of], MOST_SERIES),
        _rows("settings", _settings(context), MOST_SETTINGS),
        _rows("errors and warnings", [f"{r.source}:{r.line} [{r.kind}] {r.text}" for r in context.errors], MOST_ERRORS),
        _rows(
            "checkpoints",
            [
                f"{r.path}: {r.format}, {r.tensors} tensors, {r.parameters} parameters {dict(r.scalars) or ''}"
                f"{' UNSAFE ' + ', '.join(r.unsafe) if r.unsafe else ''}"
                for r in context.checkpoints
            ],
            20,
        ),
        _rows("data", [f"{row.path}: {row.what}" for row in context.data], 20),
        _rows("code", [f"{r.path}: {', '.join(r.roles)}{'' if r.reached else ' (unused)'}" for r in context.code], 60),
        _rows("commit", [f"{r.commit} {r.branch} dirty={r.dirty}" for r in context.git], 3),
        _rows("code shows", [", ".join(context.traits)] if context.traits else [], 1),
        _rows("missing", context.missing, 30),
    ]
    return "\n".join(part for part in parts if part)


def leads_text(findings: Findings) -> str:
    """The signals with their places, then the causes the local investigator holds, with its confidence."""
    causes = [f"{cause.id} at {cause.confidence:.2f}: {cause.issue}" for cause in findings.causes]
    return "\n".join(
        part
        for part in (
            _rows("signals", [_lead(signal) for signal in findings.signals], MOST_LEADS),
            _rows("causes it holds", causes, 5),
            _rows("causes it set aside", [str(row) for row in findings.excluded], 10),
        )
        if part
    )


def _lead(signal: Signal) -> str:
    places = [
        f"    {place.source}, {place.locator}: {json.dumps(place.quote, ensure_ascii=False)}"
        for place in signal.citations[:MOST_PLACES]
    ]
    return "\n".join([f"{signal.id} ({signal.tool}): {signal.claim}", *places])


def _settings(context: ContextPackage) -> list[str]:
    """Every setting once; a log that repeats what the configuration says is not worth its tokens."""
    seen: dict[tuple[str, str], str] = {}
    for row in context.settings:
        seen.setdefault((row.key, repr(row.value)), f"{row.key} = {row.value!r} ({row.source}:{row.line})")
    return list(seen.values())


def _series(row: SeriesSummary) -> str:
    said = f"{row.name} ({row.source}): {row.points} points, {row.axis} {row.start:g} to {row.end:g}"
    ends = f"first {row.first:.4g}, last {row.last:.4g}, lowest {row.lowest:.4g}, highest {row.highest:.4g}"
    bad = f", {row.non_finite} not finite" if row.non_finite else ""
    again = f", restarts {row.restarts} times" if row.restarts else ""
    return f"{said}, {ends}{bad}{again}"


def _rows(heading: str, rows: Sequence[str], most: int) -> str:
    if not rows:
        return ""
    shown = [f"  {row}" for row in rows[:most]]
    if len(rows) > most:
        shown.append(f"  and {len(rows) - most} more: the tools see them")
    return "\n".join([f"{heading}:", *shown])


def _some(paths: Sequence[str], most: int) -> list[str]:
    return [*paths[:most], f"and {len(paths) - most} more"] if len(paths) > most else list(paths)


# What could end the frame early, or pass for the markup that models are trained on.
_MARKUP = re.compile(
    r"<(?=\s{0,3}/?\s{0,3}(?:data|system|assistant|user|human|instructions?|function_calls|function_results|tool_use|"
    r"tool_result|invoke|antml|thinking|\|))",
    re.IGNORECASE,
)
# Control characters, zero-width and bidirectional marks, and the tag characters that show nothing anywhere.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def framed(text: str, source: str) -> str:
    """The text between two marks that it cannot contain; the mark is the text's own, so that caching stays possible."""
    shown = escaped(text)
    mark = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f'<data from="{escaped(source).replace(chr(34), chr(39))}" mark="{mark}">\n{shown}\n</data mark="{mark}">'


def escaped(text: str) -> str:
    """The text with markup disarmed and invisible characters spelled out."""
    return _MARKUP.sub("&lt;", _UNSEEN.sub(_spelled, text))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
