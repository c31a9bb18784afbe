"""What a model is handed before it asks: small files, what the tools found, and the norm beside the number.

The first turn of nearly every investigation was the same: reading the small files. They come with the first message,
numbered as `Read` numbers them, so that a place can be cited at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traindx.brains.interface import Case
from traindx.brains.llm.norms import NORMS, Norms
from traindx.brains.llm.tool_runner import Shown, result_text
from traindx.brains.local.plan import plan
from traindx.contract import ContextPackage
from traindx.redaction import Redactor
from traindx.runtime import ToolResult

ALL_FILES = 26_000
"""characters of files that the first message holds at most"""
OF_A_PROGRAM = 14_000
OF_A_CONFIG = 5_000
OF_A_LOG = 7_000
HEAD, TAIL = 25, 60
"""lines of a log's beginning and end"""
TABLE_HEAD, TABLE_TAIL = 4, 6
MOST_LINES = 2000


@dataclass(frozen=True)
class Briefing:
    """What comes with the first message."""

    files: Sequence[tuple[str, str]] = ()
    """title and text, with line numbers"""
    norms: Sequence[str] = ()
    results: Sequence[Shown] = ()
    """what the local investigator's tools returned; they are the first numbered results of the conversation"""
    idle: frozenset[str] = frozenset()
    """tools that found nothing to look at in this run; they are not worth an offer"""


def briefing(case: Case, redactor: Redactor) -> Briefing:
    """Gather it; calls the toolbelt, so not from the event loop."""
    result = case.toolbelt.run(NORMS)
    found = Norms.model_validate(result.output).rows if result.status == "ok" else []
    return Briefing(
        files=[(title, redactor.clean(text)) for title, text in _files(case)],
        norms=[redactor.clean(row) for row in found],
        results=list(_results(case, redactor)),
        idle=frozenset(name for name in _called(case) if case.toolbelt.call(name).status == "no_data"),
    )


def _called(case: Case) -> Sequence[str]:
    """The tools that the local investigator has called; the toolbelt has kept what they returned."""
    return plan(case.toolbelt.specs(), case.catalog, case.context).tools


def _results(case: Case, redactor: Redactor) -> Iterator[Shown]:
    """What the tools found that were called without arguments."""
    number = 0
    for name in _called(case):
        result = case.toolbelt.call(name)
        if result.status != "ok":
            continue
        number += 1
        # Its signals are among the leads.
        told = {key: value for key, value in result.output.items() if key != "signals"}
        cleaned = ToolResult.model_validate({**result.model_dump(), "output": redactor.clean_json(told)})
        yield Shown(number, name, "{}", result.status, result_text(cleaned), list(result.signals))


def _files(case: Case) -> Iterator[tuple[str, str]]:
    left = ALL_FILES
    for path, most, whole in _wanted(case.context):
        if left < 400:
            return
        for title, text in _parts(case, path, min(most, left), whole=whole):
            left -= len(text)
            yield title, text


def _wanted(context: ContextPackage) -> Iterator[tuple[str, int, bool]]:
    """The files worth their place, in order: what failed, what was set, what ran, what was measured."""
    kept = context.artifacts
    failed = [row.source for row in context.errors if row.kind == "error" and row.source in kept.training_logs]
    listed = {*kept.loss_curves}
    logs = [path for path in kept.training_logs if path not in listed]
    reached = [row for row in context.code if row.reached and "test" not in row.roles]
    programs = sorted(reached, key=lambda row: ("training-loop" not in row.roles, "entry-point" not in row.roles))
    yield from ((path, OF_A_LOG, False) for path in list(dict.fromkeys([*failed, *logs]))[:2])
    yield from ((path, OF_A_CONFIG, True) for path in kept.config[:3])
    yield from ((row.path, OF_A_PROGRAM, True) for row in programs[:2])
    yield from ((path, 2_000, False) for path in kept.loss_curves[:2] if path not in logs)


def _parts(case: Case, path: str, most: int, *, whole: bool) -> Iterator[tuple[str, str]]:
    """The file, or its head and its tail where it does not fit."""
    table = path in case.context.artifacts.loss_curves
    head, tail = (TABLE_HEAD, TABLE_TAIL) if table else (HEAD, TAIL)
    first = _read(case, path, MOST_LINES, tail=False)
    if first is None:
        return
    text, complete = first
    if complete and len(text) <= most and (whole or not table):
        yield path, text
        return
    if whole:
        kept = _within(text.splitlines(), most)
        yield f"{path} (its first {len(kept)} lines; `Read` shows the rest)", "\n".join(kept)
        return
    begun = _within(text.splitlines()[:head], most // 3)
    yield f"{path} (its first {len(begun)} lines)", "\n".join(begun)
    last = _read(case, path, tail, tail=True)
    if last is not None:
        seen = set(begun)
        rows = [row for row in last[0].splitlines() if row not in seen]
        kept = _within(rows[::-1], most - most // 3)[::-1]
        if kept:
            yield f"{path} (its last {len(kept)} lines)", "\n".join(kept)


def _read(case: Case, path: str, lines: int, *, tail: bool) -> tuple[str, bool] | None:
    given: dict[str, object] = {"path": path, "max_lines": lines, "tail": tail}
    result = case.toolbelt.call("Read", given)
    if result.status != "ok":
        return None
    return str(result.output.get("text", "")), not result.output.get("left_out")


def _within(rows: Sequence[str], most: int) -> list[str]:
    kept: list[str] = []
    for row in rows:
        most -= len(row) + 1
        if most < 0:
            break
        kept.append(row)
    return kept
