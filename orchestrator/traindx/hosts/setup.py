"""Entering the server and the skill into the hosts of a machine, and taking them out again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from traindx.definitions.content import ROOT
from traindx.errors import TraindxError, UnknownName
from traindx.hosts import known
from traindx.hosts.copies import copied
from traindx.hosts.machine import Machine
from traindx.hosts.steps import RemovedFolder, Step

SKILL = Path("skills") / "ml-training-debugger"
SHARED_SKILLS = ".agents/skills"
"""the folder of the user's skills that Codex, Cursor, Gemini CLI and VS Code all read"""


class Host(Protocol):
    """A module in `known/`, or the `HOST` of one."""

    @property
    def TITLE(self) -> str: ...  # noqa: D102, N802 - each says it; a constant of a module
    @property
    def SKILLS(self) -> bool: ...  # noqa: D102, N802

    def found(self, machine: Machine) -> str: ...  # noqa: D102 - each module says it
    def entered(self, machine: Machine) -> list[Step]: ...  # noqa: D102
    def removed(self, machine: Machine) -> list[Step]: ...  # noqa: D102


@dataclass(frozen=True)
class Planned:
    """What will be done for one host; `where` is empty for a host that is not on this machine."""

    title: str
    where: str
    steps: list[Step]
    problem: str = ""
    """why nothing can be done for it"""


@cache
def hosts() -> dict[str, Host]:
    """Every host that we know, by the name that `--host` takes."""
    folder = Path(known.__file__).parent
    return {
        path.stem.replace("_", "-"): _host(import_module(f"{known.__name__}.{path.stem}"))
        for path in sorted(folder.glob("[!_]*.py"))
    }


def _host(module: object) -> Host:
    return cast("Host", getattr(module, "HOST", module))


def plan(machine: Machine, wanted: Collection[str] = (), *, remove: bool = False) -> list[Planned]:
    """What entering (or removing) takes, host by host, then the skill that several of them share."""
    for name in wanted:
        if name not in hosts():
            raise UnknownName("host", name, hosts())
    rows: list[Planned] = []
    sharing = False
    for name, host in hosts().items():
        where = host.found(machine)
        if wanted and name not in wanted:
            continue
        rows.append(_planned(host, machine, where, remove=remove))
        sharing = sharing or (host.SKILLS and bool(where))
    target = machine.home / SHARED_SKILLS / SKILL.name
    if remove and not wanted:
        gone: list[Step] = [RemovedFolder(target)] if target.is_dir() else []
        rows.append(Planned("Skill", str(target) if gone else "", gone))
    elif sharing and not remove:
        rows.append(Planned("Skill", str(target), copied(ROOT / SKILL, target)))
    return rows


def _planned(host: Host, machine: Machine, where: str, *, remove: bool) -> Planned:
    try:
        # What was entered is taken out also where the host itself is gone by now.
        steps = host.removed(machine) if remove else host.entered(machine) if where else []
    except TraindxError as error:
        return Planned(host.TITLE, where, [], str(error))
    return Planned(host.TITLE, where or ("its settings" if steps else ""), steps)
