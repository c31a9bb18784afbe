"""The probe that would settle what a diagnosis leaves open, with the command for this run's own script."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from traindx.contract import LIKELY, SETTLED, ContextPackage, Diagnosis, Signal
from traindx.monitor.probing.declaration import Probe, probes
from traindx.vocabulary.probe_results import file_name

MOST = 2
ENTRY, LOOP = "entry-point", "training-loop"


def with_probes(diagnosis: Diagnosis, context: ContextPackage, signals: Sequence[Signal], root: Path) -> Diagnosis:
    """The diagnosis with the probes that would decide between its causes, where they are open and code is at hand."""
    script = _script(context)
    if not _is_open(diagnosis) or script is None:
        return diagnosis
    answered = {signal.id for signal in signals}
    open_ones = [cause.id for cause in diagnosis.root_causes]
    found = []
    for probe in probes().values():
        settles = [name for name in open_ones if name in probe.settles]
        asked_about = diagnosis.status == "needs_more_data" and diagnosis.request.kind in probe.asked_about
        if (settles or asked_about) and not answered & set(probe.signals):
            rank = -1 if asked_about else open_ones.index(settles[0])
            found.append((rank, _question(probe, settles, root, script)))
    asked = [text for _, text in sorted(found)[:MOST]]
    return diagnosis.model_copy(update={"questions": [*asked, *diagnosis.questions]}) if asked else diagnosis


def _is_open(diagnosis: Diagnosis) -> bool:
    """Whether nothing is settled, or two causes are both likely."""
    causes = diagnosis.root_causes
    if diagnosis.status == "healthy":
        return False
    rivals = len(causes) > 1 and causes[1].confidence >= LIKELY
    return diagnosis.status == "needs_more_data" or not causes or causes[0].confidence < SETTLED or rivals


def _script(context: ContextPackage) -> str | None:
    """The program that trains, where the code uses torch and one stands out."""
    if "torch" not in context.traits:
        return None
    scripts = [row for row in context.code if ENTRY in row.roles and row.path.endswith(".py")]
    return next((row.path for row in sorted(scripts, key=lambda row: LOOP not in row.roles)), None)


def _question(probe: Probe, settles: Sequence[str], root: Path, script: str) -> str:
    names = " or ".join(f"`{name}`" for name in settles)
    does = f"settle {names}" if names else f"tell {probe.title[:1].lower()}{probe.title[1:]}"
    kept = _typed(root / file_name(probe.name))
    command = f"traindx probe {probe.name} --script {_typed(root / script)} --output {kept}"
    return f"A short run of your script would {does}: `{command}`"


def _typed(path: Path) -> str:
    """A path as one would type it from here."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if here in path.parents else path))
