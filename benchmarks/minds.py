"""Turns and input tokens of an honest mind on the labelled runs of the tests, beside what another checkout needs.

Usage: python benchmarks/minds.py [--beside CHECKOUT]. The mind is the scripted expert of `tests/llm/minds.py`: it looks
at the small files and at each place that it cites, where they are not before it. Tokens are characters sent over four,
sceptics included. The bars: at most 3 turns in the median, at most 60 % of the other checkout's tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.llm.kit import is_sceptic, quick  # noqa: E402 - the path has to be known first
from tests.llm.minds import Honest, agreeing  # noqa: E402
from tests.llm.test_minds import CORPUS, HARD  # noqa: E402
from traindx import diagnose  # noqa: E402
from traindx.evaluation import open_cases  # noqa: E402
from traindx.evaluation.case import find_cases  # noqa: E402
from traindx.evaluation.score import right  # noqa: E402
from traindx.testing import ScriptedMessagesServer  # noqa: E402


def measured() -> dict[str, tuple[int, int, bool]]:
    """Turns, tokens and whether the answer is right, for each run."""
    found = {}
    with open_cases(ROOT / "benchmarks" / "blind" / "batch-26.tar.gz") as hard:
        for case in [*find_cases(ROOT / "benchmarks" / "corpus"), *hard]:
            name = case.name.rsplit("/", 1)[-1]
            if name not in (CORPUS if "/" not in case.name else HARD):
                continue
            with ScriptedMessagesServer(Honest(case), forever=True) as server:
                server.script(agreeing, when=is_sceptic, forever=True)
                diagnosis = diagnose(case.run, case.truth.message, brain="claude", options=quick(server))
                turns = sum(not is_sceptic(request) for request in server.requests)
                tokens = sum(len(request.text) for request in server.requests) // 4
            causes = [(cause.id, cause.confidence) for cause in diagnosis.root_causes]
            found[name] = (turns, tokens, right(case, diagnosis.status, causes))
    return found


def beside(checkout: Path) -> dict[str, tuple[int, int, bool]]:
    """The same with the package of another checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "orchestrator")}
    text = subprocess.run(
        [sys.executable, __file__, "--json"], check=True, capture_output=True, text=True, env=environment
    ).stdout
    return {name: tuple(row) for name, row in json.loads(text).items()}


def main() -> None:
    """Print the figures of this checkout, and the ratio where there is another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    own = measured()
    if args.json:
        print(json.dumps(own))
        return
    sides = {"this checkout": own, **({"the other": beside(args.beside)} if args.beside else {})}
    for name, rows in sides.items():
        turns = statistics.median(row[0] for row in rows.values())
        tokens = sum(row[1] for row in rows.values())
        good = sum(row[2] for row in rows.values())
        print(f"{name:14} {len(rows)} runs, {good} right; turns: median {turns:g}; {tokens:,} tokens")
    if args.beside:
        ratio = sum(row[1] for row in own.values()) / sum(row[1] for row in sides["the other"].values())
        print(f"tokens: {ratio:.0%} of the other checkout's")


if __name__ == "__main__":
    main()
