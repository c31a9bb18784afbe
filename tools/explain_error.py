"""The error that ended a run: root before cascade, what it means, and the user's own line behind it."""

from pydantic import Field

from traindx.contract import ErrorSummary, Signal, Value
from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import behind, families, named_path, plain, rank_branch, restored, shapes, warnings
from traindx.detectors.errors.root import Logged, Reading, first_cause, read
from traindx.detectors.errors.telling import own_frame
from traindx.readers import LogError, Run
from traindx.readers.excerpts import error_tails, log_tails, read_excerpt, small_texts
from traindx.readers.model import Excerpt
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns

AROUND = 3
TAIL = 64 << 10
"""bytes of the end of a log in which an error without its form is looked for"""
EMITS = {
    **families.SIGNALS,
    **warnings.SIGNALS,
    **shapes.SIGNALS,
    **rank_branch.SIGNALS,
    **named_path.SIGNALS,
    **restored.SIGNALS,
    **plain.SIGNALS,
}


class Input(ToolInput):
    """How many errors to return."""

    max_errors: int = Field(default=20, ge=1, le=200, description="return at most this many, the earliest first")


class Explained(Value):
    """One error: what it means, what it is in the story of the run, and whose line is behind it."""

    text: str
    place: str
    family: str = Field(default="", description="the family of messages it belongs to; empty where none knows it")
    means: str = ""
    role: str = Field(description="root, cascade, teardown, advice, survived, warning; empty where nothing is known")
    rank: int | None = None
    facts: dict[str, str] = Field(default_factory=dict, description="what the message names: sizes, paths, values")
    own_line: str = Field(default="", description="the innermost line of the user's own code in its traceback")
    own_code: str = Field(default="", description="that line with the lines around it")


class ErrorReport(ToolOutput):
    """Errors with file and line; the first is the likeliest root."""

    root: Explained | None = Field(default=None, description="the error that everything else follows from")
    followed: list[Explained] = Field(default_factory=list, description="what merely followed, or tore down")
    survived: list[Explained] = Field(default_factory=list, description="errors after which the run went on")
    first_by_rank: dict[str, str] = Field(default_factory=dict, description="the first error of each rank, its place")
    errors: list[ErrorSummary]
    warnings: list[ErrorSummary]
    left_out: int = 0


@tool(needs=["errors", "files"], emits=EMITS)
def explain_error(given: Input, run: Run) -> ErrorReport:
    """Explain the errors in the run's logs: which came first (root) and what merely followed (cascade, teardown) or was
    survived, over all ranks and files; what the message means, the values it names, and the user's own line behind it.
    """
    printed = [row for row in run.errors if row.kind == "error"]
    warned = [row for row in run.errors if row.kind == "warning"]
    tails = list(log_tails(run, TAIL))
    patterns = error_patterns(run.project)
    logged = Logged(run.series, run.once(objective), error_tails(run))
    readings = read(printed, patterns, logged)
    loose = [] if plain.names_a_root(readings) else plain.detect(tails, patterns, logged, printed)
    opened = plain.warnings(tails, patterns, logged, run.errors)
    stated = plain.stated(tails, logged) if run.once(objective) is None else []
    if not printed and not warned and not loose and not opened and not stated:
        logs = ", ".join(file.path for file in run.files if file.role == "log") or "no log file"
        raise NoData(f"no error or warning was printed; looked in: {logs}")
    most = given.max_errors
    first = first_cause(readings)
    texts = list(small_texts(run)) if first is not None else []
    errors = sorted(
        printed, key=lambda row: first is None or row.text != first.row.text or row.source != first.row.source
    )
    rest = [one for one in readings if one is not first and one.role is not None]
    return ErrorReport(
        root=_explained(first, run) if first is not None else None,
        followed=[_explained(one, run) for one in rest if not one.survived and one.role != "advice"][:most],
        survived=[_explained(one, run) for one in rest if one.survived][:most],
        first_by_rank=_by_rank(readings),
        errors=[_row(row) for row in errors[:most]],
        warnings=[_row(row) for row in warned[:most]],
        left_out=max(0, len(errors) - most) + max(0, len(warned) - most),
        signals=[
            *_with_places(families.detect(printed, run.code, patterns, _last_value(run), logged), first, run, texts),
            *loose,
            *stated,
            *warnings.detect([*printed, *warned, *opened], run.code, patterns),
            *(shapes.detect(first, run.program, run.settings) if first is not None else []),
            *rank_branch.detect(readings, run.code),
            *_misfit(first, run, texts),
            *(named_path.detect(path, run.settings, texts) if (path := named_path.path_of(first)) else []),
        ],
    )


def _last_value(run: Run) -> tuple[str, int] | None:
    """The file and line of the last value of the curve that the run is judged by."""
    goal = run.once(objective)
    last = len(goal) - 1 if goal is not None else -1
    return (goal.series.source_at(last), int(goal.series.lines[last])) if goal is not None and last >= 0 else None


def _with_places(signals: list[Signal], first: Reading | None, run: Run, texts: list[Excerpt]) -> list[Signal]:
    """The signals, that of the first error with the lines behind it."""
    if first is None:
        return signals
    name = first.family.name if first.family is not None else "error-unexplained"
    more = behind.detect(first.row, first.family, run.code, texts)
    return [one.model_copy(update={"citations": [*one.citations, *more]}) if one.id == name else one for one in signals]


def _misfit(first: Reading | None, run: Run, texts: list[Excerpt]) -> list[Signal]:
    wanted = restored.wanted_lines(first)
    if first is None or wanted is None:
        return []
    checkpoints = next((one for one in error_patterns(run.project) if one.name == "error-checkpoint-keys"), None)
    return restored.detect(first, read_excerpt(run, wanted), behind.detect(first.row, checkpoints, run.code, texts))


def _explained(one: Reading, run: Run) -> Explained:
    frame = own_frame(one.row, run.code)
    return Explained(
        text=one.row.text,
        place=f"{one.row.source}:{one.row.line}",
        family=one.family.name if one.family else "",
        means=one.family.means if one.family else "",
        role="survived" if one.survived else one.role or "",
        rank=one.rank,
        facts=dict(one.facts),
        own_line=frame[0].place(frame[1]) if frame else "",
        own_code=frame[0].around(frame[1], AROUND)[1] if frame and frame[0].quote(frame[1]) else "",
    )


def _by_rank(readings: list[Reading]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in readings:
        if one.rank is not None and one.role in {"root", "cascade"} and not one.survived:
            found.setdefault(str(one.rank), f"{one.row.source}:{one.row.line}: {one.row.text[:200]}")
    return dict(sorted(found.items(), key=lambda item: int(item[0]))[:64])


def _row(row: LogError) -> ErrorSummary:
    return ErrorSummary(source=row.source, line=row.line, text=row.text, kind=row.kind)
