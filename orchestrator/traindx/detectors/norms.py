"""What a number is to be compared with: chance, the usual range, the run's own earlier part, a run that went better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from traindx.detectors.comparison.metrics import badness, in_both
from traindx.detectors.curves.chance import class_count, is_accuracy
from traindx.detectors.curves.objective import objective
from traindx.detectors.settings.logged_rate import rate_series
from traindx.detectors.settings.lookup import clip_threshold, named, optimizer
from traindx.detectors.settings.unusual_rate import OF_ANY, USUAL, WITH_MOMENTUM, highest
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Series, Setting
from traindx.vocabulary.metrics import normalise

MOST_CURVES = 12
MOST_BESIDE = 8
FEWEST_POINTS = 8
"""a curve of fewer has no earlier part to compare with"""


def norms(series: Sequence[Series], settings: Sequence[Setting], code: Sequence[CodeUnit]) -> list[str]:
    """A line for each number of the run that has a norm."""
    return [
        *_of_the_rate(series, settings, code),
        *_of_the_clip(series, settings),
        *_of_chance(series, settings),
        *_of_the_past(series),
        *_of_the_best(series),
    ]


def _of_the_rate(series: Sequence[Series], settings: Sequence[Setting], code: Sequence[CodeUnit]) -> Iterator[str]:
    top = highest(settings, rate_series(series))
    if top is None:
        return
    kind = optimizer(settings, code, series)
    low, high = USUAL.get(kind or "", OF_ANY)
    momentum = named(settings, "momentum", "mom", "sgd_momentum")
    if kind == "sgd" and momentum is not None and float(momentum.value) >= 0.8:
        high *= WITH_MOMENTUM
    whose = kind if kind in USUAL else "most optimizers"
    yield f"{top.key} = {top.value:g} ({top.place}): usual for {whose}: {low:g} to {high:g}"


def _of_the_clip(series: Sequence[Series], settings: Sequence[Setting]) -> Iterator[str]:
    clip = clip_threshold(settings)
    norm = next((row for row in series if row.name == "grad_norm" and len(row) >= FEWEST_POINTS), None)
    if clip is None or norm is None:
        return
    good = norm.values[np.isfinite(norm.values)]
    if len(good):
        share = float(np.mean(good > float(clip.value)))
        yield (
            f"{clip.key} = {clip.value} ({clip.source}:{clip.line}): {share:.0%} of the logged norms are above it;"
            f" their 90th percentile, a usual threshold, is {np.percentile(good, 90):.3g}"
        )


def _of_chance(series: Sequence[Series], settings: Sequence[Setting]) -> Iterator[str]:
    classes = class_count(settings)
    if classes is None:
        return
    count = float(classes.value)
    place = f"{classes.source}:{classes.line}"
    first_of: dict[str, str] = {}
    for row in series:
        first_of.setdefault(row.name, row.source)
    for row in series:
        if row.duplicate_of or row.source != first_of.get(row.name):
            continue
        if row.name.endswith("/loss") and len(row):
            yield f"`{row.original}`: chance is ln {count:g} = {math.log(count):.4g} ({classes.key}, {place})"
        elif is_accuracy(row.name) and len(row) and count <= 1000:
            yield f"`{row.original}`: chance is {1 / count:.3g} ({classes.key}, {place})"


def _of_the_past(series: Sequence[Series]) -> Iterator[str]:
    """Each curve's first and last quarter, with how far it strayed between."""
    shown = 0
    for row in series:
        good = row.values[np.isfinite(row.values)]
        if len(good) < FEWEST_POINTS or row.duplicate_of or shown >= MOST_CURVES:
            continue
        if normalise(row.name).kind in {"step", "epoch", "rate"}:
            continue
        quarter = max(2, len(good) // 4)
        early, late = float(np.median(good[:quarter])), float(np.median(good[-quarter:]))
        wobble = float(np.median(np.abs(np.diff(good[-quarter:]))))
        shown += 1
        yield (
            f"`{row.original}` ({row.source}): median of the first quarter {early:.4g}, of the last {late:.4g}; from"
            f" point to point it moves by {wobble:.2g} there"
        )


def _of_the_best(series: Sequence[Series]) -> Iterator[str]:
    """Where several runs were given, each metric of the one that went best beside the same of the others."""
    runs: dict[str, list[Series]] = {}
    for row in series:
        if "/" in row.source and len(row) >= FEWEST_POINTS:
            runs.setdefault(row.source.partition("/")[0], []).append(row)
    if len(runs) < 2:
        return
    best, *others = sorted(runs, key=lambda folder: badness(objective(runs[folder])))
    lines = [
        f"`{good.original}`: in `{best}`, which went best, {_ends(good)}; in `{other}` {_ends(row)}"
        for other in others
        for good, row in in_both(runs[best], runs[other])
        if normalise(good.name).kind not in {"step", "epoch"}
    ]
    yield from lines[:MOST_BESIDE]


def _ends(row: Series) -> str:
    """Where a curve goes, in its own unit."""
    good = row.values[np.isfinite(row.values)]
    if not len(good):
        return "never finite"
    return f"{good[0]:.4g} to {good[-1]:.4g} ({row.axis} {row.at[0]:g} to {row.at[-1]:g})"
