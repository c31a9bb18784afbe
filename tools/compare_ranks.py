"""Which rank of a distributed job the others waited for: watchdogs, flight recorders, stacks, steps and step times."""

from pydantic import Field

from traindx.contract import Signal, Value
from traindx.detectors.curves import ranks
from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import collectives, rank_counts, stacks
from traindx.detectors.errors.root import Logged, first_cause, read
from traindx.detectors.program import rank_shards
from traindx.readers import Run
from traindx.readers.excerpts import error_tails, log_heads
from traindx.readers.series.closer import closer
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns


class Input(ToolInput):
    """No options: everything that ranks left is compared."""


class RankRow(Value):
    """What one rank left."""

    rank: int
    last_step: float | None = None
    says: list[str] = Field(default_factory=list, description="its watchdog or its flight recorder, to the letter")


class RankReport(ToolOutput):
    """The ranks, the lowest first, and the stacks that were dumped."""

    ranks: list[RankRow]
    stacks: dict[str, str] = Field(default_factory=dict, description="innermost call of each process")


@tool(needs=["files"], emits={**collectives.SIGNALS, **stacks.SIGNALS, **ranks.SIGNALS, **rank_counts.SIGNALS})
def compare_ranks(given: Input, run: Run) -> RankReport:  # noqa: ARG001 - every tool takes its input
    """Compare the ranks of a distributed job: who never entered the collective that timed out (last enqueued against
    last completed work, in logs and flight-recorder dumps), whose stack differs, who is slower, who stopped first.
    """
    # What the others waited for is told by the error of the rank that failed, where there is one.
    reports = [*run.errors, *run.flights]
    known = ranks.ranks_known(run.series) | {row.rank for row in reports if row.rank is not None}
    known |= {number for row in run.cluster for number in row.ranks}
    if len(known) < 2 and not run.stacks:
        raise NoData("no log, flight recorder or dump of stacks tells of several ranks")
    says: dict[int, list[str]] = {}
    for row in reports:
        if row.rank is not None and collectives.speaks_of_collectives(row):
            says.setdefault(row.rank, []).append(row.text[:300])
    ends = ranks.last_steps(run.series)
    return RankReport(
        ranks=[
            RankRow(rank=rank, last_step=ends.get(rank), says=says.get(rank, [])[:4]) for rank in sorted(known)[:256]
        ],
        stacks={row.process: row.text for row in run.stacks[:256]},
        signals=[
            *(_with_shares(collectives.detect(reports, known), run) if not _failed_by_itself(run) else []),
            *stacks.detect(run.stacks),
            *ranks.detect(run.series, closer(run)),
            *_with_shares(rank_counts.detect(log_heads(run, rank_counts.MOST_LINES), waited=_waited(run)), run),
        ],
    )


def _with_shares(signals: list[Signal], run: Run) -> list[Signal]:
    """What tells that ranks parted, with the lines that give each of them its own share of the data."""
    parted = {"collectives-differ", "rank-never-entered", "batches-differ"}
    shares = rank_shards.detect(run.code) if any(one.id in parted for one in signals) else []
    return [
        one.model_copy(update={"citations": [*one.citations, *shares]}) if one.id in parted else one for one in signals
    ]


def _waited(run: Run) -> bool:
    """Whether a rank gave up waiting for the others, and none ended with an error of its own."""
    names = {"error-collective-timeout", "error-collective", "error-peer-lost"}
    families = [one for one in error_patterns(run.project) if one.name in names]
    told = [
        row for row in run.errors if row.kind == "error" and any(one.found_in(row.text) is not None for one in families)
    ]
    return bool(told) and not _failed_by_itself(run)


def _failed_by_itself(run: Run) -> bool:
    """Whether a rank ended with an error of its own."""
    errors = [row for row in run.errors if row.kind == "error"]
    logged = Logged(run.series, run.once(objective), error_tails(run))
    first = first_cause(read(errors, error_patterns(run.project), logged))
    return first is not None and first.role == "root"
