"""Fit how much each signal counts: magnitudes in log-odds, drawn towards the catalog's tiers, signs kept.

    python benchmarks/fit_weights.py collect SIGNALS.json [CASES ...]   the signals of every labelled run (minutes)
    python benchmarks/fit_weights.py table SIGNALS.json                 leave one batch out: what unseen ones would get
    python benchmarks/fit_weights.py write SIGNALS.json                 fit on everything, write prompts/weights.json
    python benchmarks/fit_weights.py complete                           new signals count by their tier until then

The model is the one of `traindx.diagnosis.scoring`: a softmax over every hypothesis that a signal speaks for, health
and not knowing, followers handing over to their roots. The loss is the log-likelihood of the right answer plus a
quadratic pull of every weight towards the magnitude of its tier, which is fitted as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import torch

from traindx import open_session
from traindx.brains.local.investigator import BESIDE_HEALTH, LocalInvestigator
from traindx.brains.local.user_reports import VOCABULARY
from traindx.contract import Diagnosis, Signal
from traindx.diagnosis.catalog import TIERS, Catalog, load_catalog
from traindx.diagnosis.evidence.verify import CEILING, DIRECT
from traindx.diagnosis.merge import NOTICED
from traindx.diagnosis.scoring import counted, weigh
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.weights import WEIGHTS, Weights, load_weights
from traindx.evaluation import LabelledCase, Outcome, open_cases, score
from traindx.evaluation.case import Truth
from traindx.evaluation.score import outcome
from traindx.runtime import Toolbelt
from traindx.runtime.scope import Scope

HERE = Path(__file__).parent
BATCHES = (HERE / "corpus", HERE / "blind")
UNKNOWN = "not knowing"
PULL = 0.05
"""of every weight towards its tier, per unit squared: chosen among 0.05, 0.1, 0.15, 0.2, 0.5 and 1.5 by the table"""
PRIOR = -3.0
"""log-odds of any failure mode against not knowing before a signal was found: runs that show too little are rare among
the labelled ones, so this is not fitted"""
FALSE_ALARM = 2.0
"""what a wrong answer about a healthy run costs, in wrong answers about failing ones"""
STEPS = 400
START = {"weak": 1.0, "strong": 2.2, "decisive": 4.5}


@dataclass(frozen=True)
class Example:
    """A labelled run: the signals it shows and what a right answer says."""

    name: str
    truth: Truth
    found: dict[str, float]

    @property
    def batch(self) -> str:
        """The hand that wrote it."""
        parts = self.name.split("/")
        return parts[1] if parts[0] == "blind" else parts[0]

    @property
    def targets(self) -> tuple[str, ...]:
        """The hypotheses of which one must win."""
        expected = {"diagnosis": self.truth.primary, "healthy": ("healthy",), "needs_more_data": (UNKNOWN,)}
        return expected[self.truth.expect]


def collect(roots: Sequence[Path]) -> dict[str, Any]:
    """The signals of every labelled run below the roots."""
    with contextlib.ExitStack() as opened, ThreadPoolExecutor(2) as pool:
        cases = [(root.name, case) for root in roots for case in opened.enter_context(open_cases(root))]
        return dict(pool.map(lambda row: (f"{row[0]}/{row[1].name}", _signals_of(row[1])), cases))


def _signals_of(case: LabelledCase) -> dict[str, Any]:
    async def found() -> list[Signal]:
        async with open_session(case.run, brain="local") as session:
            cases = await session.cases(case.truth.message)
            return [] if isinstance(cases, Diagnosis) else (await LocalInvestigator().weigh(cases[0])).signals

    return {
        "truth": case.truth.model_dump(mode="json"),
        "signals": [[signal.id, signal.strength] for signal in asyncio.run(found())],
    }


def examples(path: Path) -> list[Example]:
    """What `collect` has written."""
    rows = []
    for name, row in json.loads(path.read_text(encoding="utf-8")).items():
        found: dict[str, float] = {}
        for signal, strength, *_ in row["signals"]:
            found[signal] = max(strength, found.get(signal, 0.0))
        rows.append(
            Example(name, Truth.model_validate({k: v for k, v in row["truth"].items() if v is not None}), found)
        )
    return rows


class Fit:
    """The competition of `scoring`, differentiable, over a list of examples at once."""

    def __init__(self, catalog: Catalog, registry: SignalRegistry, rows: Sequence[Example]) -> None:
        self.catalog, self.rows = catalog, rows
        self.names = [one.id for one in catalog.hypotheses]
        self.place = {name: index for index, name in enumerate(self.names)}
        self.entries = [(one.id, *row) for one in catalog.hypotheses for row in one.weighed()]
        number = {(name, signal): index for index, (name, signal, _, _) in enumerate(self.entries)}
        self.matrix = torch.zeros(len(rows), len(self.entries))
        self.competes = torch.zeros(len(rows), len(self.names), dtype=torch.bool)
        self.target = torch.zeros(len(rows), len(self.names) + 1)
        for index, row in enumerate(rows):
            for one in catalog.hypotheses:
                for signal, _, sign in counted(one, row.found, registry):
                    self.matrix[index, number[one.id, signal]] = row.found[signal]
                    self.competes[index, self.place[one.id]] |= sign > 0
            benign = {name for name in row.targets if name in catalog and catalog[name].benign}
            for name in (*row.targets, *(("healthy",) if benign else ())):
                self.target[index, len(self.names) if name == UNKNOWN else self.place.get(name, -1)] = 1.0
        self.cost = torch.tensor([FALSE_ALARM if row.truth.expect == "healthy" else 1.0 for row in rows])
        self.owner = torch.tensor([self.place[name] for name, _, _, _ in self.entries])
        self.sign = torch.tensor([float(sign) for _, _, _, sign in self.entries])
        self.tier = torch.tensor(
            [TIERS.index(speaks.tier) + (3 if sign < 0 else 0) for _, _, speaks, sign in self.entries]
        )
        leads = {mode.id: mode.leads_to for mode in catalog.values()}
        order = TopologicalSorter({name: leads.get(name, ()) for name in self.names}).static_order()
        self.handovers = [
            (self.place[name], [self.place[root] for root, followers in leads.items() if name in followers])
            for name in order
            if any(name in followers for followers in leads.values())
        ]

    def shares(self, weight: torch.Tensor, prior: torch.Tensor, bonus: torch.Tensor) -> torch.Tensor:
        """Belief in every hypothesis and, last, in not knowing."""
        scores = prior + torch.zeros(len(self.rows), len(self.names)).index_add(1, self.owner, self.matrix * weight)
        scores = scores.clamp(-30, 30).masked_fill(~self.competes, -60.0)
        whole = torch.softmax(torch.cat([scores, torch.zeros(len(self.rows), 1)], 1), 1)
        share = list(whole.unbind(1))
        raw = scores.exp()
        for follower, roots in self.handovers:
            strength = raw[:, roots].sum(1)
            handed = share[follower] * strength * bonus.exp() / (strength * bonus.exp() + raw[:, follower])
            for root in roots:
                share[root] = share[root] + handed * raw[:, root] / strength.clamp_min(1e-30)
            share[follower] = share[follower] - handed
        return torch.stack(share, 1)

    def fitted(self, using: Sequence[int]) -> Weights:
        """The weights that the examples `using` ask for."""
        chosen = torch.tensor(list(using))
        tiers = torch.tensor([math.log(START[tier]) for tier in (*TIERS, *TIERS)], requires_grad=True)
        shift = torch.zeros(len(self.entries), requires_grad=True)
        base = torch.tensor(PRIOR)
        prior = torch.zeros(len(self.names), requires_grad=True)
        bonus = torch.tensor(2.5, requires_grad=True)
        # Only what labelled runs show is fitted: for the rest the tier stands.
        shown = Counter(name for index in using for name in self.rows[index].targets)
        tried = torch.tensor([float(shown[name] > 0) for name in self.names])
        mine = Optimised(self, chosen, tried)
        best = torch.optim.Adam([tiers, shift, prior, bonus], lr=0.05)
        for _ in range(STEPS):
            best.zero_grad()
            loss = mine.loss(tiers, shift, base, prior, bonus)
            loss.backward()
            best.step()
        weight, priors = mine.values(tiers, shift, base, prior)
        magnitude = tiers.exp()
        fitted: dict[str, dict[str, float]] = {}
        for index, (name, signal, _, _) in enumerate(self.entries):
            if shown[name]:
                fitted.setdefault(name, {})[signal] = round(float(weight[index].detach()), 2)
        return Weights(
            tiers={tier: round(float(magnitude[place].detach()), 2) for place, tier in enumerate(TIERS)},
            against={tier: round(float(magnitude[place + 3].detach()), 2) for place, tier in enumerate(TIERS)},
            prior=round(float(base.detach()), 2),
            root_bonus=round(float(bonus.detach()), 2),
            priors={name: round(float(priors[self.place[name]].detach()), 2) for name in self.names if shown[name]},
            fitted=fitted,
            cases={name: shown[name] for name in self.names if shown[name]},
        )


@dataclass
class Optimised:
    """The loss over the chosen examples."""

    fit: Fit
    chosen: torch.Tensor
    tried: torch.Tensor

    def values(
        self, tiers: torch.Tensor, shift: torch.Tensor, base: torch.Tensor, prior: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights with their signs, and priors."""
        fit = self.fit
        magnitude = torch.nn.functional.softplus(tiers.exp()[fit.tier] + shift * self.tried[fit.owner], beta=4.0)
        return fit.sign * magnitude, base + prior * self.tried

    def loss(
        self,
        tiers: torch.Tensor,
        shift: torch.Tensor,
        base: torch.Tensor,
        prior: torch.Tensor,
        bonus: torch.Tensor,
    ) -> torch.Tensor:
        """What the right answers lack, and how far the weights are from their tiers."""
        weight, priors = self.values(tiers, shift, base, prior)
        share = self.fit.shares(weight, priors, bonus)[self.chosen]
        right = (share * self.fit.target[self.chosen]).sum(1).clamp_min(1e-9)
        pull = PULL * (shift.square().sum() + prior.square().sum() + (bonus - 2.5).square())
        return -(right.log() * self.fit.cost[self.chosen]).sum() + pull


