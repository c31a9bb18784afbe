"""A metric's points, and how they are told: at a moment, at their best, over the run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from traindx.chat.talk import Talk
from traindx.contract import SeriesSummary

METRICS = "extract_training_metrics"
MOST_POINTS = 100_000
MOMENT = re.compile(
    r"\b(step|epoch|iteration|iter|update|round|batch|row)s?\s?(?:number |no\.? |#)?(\d[\d,_]*(?:\.\d+)?)(k)?\b"
)
_AXES = {"step": "step", "iteration": "step", "iter": "step", "update": "step", "batch": "step", "round": "step"}
_LARGER_IS_BETTER = re.compile(r"acc|f1|auc|precision|recall|bleu|rouge|iou|dice|reward|return|r2|psnr|ssim|score")


@dataclass(frozen=True)
class Curve:
    """Every logged point of one metric."""

    series: SeriesSummary
    at: list[float]
    values: list[float]
    lines: list[int]

    @property
    def thinned(self) -> bool:
        """Whether some of the logged points are not among these."""
        return len(self.at) < self.series.points

    def told(self, index: int) -> str:
        """One point with its place."""
        line = f":{self.lines[index]}" if self.lines[index] > 0 else ""
        where = f"{self.series.axis} {self.at[index]:g}"
        return f"- `{self.series.original}` at {where}: {self.values[index]:.6g} ({self.series.source}{line})"

    def at_moment(self, match: re.Match[str]) -> str:
        """The point at a step or epoch, or the nearest one, or that it is counted otherwise."""
        axis, own = _AXES.get(match[1], match[1]), self.series.axis
        span = f"{own} {self.series.start:g} to {self.series.end:g}"
        if axis != own:
            return f"- `{self.series.original}` is counted in {own}s ({span}), not in {axis}s."
        wanted = float(match[2].replace(",", "").replace("_", "")) * (1000 if match[3] else 1)
        if not self.series.start <= wanted <= self.series.end:
            return f"- `{self.series.original}` was logged from {span}: there is no {own} {wanted:g}."
        nearest = min(range(len(self.at)), key=lambda index: abs(self.at[index] - wanted))
        if self.at[nearest] == wanted:
            return self.told(nearest)
        return f"{self.told(nearest)}; {own} {wanted:g} itself was not {'looked at' if self.thinned else 'logged'}"

    def at_extreme(self, which: str) -> str:
        """The `best`, `worst`, `lowest` or `highest` point."""
        finite = [index for index, value in enumerate(self.values) if math.isfinite(value)]
        if not finite:
            return f"- `{self.series.original}` holds no finite value."
        low, high = min(finite, key=self.values.__getitem__), max(finite, key=self.values.__getitem__)
        larger = _LARGER_IS_BETTER.search(self.series.name) is not None
        if which in {"best", "worst"} and not self.series.loss and not larger:
            return f"{self.told(low)}, the lowest; {self.told(high)[2:]}, the highest"
        upper = which == "highest" or (which in {"best", "worst"} and larger is (which == "best"))
        if self.thinned:
            exact = self.series.highest if upper else self.series.lowest
            return f"- `{self.series.original}`: {exact:.6g} is its {which} ({self.series.source})"
        return f"{self.told(high if upper else low)}, its {which}"

    def overview(self) -> str:
        """From its first point to its last."""
        row = self.series
        bad = f", {row.non_finite} not finite" if row.non_finite else ""
        return (
            f"- `{row.original}`: {row.first:.6g} at {row.axis} {row.start:g}, {row.last:.6g} at {row.axis}"
            f" {row.end:g}; lowest {row.lowest:.6g}, highest {row.highest:.6g}, {row.points} points{bad} ({row.source})"
        )


async def curve_of(talk: Talk, series: SeriesSummary) -> Curve | None:
    """The points, read by the tool that extracts metrics."""
    result = await talk.call(METRICS, {"name": series.name, "max_points": MOST_POINTS})
    for row in result.output.get("points", []) if result.status == "ok" else []:
        if row["name"] == series.name and row["source"] == series.source and row["values"]:
            return Curve(series, row["at"], [float(value) for value in row["values"]], row["lines"])
    return None
