"""Packages, builds and drivers that do not fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.model import Excerpt, Setting
from traindx.readers.quoting import quote_of
from traindx.vocabulary.versions import (
    NUMPY_2,
    PYTHON_NEEDS_TORCH,
    Version,
    audio_for,
    build_of,
    cuda_of,
    parse_version,
    vision_for,
)

SIGNALS = {
    "versions-apart": "installed packages are not built for each other",
    "driver-older-than-build": "the driver serves an older CUDA than torch was built with",
    "build-without-gpu": "the installed torch is built without CUDA",
}

MOST_LINES = 600
_PREFIX = "packages."
_PINNED = re.compile(
    r"\b(torch|torchvision|torchaudio|numpy|python)\s?(?:==|[ :=]|version:?)\s?v?(\d+\.\d+(?:\.\d+)?(?:\+\w+)?)\b", re.I
)
_REPORTED = re.compile(r"\b(PyTorch|torch|Python|NumPy) version\s*[:=]\s*(\d[\w.+]*)", re.IGNORECASE)
_DRIVER = re.compile(r"\bCUDA Version:\s*(\d+)\.(\d+)\b")


@dataclass(frozen=True)
class Installed:
    """A package, its version as spelled, and where that stands."""

    name: str
    text: str
    version: Version
    place: Citation


def installed(settings: Sequence[Setting], heads: Iterable[Excerpt]) -> dict[str, Installed]:
    """What is installed: lists of packages first, then what logs print of versions."""
    found: dict[str, Installed] = {}
    for row in settings:
        version = parse_version(str(row.value)) if row.key.startswith(_PREFIX) else None
        if version is not None:
            name = row.key.removeprefix(_PREFIX)
            name = {"pytorch": "torch"}.get(name, name)
            place = cite_line(row.source, row.line, f"{name} {row.value}")
            found.setdefault(name, Installed(name, str(row.value), version, place))
    for head in heads:
        for number, line in head.numbered():
            for wanted in (_REPORTED, _PINNED) if len(line) < 1_000 else ():
                for name, text in wanted.findall(line):
                    plain = {"pytorch": "torch"}.get(name.lower(), name.lower())
                    version = parse_version(text)
                    if version is not None:
                        place = cite_line(head.source, number, f"{plain} {text}", quote_of(line))
                        found.setdefault(plain, Installed(plain, text, version, place))
    return found


def detect(known: dict[str, Installed], heads: Iterable[Excerpt]) -> list[Signal]:
    """Pairs that do not fit, a build for the CPU alone, a driver that is too old."""
    torch = known.get("torch")
    found = [*_pairs(known), *_numpy(known)]
    if torch is not None and build_of(torch.text) == "cpu":
        claim = f"torch {torch.text} is built without CUDA"
        facts: dict[str, Fact] = {"torch_build": torch.text}
        found.append(Signal(id="build-without-gpu", claim=claim, citations=[torch.place], facts=facts))
    built = cuda_of(build_of(torch.text)) if torch is not None else None
    if torch is not None and built is not None:
        found += _driver(torch, built, heads)
    return found


def _pairs(known: dict[str, Installed]) -> list[Signal]:
    torch, python = known.get("torch"), known.get("python")
    if torch is None:
        return []
    for name, wanted in (("torchvision", vision_for(torch.version)), ("torchaudio", audio_for(torch.version))):
        other = known.get(name)
        if other is not None and wanted is not None and other.version[:2] != wanted:
            fitting = ".".join(map(str, wanted))
            return [
                _apart(f"{name} {other.text} is not built for torch {torch.text}, which needs {fitting}", other, torch)
            ]
    if python is not None:
        least = PYTHON_NEEDS_TORCH.get(python.version[:2])
        if least is not None and torch.version[:2] < least:
            fitting = ".".join(map(str, least))
            claim = f"torch {torch.text} has no build for Python {python.text}, which needs torch {fitting} or later"
            return [_apart(claim, torch, python)]
    return []


def _numpy(known: dict[str, Installed]) -> list[Signal]:
    numpy = known.get("numpy")
    if numpy is None or numpy.version[0] < 2:
        return []
    for name, least in NUMPY_2.items():
        other = known.get(name)
        if other is not None and other.version < least:
            fitting = ".".join(map(str, least))
            claim = (
                f"{name} {other.text} was built for NumPy 1, and NumPy {numpy.text} is installed: it needs {fitting}"
            )
            return [_apart(claim, other, numpy)]
    return []


def _apart(claim: str, one: Installed, other: Installed) -> Signal:
    facts: dict[str, Fact] = {"versions_claim": claim, "package": one.name}
    return Signal(id="versions-apart", claim=claim, citations=[one.place, other.place], facts=facts)


def _driver(torch: Installed, built: Version, heads: Iterable[Excerpt]) -> list[Signal]:
    for head in heads:
        for number, line in head.numbered():
            told = _DRIVER.search(line)
            if told is None or "Driver" not in line:
                continue
            served = (int(told[1]), int(told[2]))
            # Within one major version a driver runs newer runtimes as well.
            if served[0] < built[0]:
                claim = (
                    f"the driver serves CUDA {told[1]}.{told[2]},"
                    f" torch {torch.text} is built with CUDA {built[0]}.{built[1]}"
                )
                place = cite_line(head.source, number, claim, quote_of(line))
                facts: dict[str, Fact] = {"found": f"CUDA {told[1]}.{told[2]}", "wanted": f"CUDA {built[0]}.{built[1]}"}
                places = [place, torch.place]
                return [Signal(id="driver-older-than-build", claim=claim, citations=places, facts=facts)]
            return []
    return []