def answers(row: Example, catalog: Catalog, registry: SignalRegistry, weights: Weights) -> Outcome:
    """What would be said about an example, with the confidence policy applied as if every citation held."""
    signals = [Signal(id=name, claim=name, strength=strength) for name, strength in row.found.items()]
    standing = weigh(catalog, signals, registry, weights)
    likely = [belief for belief in standing.modes if belief.likely]
    named = []
    for belief in (likely or standing.modes)[:3]:
        direct = any(voice.speaks.kind == "direct" for voice in belief.support)
        most = CEILING if direct else DIRECT - 0.01
        named.append((belief.hypothesis.id, round(min(belief.probability, most), 2)))
    status = "diagnosis_complete" if likely else "healthy" if standing.healthy.likely else "needs_more_data"
    if status == "healthy":
        beside = weigh(catalog, signals, registry, weights, {catalog.healthy.id}).modes
        remarks = [(belief.hypothesis.id, round(BESIDE_HEALTH * belief.probability, 2)) for belief in beside[:3]]
        named = [one for one in remarks if one[1] >= NOTICED]
    case = LabelledCase(name=row.name, run=Path(), truth=row.truth)
    return outcome(case, status, [one for one in named if one[1] >= 0.05], set(), [], 0.0)


def table(rows: Sequence[Example], catalog: Catalog, registry: SignalRegistry) -> list[Outcome]:
    """Every batch judged by weights that have not seen it; prints a line for each."""
    fit = Fit(catalog, registry, rows)
    every: list[tuple[Example, Outcome]] = []
    print(f"{'batch':<12}{'first':>8}{'three':>8}{'false alarms':>14}{'healthy':>9}{'calibration':>13}")
    for batch in dict.fromkeys(row.batch for row in rows):
        weights = fit.fitted([index for index, row in enumerate(rows) if row.batch != batch])
        judged = [(row, answers(row, catalog, registry, weights)) for row in rows if row.batch == batch]
        every += judged
        _line(batch, judged)
    _line("all", every)
    seen = fit.fitted(range(len(rows)))
    _line("all, seen", [(row, answers(row, catalog, registry, seen)) for row in rows])
    return [one for _, one in every]


