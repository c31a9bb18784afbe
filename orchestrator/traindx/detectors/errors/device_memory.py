"""What held the memory when the device ran out of it, and what to change first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.logs.memory_text import OutOfMemory, read_out_of_memory, spelt
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_patterns

SIGNALS = {"memory-held-by": "the out-of-memory message, or what surrounds it, says what held the memory"}
FRAGMENTED = 0.15
"""of the device, in blocks that torch holds and cannot use; below that fragmentation is the usual waste"""
FOREIGN = 0.2
"""of the device, held by others"""
STATIC = 0.7
"""of what is allocated: weights, gradients and optimizer alone are too large for any batch to help"""
HALVE = "Halve the batch size and double gradient accumulation"
_EVALUATION = re.compile(r"eval|valid|test|predict|infer", re.IGNORECASE)


@dataclass(frozen=True)
class Circumstances:
    """What is known around the message."""

    points_before: int = 0
    """values that the run had logged before"""
    functions: tuple[str, ...] = ()
    """functions of the run's own code in the traceback, outermost first"""
    grows: bool = False
    static: int = 0
    """bytes of weights, gradients and optimizer, as far as they can be estimated"""


def messages(errors: Sequence[LogError]) -> list[LogError]:
    """The errors that are about the memory of a device."""
    family = next((one for one in error_patterns() if one.name == "error-device-memory"), None)
    return [
        row for row in errors if row.kind == "error" and family is not None and family.found_in(row.text) is not None
    ]


def detect(row: LogError, around: str, known: Circumstances) -> list[Signal]:
    """The reason behind one message; `around` are the lines near it, for allocators that print a table."""
    told = read_out_of_memory(row.text)
    if told.of("total") is None and around:
        told = OutOfMemory({**read_out_of_memory(around).amounts, **told.amounts}, told.others)
    held, first = _reason(told, known)
    smaller = first.startswith(HALVE)
    facts: dict[str, Fact] = {"memory_held": held, "memory_fix": first, "memory_smaller_batch": smaller}
    if not smaller:
        facts["memory_expects"] = "The run gets past the point where it ran out, with the batch size it has"
    facts |= {f"memory_{name}": spelt(size) for name, size in told.amounts.items()}
    if known.static:
        facts["memory_static"] = spelt(known.static)
    place = cite_line(row.source, row.line, "the allocation that failed", row.text)
    return [Signal(id="memory-held-by", claim=held, citations=[place], facts=facts)]


def _reason(told: OutOfMemory, known: Circumstances) -> tuple[str, str]:
    """What held the memory, and what to change first."""
    total, allocated, unused = told.of("total"), told.of("allocated"), told.of("unused") or 0
    foreign = _foreign(told)
    if total and foreign > FOREIGN * total:
        who = ", ".join(f"process {pid} ({spelt(size)})" for pid, size in told.others.items() if size)
        return (
            f"other processes held {spelt(foreign)} of {spelt(total)}{f': {who}' if who else ''}",
            "Free the device first: end what is left of earlier runs (`nvidia-smi` names them) or choose another one;"
            " this run's own settings need no change",
        )
    if known.grows:
        return (
            "memory had been growing from step to step until it ran out",
            "First find what is kept from step to step (`total += loss`, outputs in a list, a state without"
            " `detach()`); a smaller batch only delays the end",
        )
    evaluating = next((name for name in known.functions if _EVALUATION.search(name)), "")
    if evaluating:
        return (
            f"it ran out in evaluation (`{evaluating}`), which needs no gradients",
            "Wrap evaluation in `torch.inference_mode()`, move outputs to the CPU batch by batch, and give it a batch"
            " size of its own",
        )
    if total and unused > FRAGMENTED * total and unused >= (told.of("tried") or 0):
        return (
            f"{spelt(unused)} of {spelt(total)} was reserved in pieces too small for {spelt(told.of('tried') or 0)}:"
            " fragmentation",
            "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, and pad batches to a few fixed lengths",
        )
    if known.static and allocated and known.static > STATIC * allocated:
        return (
            f"weights, gradients and optimizer state take about {spelt(known.static)} of {spelt(allocated)} allocated",
            "A smaller batch will not help: shard or offload the optimizer (FSDP, ZeRO), use an 8-bit optimizer, or"
            " train an adapter",
        )
    return _activations(told, known)


def _activations(told: OutOfMemory, known: Circumstances) -> tuple[str, str]:
    total, allocated = told.of("total"), told.of("allocated")
    when = (
        "before the first value was logged"
        if not known.points_before
        else f"after {known.points_before:,} logged values"
    )
    size = (
        f"{spelt(allocated)} of {spelt(total)} was allocated by this run"
        if total and allocated
        else "the memory was this run's own"
    )
    if known.points_before:
        return (
            f"{size}, {when}: a larger batch or a longer sequence than before, or slow growth",
            f"{HALVE}, or cap the length: the largest batch decides; sort or bucket by length",
        )
    return (
        f"{size}, {when}: batch, length or model is too large for the device",
        f"{HALVE}; then bf16 autocast and activation checkpointing",
    )


def _foreign(told: OutOfMemory) -> int:
    if told.others:
        return sum(told.others.values())
    total, free = told.of("total"), told.of("free")
    own = told.of("in_use") or told.of("pool")
    # A CUDA context of our own takes half a gibibyte.
    return max(0, total - free - own - (1 << 29)) if total and free is not None and own else 0
