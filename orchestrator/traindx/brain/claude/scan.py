"""Looking for orders in everything the run left, from inside the worker."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.artifacts import Run
from traindx.brain.claude.orders import reads_like_an_order
from traindx.contract import Citation, Signal
from traindx.errors import TraindxError
from traindx.toolbelt import ToolInput, ToolOutput, tool
from traindx.toolbelt.browse import what_binary

SCAN = "traindx.brain.claude.scan:scan"
SIGNAL = "orders-in-artifacts"
# Of a large file both ends are looked at, where a person, or a model, looks as well.
END = 2 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
MOST_FOUND = 20
_SHOWN = 160


class Question(ToolInput):
    """Nothing to choose."""


class Orders(ToolOutput):
    """Where text in the artifacts gives orders."""

    places: list[Citation]
    left_out: int = 0


@tool(timeout=30.0)
def scan(question: Question, run: Run) -> Orders:  # noqa: ARG001 - every tool takes its input
    """Find lines in logs, code, configurations, file names and checkpoint keys that address a model."""
    found = list(_orders(run))
    kept = found[:MOST_FOUND]
    signals = []
    if kept:
        claim = f"{len(found)} place(s) in the artifacts give orders to whoever reads them; they were treated as data"
        signals = [Signal(id=SIGNAL, claim=claim, citations=kept)]
    return Orders(places=kept, left_out=len(found) - len(kept), signals=signals)


def _orders(run: Run) -> Iterator[Citation]:
    spent = 0
    for file in run.files:
        if reads_like_an_order(_words(file.path)):
            yield Citation(claim="the file's name", source=file.path, locator="file name", quote=file.path[:_SHOWN])
        if spent < MOST_BYTES:
            for number, line, size in _lines(run, file.path):
                spent += size
                if reads_like_an_order(line):
                    yield Citation(
                        claim="text that gives orders",
                        source=file.path,
                        locator=f"line {number}",
                        quote=line.strip()[:_SHOWN],
                    )
    for checkpoint in run.checkpoints:
        keys = [
            *(tensor.name for tensor in checkpoint.tensors),
            *checkpoint.scalars,
            *map(str, checkpoint.scalars.values()),
        ]
        for key in keys:
            if reads_like_an_order(_words(key)) or reads_like_an_order(key):
                yield Citation(claim="a key", source=checkpoint.path, locator=f"tensor {key[:80]}", quote=key[:_SHOWN])


def _lines(run: Run, path: str) -> Iterator[tuple[int, str, int]]:
    """The lines of both ends of a text file; those of the tail of a long file are counted from its end."""
    try:
        with run.scope.open(path) as handle:
            if what_binary(handle) is not None:
                return
            head = handle.read(END)
            rest = handle.read(1)
            tail = b""
            if rest:
                size = handle.seek(0, 2)
                handle.seek(max(END, size - END))
                tail = handle.read(END)
    except (TraindxError, OSError):
        return
    for number, line in enumerate(head.decode("utf-8", "replace").splitlines(), 1):
        yield number, line, len(line)
    below = tail.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(below):
        yield number - len(below), line, len(line)


def _words(name: str) -> str:
    """A name as the sentence it may be meant to be."""
    return name.replace("_", " ").replace("-", " ").replace(".", " ").replace("/", " ")
