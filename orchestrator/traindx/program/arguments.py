"""What a program hands to optimizers, schedulers, clipping and loaders, as settings: values that came through
dictionaries, helpers and configuration objects are known here, where the source alone shows only names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.contract import Fact
from traindx.program.analysis import Analysis
from traindx.program.queries import class_of
from traindx.program.trace import Event
from traindx.program.values import Items, Made, Plain
from traindx.readers.code.literals import POSITIONAL
from traindx.readers.model import Setting

_TOLD = {"optimizer", "scheduler", "loader", "clip", "penalty", "optax"}


def arguments(analyses: Sequence[Analysis], known: Sequence[Setting]) -> list[Setting]:
    """The arguments that the source does not show as literals, each at the place that sets it."""
    there = {(row.key, row.value) for row in known}
    found: dict[tuple[str, Fact], Setting] = {}
    for analysis in analyses:
        for event in analysis.trace.of(*_TOLD):
            for key, value in _of_event(event):
                if (key, value.value) not in there and _is_settled(value):
                    found.setdefault((key, _fact(value)), _row(event, key, value, known))
    return list(found.values())


def _of_event(event: Event) -> Iterator[tuple[str, Plain]]:
    subject = event.subject
    if event.kind == "clip":
        name, argument = (
            ("clip_grad_value_", "clip_value") if event.facts.get("by") == "value" else ("clip_grad_norm_", "max_norm")
        )
        yield from _flat(f"{name}.{argument}", event.facts.get("threshold"))
        return
    if not isinstance(subject, Made):
        return
    if event.kind == "optax":
        for argument, value in zip(event.facts["names"], subject.args, strict=False):
            yield from _flat(f"{event.facts['name']}.{argument}", value)
        for argument, value in subject.keywords.items():
            yield from _flat(f"{event.facts['name']}.{'lr' if argument == 'learning_rate' else argument}", value)
        return
    if event.kind == "penalty":
        name = subject.kind.partition(" ")[2]
        yield from _flat(f"kernel_regularizer.{name}", subject.argument(0, name))
        return
    name = "DataLoader" if event.kind == "loader" else class_of(subject)
    for argument, value in zip(POSITIONAL.get(name, ()), subject.args, strict=False):
        yield from _flat(f"{name}.{argument}", value)
    for argument, value in subject.keywords.items():
        yield from _flat(f"{name}.{argument}", value)


def _flat(key: str, value: object) -> Iterator[tuple[str, Plain]]:
    if isinstance(value, Plain):
        yield key, value
    elif isinstance(value, Items) and not value.more:
        for at, part in enumerate(value.items[:20]):
            yield from _flat(f"{key}[{at}]", part)


def _is_settled(value: Plain) -> bool:
    return isinstance(value.value, int | float | str | bool) and value.sure != "varies"


def _fact(value: Plain) -> Fact:
    return value.value if isinstance(value.value, int | float | str | bool) else ""


def _row(event: Event, key: str, value: Plain, known: Sequence[Setting]) -> Setting:
    """A setting at the line that gives the value its name, where there is exactly one such line, else at the call."""
    names = {_plain(key), _plain(value.name)} - {""}
    rows = [row for row in known if row.value == value.value and _plain(row.key) in names]
    places = {(row.source, row.line) for row in rows}
    if len(places) == 1:
        return Setting(key, _fact(value), rows[0].source, rows[0].line, coded=rows[0].coded)
    unit = event.place.unit
    return Setting(key, _fact(value), unit.path, unit.file_line(event.place.line), coded=True)


def _plain(name: str) -> str:
    return name.rsplit(".", 1)[-1].lower().replace("_", "").replace("-", "")
