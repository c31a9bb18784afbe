"""Which of the places that set a value won: the command line, then a configuration, then a default in the code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from traindx.contract import ConfigValue, ContextPackage, Fact
from traindx.diagnosis.changes.declared import Change, Companion
from traindx.readers.model import is_program, is_shell
from traindx.vocabulary.settings import GROUPS, plain, rank_in

# What a library writes when a run starts (`args.yaml`: Ultralytics, timm): changing it changes nothing.
_RECORDS = re.compile(
    r"(?:^|/)(?:wandb|mlruns|lightning_logs|\.hydra|multirun|tb_logs|runs|trackio|\.?aim|neptune|sacred|outputs?|results?"
    r"|checkpoints?|ckpts?)/|(?:^|/)(?:hparams\.yaml|args\.yaml|trainer_state\.json|cout\.txt|run\.json)$"
)
NOT_FOUND = "where"
"""how the reason begins where no file has such a name"""
_CALL = re.compile(r"^[A-Z]\w*\.")


@dataclass(frozen=True)
class Chosen:
    """The place to change, and those that it overrules."""

    row: ConfigValue
    overruled: tuple[ConfigValue, ...] = ()


class Unknown(LookupError):
    """Nothing can be changed, and why."""


def choose(change: Companion, context: ContextPackage, facts: Mapping[str, Fact]) -> Chosen:
    """The place that sets the value that ran; raises `Unknown` where there is none, or no telling which."""
    if isinstance(change, Change) and change.present and change.present not in facts:
        raise Unknown("")
    # A place that a tool has found counts whatever the setting is called there: `restarts.peaks[2]`.
    found = list(_at_known_place(change, context, facts))
    rows = [row for row in context.settings if _is(row, change.setting) and not isinstance(row.value, str)]
    rows += [row for row in context.settings if _is(row, change.setting) and isinstance(row.value, str)]
    told = [row for row in rows if _floor(row, context) is None]
    editable = [row for row in rows if row not in told]
    # What the program writes down itself steers nothing, as long as something else does.
    steering = [row for row in editable if row.source not in context.records]
    recorded = bool(found and found[0].source in context.records and steering)
    pool = (found if not recorded else []) or steering or editable or _in_a_table(change, context, facts)
    if not pool:
        raise Unknown(_nowhere(change, told))
    if (
        found and not recorded and _floor(found[0], context) is None
    ):  # what was logged or recorded: who sets the same value?
        same = [row for row in context.settings if _same(row.value, found[0].value) and _floor(row, context)]
        pool = [row for row in same if plain(row.key) == plain(found[0].key) or _is(row, change.setting)]
        told = [*found, *told]
    ran = {row.value for row in told}
    if len(ran) == 1 and not found:
        pool = [row for row in pool if _same(row.value, told[0].value)]
    if not pool:
        raise Unknown(_elsewhere(told[0], editable))
    present = facts.get(change.present) if isinstance(change, Change) else None
    if present is not None and any(_same(row.value, present) for row in pool):
        pool = [row for row in pool if _same(row.value, present)]
    return _won(pool, rows, context, change.setting)


def _in_a_table(change: Companion, context: ContextPackage, facts: Mapping[str, Fact]) -> list[ConfigValue]:
    """The one value below a name of the setting that is the present one: `lr.values[2]`, `lr_table.12`."""
    present = facts.get(change.present) if isinstance(change, Change) else None
    if present is None or isinstance(present, str | bool):
        return []
    rows = [row for row in context.settings if _floor(row, context) and not isinstance(row.value, str | bool)]
    same = [row for row in rows if _same(row.value, present) and set(_words(row.key)) & set(GROUPS[change.setting])]
    return same if len(same) == 1 else []


def _words(key: str) -> Iterator[str]:
    """The parts of a key, and the words that they are made of."""
    for part in re.split(r"[.\[\]]+", key.lower()):
        yield part
        yield from part.split("_")


def _won(pool: Sequence[ConfigValue], rows: Sequence[ConfigValue], context: ContextPackage, setting: str) -> Chosen:
    floor = min(_floor(row, context) or 0 for row in pool)
    here = [row for row in pool if _floor(row, context) == floor]
    here.sort(key=lambda row: (*_preference(row, setting), row.source.count("/"), row.source, row.line))
    best = [row for row in here if _preference(row, setting) == _preference(here[0], setting)]
    if any(not _same(row.value, best[0].value) for row in best):
        places = ", ".join(f"{row.value} at {row.source}:{row.line}" for row in best[:4])
        name = best[0].key.rsplit(".", 1)[-1]
        raise Unknown(f"`{name}` is set more than once ({places}), and which one to change is not known")
    below = [row for row in rows if (_floor(row, context) or 0) > floor and plain(row.key) == plain(best[0].key)]
    return Chosen(best[0], tuple(below))


def _preference(row: ConfigValue, setting: str) -> tuple[int, int]:
    """In code, what is given to an optimizer comes before a constant; then the plainest name."""
    called = 0 if not is_program(row.source) or _CALL.match(row.key) else 1
    return called, rank_in(row.key, setting) or 0


def _at_known_place(change: Companion, context: ContextPackage, facts: Mapping[str, Fact]) -> Iterator[ConfigValue]:
    place = facts.get(change.place) if isinstance(change, Change) and change.place else None
    source, _, line = str(place or "").rpartition(":")
    here = [row for row in context.settings if row.source == source and str(row.line) == line]
    present = facts.get(change.present) if isinstance(change, Change) else None
    # One line may hold a whole configuration.
    exact = [row for row in here if present is not None and _same(row.value, present)] or here
    named = [row for row in exact if _is(row, change.setting)] or (exact if len(exact) == 1 else [])
    yield from named[:1]


def _floor(row: ConfigValue, context: ContextPackage) -> int | None:
    """1 for a command line, 2 for a configuration, 3 for a default in the code; None for what only tells of a value."""
    if is_shell(row.source):
        return 1
    if is_program(row.source):
        return 3
    return 2 if row.source in context.artifacts.config and not _RECORDS.search(row.source) else None


def _is(row: ConfigValue, setting: str) -> bool:
    return rank_in(row.key, setting) is not None


def _same(one: Fact, other: Fact) -> bool:
    if any(isinstance(value, bool | str) for value in (one, other)):
        return one == other
    return math.isclose(float(one), float(other), rel_tol=0.02)


def _nowhere(change: Companion, told: Sequence[ConfigValue]) -> str:
    if told:
        return _elsewhere(told[0], [])
    names = ", ".join(f"`{name}`" for name in GROUPS[change.setting][:3])
    return f"{NOT_FOUND} {names} or the like is set was not found in this folder"


def _elsewhere(told: ConfigValue, editable: Sequence[ConfigValue]) -> str:
    name = told.key.rsplit(".", 1)[-1]
    said = f"`{name}` was {told.value} in the run ({told.source}:{told.line}), and no file of this folder sets that"
    others = ", ".join(f"{row.source}:{row.line} says {row.value}" for row in editable[:2])
    return f"{said}: {others}" if others else said
