"""Which tools to call, and in which order, for this request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from traindx.contract import ContextPackage
from traindx.diagnosis.catalog import Catalog
from traindx.runtime import ToolSpec


@dataclass(frozen=True)
class Plan:
    """The calls to make, and the tools left aside with the reason."""

    tools: tuple[str, ...]
    skipped: tuple[str, ...]


def plan(specs: Mapping[str, ToolSpec], catalog: Catalog, context: ContextPackage) -> Plan:
    """Every tool whose signals the catalog weighs, whose needs this run can meet and that needs no input, most telling
    first; the project's own tools are no exception.
    """
    useful = {name: _worth(spec, catalog) for name, spec in sorted(specs.items()) if not spec.required}
    tools, skipped = [], []
    for name in sorted(useful, key=lambda name: (-useful[name], name)):
        if not useful[name]:
            continue
        lacking = lacks(specs[name], context)
        if lacking:
            skipped.append(f"`{name}` was not called: this run has no {' and no '.join(lacking)}")
        else:
            tools.append(name)
    return Plan(tuple(tools), tuple(skipped))


def lacks(spec: ToolSpec, context: ContextPackage) -> list[str]:
    """What a tool needs, where this run has none of it; empty where the tool has something to look at."""
    lacking = [need for need in spec.needs if not _offers(context, need)]
    return lacking if len(lacking) == len(spec.needs) else []


def _worth(spec: ToolSpec, catalog: Catalog) -> int:
    """How often the tool's signals speak for or against a hypothesis."""
    return sum(signal in spec.emits for one in catalog.hypotheses for signal, _, _ in one.weighed())


def _offers(context: ContextPackage, need: str) -> bool:
    offered: dict[str, object] = {
        "files": context.artifacts,
        "series": context.series,
        "settings": context.settings,
        "errors": context.errors,
        "code": context.artifacts.model_code,
        "checkpoints": context.artifacts.checkpoints,
        "probes": context.artifacts.probes,
    }
    return bool(offered.get(need))
