"""The same samples in training and in validation data."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data.places import cite_cell, has_lines
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.readers.tables.samples import Samples
from traindx.vocabulary.data_names import split_of

SIGNALS = {
    "splits-share-rows": "rows of the validation data are in the training data as well",
    "splits-share-groups": "persons of the validation data are in the training data as well, with other rows",
}
FEWEST_GROUPS = 5
ROWS_OF_ONE = 3
"""rows of a person from which on they are many of one"""
LEAST_GROUPS = 0.5
LEAST = 0.03
"""share of the validation rows from which it is no accident"""
FEWEST = 20
LEAST_INPUTS = 0.1
FEWEST_INPUTS = 10
"""shared inputs: short ones may meet by chance"""
WIDE = 40
"""bytes of a row that does not come twice by chance"""
NARROWEST = 10
"""bytes of a row: shorter ones repeat by chance"""


def detect(samples: Sequence[Samples], arrays: Sequence[ArrayInfo], tables: Sequence[TableInfo] = ()) -> list[Signal]:
    """The pair of files of which most rows are shared."""
    seen = [row for row in samples if row.prints.rows >= FEWEST and row.width >= NARROWEST]
    trains = [row for row in seen if split_of(f"{row.path}/{row.member}" if row.member else row.path) == "train"]
    held = [row for row in seen if split_of(f"{row.path}/{row.member}" if row.member else row.path) == "val"]
    pairs = [(share, lines, train, val) for train in trains for val in held for share, lines in [_shared(train, val)]]
    if not pairs:
        return _by_groups(tables)
    share, lines, train, val = max(pairs, key=lambda pair: pair[0])
    if share < LEAST:
        return _by_inputs(trains, held, arrays, tables) or _by_groups(tables)
    # Where short rows repeat within one file as well, the data has few different rows; long ones were copied.
    repeats = max(row.prints.again / max(1, len(row.prints.kept) + row.prints.again) for row in (train, val))
    if share < LEAST or len(lines) < 3 or (repeats > 0.3 * share and train.width < WIDE):
        return []
    claim = f"{share:.0%} of the rows of {_name(val)} are in {_name(train)} as well"
    here, there = lines[0]
    places = [_cite(val, here, claim, arrays, tables)]
    places.append(_cite(train, there, "the same row in the training data", arrays, tables))
    facts: dict[str, Fact] = {"shared_share": f"{share:.0%}", "shared_val": _name(val), "shared_train": _name(train)}
    strength = min(1.0, 0.5 + 2 * share)
    return [Signal(id="splits-share-rows", claim=claim, strength=strength, citations=places, facts=facts)]


def _by_inputs(
    trains: Sequence[Samples], held: Sequence[Samples], arrays: Sequence[ArrayInfo], tables: Sequence[TableInfo]
) -> list[Signal]:
    """The same inputs under other ids; inputs that repeat within a file as well are few, and prove nothing."""
    for train in trains:
        for val in held:
            lines = val.inputs.shared_with(train.inputs)
            share = len(lines) / max(1, val.inputs.comparable(train.inputs))
            repeats = max(row.inputs.again / max(1, row.inputs.rows) for row in (train, val))
            narrow = min(train.input_width, val.input_width) < NARROWEST
            if narrow or share < LEAST_INPUTS or len(lines) < FEWEST_INPUTS or repeats > 0.3 * share:
                continue
            claim = f"{share:.0%} of the inputs of {_name(val)} are in {_name(train)} as well, under other ids"
            here, there = lines[0]
            places = [_cite(val, here, claim, arrays, tables)]
            places.append(_cite(train, there, "the same input in the training data", arrays, tables))
            facts: dict[str, Fact] = {
                "shared_share": f"{share:.0%}",
                "shared_val": _name(val),
                "shared_train": _name(train),
            }
            strength = min(1.0, 0.5 + 2 * share)
            return [Signal(id="splits-share-rows", claim=claim, strength=strength, citations=places, facts=facts)]
    return []


def _by_groups(tables: Sequence[TableInfo]) -> list[Signal]:
    """Persons whose rows stand on both sides of the split: what was learned of one helps with the others."""
    sides = [(split_of(table.path), table, column) for table in tables for column in table.columns if column.members]
    for _, train, known in (side for side in sides if side[0] == "train"):
        for _, val, asked in (side for side in sides if side[0] == "val"):
            both = asked.members & known.members
            many = all(table.rows >= ROWS_OF_ONE * len(one.members) for table, one in ((train, known), (val, asked)))
            few = len(asked.members) < FEWEST_GROUPS or len(both) < LEAST_GROUPS * len(asked.members)
            if known.name != asked.name or few or not many:
                continue
            claim = (
                f"{len(both)} of the {len(asked.members)} values of `{asked.name}` in {val.path} are in {train.path}"
            )
            places = [cite_cell(table, one, 2, claim) for table, one in ((val, asked), (train, known))]
            facts: dict[str, Fact] = {"group": asked.name, "shared_groups": len(both), "groups": len(asked.members)}
            facts |= {"shared_val": val.path, "shared_train": train.path}
            return [Signal(id="splits-share-groups", claim=claim, citations=places, facts=facts)]
    return []


def _shared(train: Samples, val: Samples) -> tuple[float, list[tuple[int, int]]]:
    lines = val.prints.shared_with(train.prints)
    return len(lines) / max(1, val.prints.comparable(train.prints)), lines


def _name(row: Samples) -> str:
    return f"{row.path}[{row.member}]" if row.member else row.path


def _cite(row: Samples, line: int, claim: str, arrays: Sequence[ArrayInfo], tables: Sequence[TableInfo]) -> Citation:
    table = next((info for info in tables if info.path == row.path and not has_lines(info)), None)
    if table is not None:
        return cite_cell(table, table.columns[0], None, f"{claim} (row {line})")
    array = next((info for info in arrays if (info.path, info.member) == (row.path, row.member)), None)
    if array is None:
        return cite_line(row.path, line, claim)
    locator = f"array {row.member}" if row.member else "array"
    return Citation(claim=f"{claim} (row {line})", source=row.path, locator=locator, quote=array.described)
