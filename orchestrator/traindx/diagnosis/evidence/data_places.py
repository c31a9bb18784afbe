"""Opening places in binary data again: an array by its name, a column of a table that has no lines, a file's bytes."""

from __future__ import annotations

import re

from traindx.contract import Citation
from traindx.diagnosis.evidence.numbers import Known, values_in
from traindx.diagnosis.evidence.verify import Opened
from traindx.readers import Run
from traindx.readers.tables.pictures import fingerprint

_CONTENTS = "contents"
_ARRAY = re.compile(r"array(?: `?([^`,]+)`?)?$")
_COLUMN = re.compile(r"column `?([^`]+)`?$")


def is_in_data(citation: Citation) -> bool:
    """Whether a citation names an array, a column or the contents of a file."""
    return citation.locator == _CONTENTS or bool(_ARRAY.match(citation.locator) or _COLUMN.match(citation.locator))


def in_data(citation: Citation, run: Run) -> tuple[Opened, Known]:
    """Whether the array or the column measures what the quote says."""
    if citation.locator == _CONTENTS:
        with run.scope.open(citation.source) as handle:
            same = fingerprint(handle) == citation.quote
        return Opened(verified=same, why="" if same else "it holds other bytes", refuted=not same), Known()
    array, column = _ARRAY.match(citation.locator), _COLUMN.match(citation.locator)
    if array:
        told = [row.described for row in run.arrays if row.path == citation.source and row.member == (array[1] or "")]
    else:
        name = column[1] if column else ""
        columns = [one for row in run.tables if row.path == citation.source for one in row.columns]
        told = [one.described for one in columns if one.name == name]
    if not told:
        return Opened(verified=False, why=f"`{citation.source}` has no {citation.locator}", refuted=True), Known()
    known = Known(values_in(told[0].replace(",", " ")))
    if citation.quote.strip() == told[0]:
        return Opened(verified=True), known
    return Opened(verified=False, why=f"it measures {told[0]}", refuted=True), known
