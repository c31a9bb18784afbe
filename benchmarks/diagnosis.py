"""A whole diagnosis of a long run: seconds from `traindx diagnose` to its answer, and how they grow with the log.

Usage: python benchmarks/diagnosis.py [--full]. The bars: 10,000 logged steps with config and code in 1.0 s, and growth
no faster than linear. `--full` goes on to 10,000,000 steps, a log of some 600 MB in a temporary folder. Every diagnosis
is a fresh process; processor time counts that process and its worker. The package is compiled to bytecode first, as pip
does when it installs one: a worker never writes any, and without it every start compiles the readers and tools again.
"""

import argparse
import compileall
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import traindx
from traindx.definitions.content import TOOLS

BAR = 1.0
ROUNDS = 5
SIZES = (10_000, 100_000, 1_000_000)
TRAINDX = str(Path(sys.executable).parent / "traindx")
PEAK = 3e-3
CONFIG = f"""\
model: {{name: gpt, n_layer: 6, n_embd: 256, vocab_size: 8192}}
optimizer: adamw
learning_rate: {PEAK}
batch_size: 64
grad_clip: 1.0
weight_decay: 0.1
seed: 7
"""
CODE = """\
import torch
import yaml
from torch import nn

config = yaml.safe_load(open("config.yaml"))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.MultiheadAttention(width, 8, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.mix(y, y, y, need_weights=False)[0]
        return x + self.feed(self.norm(x))


def train(model, batches, steps):
    opt = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"], weight_decay=config["weight_decay"])
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, config["learning_rate"], total_steps=steps)
    for step, (x, y) in enumerate(batches):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), config["grad_clip"])
        opt.step()
        plan.step()
        print(f"step {step} | loss {loss:.4f} | lr {plan.get_last_lr()[0]:.3e} | grad_norm {norm:.3f}")
"""


@dataclass(frozen=True)
class Cost:
    """What one diagnosis took: wall and processor seconds, and what it says about itself."""

    wall: float
    cpu: float
    said: dict[str, object]


def lines(steps: int) -> Iterator[str]:
    """A run that learns for four fifths of its steps, until its learning rate is raised tenfold."""
    chance = random.Random(5)  # noqa: S311 (numbers to read, not secrets)
    for n in range(steps):
        done = n / steps
        broken = done >= 0.8
        rate = PEAK * (1.0 if broken else min(0.1, done + 0.001))
        loss = 2.5 + 6.5 / (1 + 60 * done) + (3.0 if broken else 0.0) + chance.gauss(0, 0.05)
        norm = (8.0 if broken else 0.4) * chance.lognormvariate(0, 0.3)
        yield f"step {n} | loss {loss:.4f} | lr {rate:.3e} | grad_norm {norm:.3f}\n"


def write(folder: Path, steps: int) -> float:
    """Write the run; the size of its log in MB."""
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "train.py").write_text(CODE)
    with (folder / "train.log").open("w") as file:
        file.writelines(lines(steps))
    return (folder / "train.log").stat().st_size / 1e6


def timed(command: list[str]) -> tuple[float, float, str]:
    """Wall and processor seconds of a fresh process with all its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=clean)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def diagnosed(folder: Path) -> Cost:
    """One diagnosis from the command line."""
    wall, cpu, printed = timed([TRAINDX, "diagnose", str(folder), "--json"])
    return Cost(wall, cpu, json.loads(printed))


def seconds(statement: str) -> float:
    """The best of several fresh interpreters that run one statement."""
    return min(timed([sys.executable, "-c", statement])[0] for _ in range(ROUNDS))


def breakdown(cost: Cost) -> None:
    """Where the time of one diagnosis goes. The worker starts while the parent imports: the two overlap."""
    provenance = cost.said["provenance"]
    assert isinstance(provenance, dict)
    bare = seconds("pass")
    parent = seconds("import traindx.pipeline.session, traindx.cli.diagnose") - bare
    worker = seconds("import traindx.runtime.service, numpy") - bare
    tools = sorted(((use["seconds"], use["tool"]) for use in provenance["tools"]), reverse=True)
    in_tools = sum(taken for taken, _ in tools)
    print("\nwhere the time goes, 10,000 steps")
    print(f"  interpreter                    {bare:7.3f} s")
    print(f"  imports of the parent          {parent:7.3f} s")
    print(f"  imports of the worker          {worker:7.3f} s   (meanwhile)")
    print(f"  reading and tools              {in_tools:7.3f} s   (the first that asks for series reads the log)")
    for taken, name in tools:
        print(f"    {name:28} {taken:7.3f} s")
    rest = provenance["seconds"] - in_tools
    print(f"  the rest, by its own clock     {rest:7.3f} s   (worker start, gathering, weighing, verifying)")
    print(f"  before and after its own clock {cost.wall - provenance['seconds']:7.3f} s")


def main() -> None:
    """Print a row a size, then where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="go on to 10,000,000 steps")
    sizes = (*SIZES, 10_000_000) if parser.parse_args().full else SIZES
    for code in (Path(traindx.__file__).parent, TOOLS):
        compileall.compile_dir(code, quiet=1)
    print(
        f"{'steps':>12} {'MB':>7} {'best s':>8} {'median s':>9} {'cpu s':>8} {'s per million points':>21}  first cause"
    )
    first: Cost | None = None
    for steps in sizes:
        with tempfile.TemporaryDirectory() as folder:
            size = write(Path(folder), steps)
            costs = [diagnosed(Path(folder)) for _ in range(ROUNDS if steps <= 100_000 else 2)]
        best = min(costs, key=lambda cost: cost.wall)
        first = first or best
        median, cpu = statistics.median(cost.wall for cost in costs), min(cost.cpu for cost in costs)
        # Three metrics a step; what a run of 10,000 takes anyway is not growth.
        growth = (best.wall - first.wall) / (3 * (steps - SIZES[0]) / 1e6) if steps > SIZES[0] else 0.0
        causes = best.said["root_causes"]
        named = causes[0]["id"] if isinstance(causes, list) and causes else best.said["status"]
        row = f"{steps:12,} {size:7.1f} {best.wall:8.2f} {median:9.2f} {cpu:8.2f}"
        print(f"{row} {f'{growth:.2f}' if growth else '-':>21}  {named}", flush=True)
    assert first is not None
    verdict = "within" if first.wall <= BAR else "ABOVE"
    print(f"10,000 steps: {first.wall:.2f} s, {verdict} the bar of {BAR} s")
    breakdown(first)


if __name__ == "__main__":
    main()
