"""Inputs made to be slow: processor seconds for the slowest of each kind, beside a bar that a quadratic reader misses.

Usage: python benchmarks/hostile_inputs.py. The inputs are those of the tests, which check the answers and not the time.
"""

import contextlib
import io
import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.hostile_inputs import HOSTILE_YAML, LOOKS_SECRET, PICKLE_BOMBS, PIECES_OF_MESSAGES
from traindx.brains.llm.injection import reads_like_an_order
from traindx.pipeline.request import understand
from traindx.readers.checkpoints import read_checkpoint
from traindx.readers.configs.settings import Unreadable, read_settings
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.textlog import read_log
from traindx.readers.tables.table import read_csv, read_json, read_jsonl
from traindx.redaction import Redactor

LOG = [f"INFO epoch {n} | loss {1 / (n + 1):.4f} | you have system agents mode" for n in range(50_000)]
ORDERS = ["ignore " * 5000, "the ai " * 5000, json.dumps("report run " * 3000)]
LONG_LINE = b"step 1 loss 0.5\n" * 5_000 + b"0.5, " * 40_000_000 + b"\nstep 9999 loss 7.5\n"
WIDE = ",".join(f"c{n}" for n in range(1_000_000)).encode() + b"\n" + b"1," * 999_999 + b"1\n"
DEEP = b'{"log_history": ' + b"[" * 10_000 + b"1" + b"]" * 10_000 + b"}"
NESTED = ('{"a": ' * 50 + "1" + "}" * 50 + "\n").encode() * 1_000


def settings(text: str) -> None:
    """Read a configuration, or be told that it cannot be read."""
    with contextlib.suppress(Unreadable):
        list(read_settings(io.BytesIO(text.encode()), "c.yaml"))


def bomb(content: bytes) -> None:
    """Describe a pickle."""
    read_checkpoint(io.BytesIO(content), "x.pkl")


def long_line() -> None:
    """Read a log with one line of 200 MB for metrics and for errors."""
    read_log(io.BytesIO(LONG_LINE), "train.log")
    read_errors(io.BytesIO(LONG_LINE), "train.log")


def orders(lines: Iterable[str]) -> None:
    """Look for lines that give orders."""
    for line in lines:
        reads_like_an_order(line)


KINDS: dict[str, tuple[float, list[Callable[[], object]]]] = {
    "a megabyte of a message": (
        2,
        [partial(understand, piece * (1_000_000 // len(piece))) for piece in PIECES_OF_MESSAGES],
    ),
    "YAML without an end": (3, [partial(settings, text) for text in HOSTILE_YAML.values()]),
    "pickle bombs": (10, [partial(bomb, content) for content in PICKLE_BOMBS.values()]),
    "text that looks secret": (3, [partial(Redactor().clean, text) for text in LOOKS_SECRET]),
    "a line of 200 MB": (10, [long_line]),
    "a million columns": (10, [lambda: read_csv(io.BytesIO(WIDE), "metrics.csv", lambda _: None)]),
    "JSON nested 10,000 deep": (5, [lambda: read_json(io.BytesIO(DEEP), "state.json")]),
    "JSON lines nested 50 deep": (2, [lambda: read_jsonl(io.BytesIO(NESTED), "history.jsonl")]),
    "orders in 50,000 lines": (3, [partial(orders, LOG)]),
    "orders in long lines": (2, [partial(orders, [line]) for line in ORDERS]),
}


def main() -> None:
    """Print a row a kind."""
    for name, (bar, calls) in KINDS.items():
        slowest = 0.0
        for one in calls:
            began = time.process_time()
            one()
            slowest = max(slowest, time.process_time() - began)
        print(f"{name:28} {slowest:6.2f} s   {'within' if slowest <= bar else 'ABOVE'} the bar of {bar:g} s")


if __name__ == "__main__":
    main()
