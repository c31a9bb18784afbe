"""How a probe is declared, and how all of them are found: one file each in `monitor/probes/`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import Field

from traindx.contract import Citation, Fact, Signal, SignalKind
from traindx.errors import UnknownName
from traindx.monitor.probing.watching import Bounds, Watch
from traindx.runtime import ToolOutput

FOLDER = Path(__file__).parents[1] / "probes"
PREFIX = "probe_"
HEADINGS = ("What it does", "How to read it", "Limits")


class ProbeOutput(ToolOutput):
    """What every probe answers beside its own measurements."""

    summary: str = Field(description="what was found out, in one sentence")
    steps: int = Field(default=0, description="training steps that were seen")
    remarks: list[str] = Field(default_factory=list, description="what the probe did to the training while it watched")


@dataclass(frozen=True)
class Probe:
    """A probe as its file declares it."""

    name: str
    title: str
    module: ModuleType

    @property
    def function(self) -> Callable[..., ProbeOutput]:
        """What a program calls, with its own objects."""
        found: Callable[..., ProbeOutput] = getattr(self.module, PREFIX + self.name)
        return found

    @property
    def settles(self) -> frozenset[str]:
        """The failure modes that its answer proves or rules out."""
        return frozenset(self.module.SETTLES)

    @property
    def asked_about(self) -> frozenset[str]:
        """The kinds of trouble (`vocabulary/kinds.py`) that it looks into, whatever the cause."""
        return frozenset(self.module.ASKED_ABOUT)

    @property
    def signals(self) -> Mapping[str, SignalKind]:
        """What it may find."""
        found: Mapping[str, SignalKind] = self.module.SIGNALS
        return found

    @property
    def watch(self) -> Callable[[], Watch] | None:
        """What listens to an unchanged script; None where the probe needs objects."""
        return getattr(self.module, "WATCH", None)

    @property
    def bounds(self) -> Bounds:
        """How much of a training it watches, unless the user says otherwise."""
        return Bounds(steps=getattr(self.module, "STEPS", Bounds().steps))

    @property
    def repeats(self) -> int:
        """How often the script is run, to compare the runs with each other."""
        return int(getattr(self.module, "REPEATS", 1))

    @property
    def parameters(self) -> list[str]:
        """The objects that a `--target` has to give, in this order; those with a default may be left out."""
        return list(inspect.signature(self.function).parameters)

    @property
    def sections(self) -> dict[str, str]:
        """Its documentation by heading."""
        parts = re.split(r"^## (.+)$", inspect.cleandoc(self.module.__doc__ or ""), flags=re.MULTILINE)
        return {head.strip(): body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}

    def compare(self, outputs: list[dict[str, Any]]) -> ProbeOutput:
        """The answer of several runs of one script."""
        found: ProbeOutput = self.module.compare(outputs)
        return found


@cache
def probes() -> Mapping[str, Probe]:
    """Every probe by name; nothing heavy is imported for it."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem != "__init__":
            module = import_module(f"traindx.monitor.probes.{path.stem}")
            title = (module.__doc__ or "").strip().partition("\n")[0].rstrip(".")
            found[path.stem] = Probe(path.stem, title, module)
    return found


def probe_named(name: str) -> Probe:
    """The probe of that name, with or without `probe_`; raises `UnknownName`."""
    wanted = name.removeprefix(PREFIX).replace("-", "_")
    if wanted not in probes():
        raise UnknownName("probe", name, probes())
    return probes()[wanted]


def measured(meaning: str) -> SignalKind:
    """What a signal of a probe means."""
    return SignalKind(f"measured: {meaning}")


def proven(meaning: str) -> SignalKind:
    """A signal that shows a fault of the program itself."""
    return SignalKind(f"measured: {meaning}", proof=True)


def finding(name: str, claim: str, places: list[Citation] | None = None, **facts: Fact) -> Signal:
    """A signal of a probe."""
    return Signal(id=name, claim=claim, citations=places or [], facts=facts)