def _line(name: str, judged: Sequence[tuple[Example, Outcome]]) -> None:
    card = score(
        [one for _, one in judged], [LabelledCase(name=row.name, run=Path(), truth=row.truth) for row, _ in judged]
    )
    print(
        f"{name:<12}{card.first_right:>8.1%}{card.any_right:>8.1%}{card.false_alarms:>14.1%}"
        f"{card.judged_healthy:>9.1%}{card.calibration_error:>13.3f}"
    )


def registry_of_tools() -> SignalRegistry:
    """What our own tools declare."""
    with Toolbelt(Scope.of(HERE / "corpus")) as toolbelt:
        return SignalRegistry.of(toolbelt.specs(schemas=False), VOCABULARY)


def main(arguments: Sequence[str]) -> None:
    """See the module's docstring."""
    if arguments[0] == "complete":
        WEIGHTS.write_text(_text(completed(load_weights(), load_catalog())), encoding="utf-8")
        return
    what, place, roots = arguments[0], Path(arguments[1]), [Path(one) for one in arguments[2:]]
    if what == "collect":
        place.write_text(json.dumps(collect(roots or BATCHES)), encoding="utf-8")
        return
    catalog, registry = load_catalog(), registry_of_tools()
    rows = [row for row in examples(place) if row.batch != "cases"]
    if what == "table":
        table(rows, catalog, registry)
        return
    weights = Fit(catalog, registry, rows).fitted(range(len(rows)))
    WEIGHTS.write_text(_text(weights), encoding="utf-8")


def completed(weights: Weights, catalog: Catalog) -> Weights:
    """The same weights, with what the catalog has gained at the magnitude of its tier and without what it has lost."""
    fitted = {
        one.id: {
            name: weights.fitted[one.id].get(name, round(weights.of(one, name, speaks, sign), 2))
            for name, speaks, sign in one.weighed()
        }
        for one in catalog.hypotheses
        if one.id in weights.fitted
    }
    return replace(weights, fitted=fitted)


def _text(weights: Weights) -> str:
    """One line for each hypothesis: a review sees what moved."""
    plain = {**vars(weights)}
    lines = [
        f'  "{name}": {json.dumps(plain[name])}'
        for name in ("tiers", "against", "prior", "root_bonus", "cases", "priors")
    ]
    fitted = ",\n".join(f'    "{name}": {json.dumps(row)}' for name, row in _sorted(weights.fitted.items()))
    return "{\n" + ",\n".join(lines) + ',\n  "fitted": {\n' + fitted + "\n  }\n}\n"


def _sorted(rows: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return sorted(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
