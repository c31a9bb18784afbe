"""What several curves say together: an idle latent, a discriminator that wins, rewards that are all equal."""

import numpy as np

from traindx.contract import Signal
from traindx.detectors.curves import adversaries, latent, loss_scale, no_labels, penalty, policy, tasks
from traindx.detectors.curves.metric_names import words_without_digits
from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import behind
from traindx.detectors.program import reductions
from traindx.detectors.program.reward_code import graders
from traindx.readers import Run
from traindx.readers.excerpts import log_heads
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

FEWEST = 5
_BELONG_TOGETHER = latent.KL_WORDS | {"d", "disc", "discriminator", "critic", "g", "gen", "generator", "scale"}


class Input(ToolInput):
    """No options: every pair of curves that belongs together is checked."""


class Together(ToolOutput):
    """The curves that were looked at together."""

    looked_at: list[str]


@tool(
    needs=["series", "files"],
    emits={
        **latent.SIGNALS,
        **adversaries.SIGNALS,
        **penalty.SIGNALS,
        **loss_scale.SIGNALS,
        **tasks.SIGNALS,
        **policy.SIGNALS,
        **no_labels.SIGNALS,
    },
)
def compare_metrics(given: Input, run: Run) -> Together:  # noqa: ARG001 - every tool takes its input
    """Look at curves that belong together: the KL term of a VAE, the two losses of a GAN, the same metric on several
    tasks or domains, the reward and the KL of a policy, a loss and a gradient that are both zero.
    """
    series = [row for row in run.series if len(row) >= FEWEST and np.isfinite(row.values).all()]
    heads = log_heads(run, loss_scale.MOST_LINES)
    found = [
        *latent.detect(series, run.settings, reductions.cited(run.program)),
        *adversaries.detect(series, run.settings),
        *tasks.detect(series),
        *penalty.detect(run.once(objective), series),
        *(loss_scale.logged(series) or loss_scale.announced(heads)),
        *loss_scale.settled(series),
        *loss_scale.skipped(run.series),
        *policy.detect([row for row in run.series if np.isfinite(row.values).all()], graders(run.program)),
        *no_labels.in_curves(run.once(objective), run.series),
        *_with_code(
            no_labels.in_logs(log_heads(run, no_labels.MOST_LINES), lost=no_labels.never_measured(run.series)), run
        ),
    ]
    looked_at = sorted({row.name for row in series if words_without_digits(row) & _BELONG_TOGETHER})
    if not found and not looked_at and not tasks.task_groups(series):
        raise NoData("no KL term, no pair of adversarial losses and no metric of several tasks among the series")
    return Together(looked_at=looked_at, signals=found)


def _with_code(signals: list[Signal], run: Run) -> list[Signal]:
    """The signals with the lines of the program that hold what the log quotes: a template, a key."""
    return [
        one.model_copy(update={"citations": [*one.citations, *behind.named(one.citations[0].quote, run.code)]})
        for one in signals
        if one.citations
    ]
