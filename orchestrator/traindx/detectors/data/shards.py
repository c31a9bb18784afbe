"""Parts of one data set that do not fit each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.data.places import array_name, cite_array
from traindx.readers.model import RunFile
from traindx.readers.tables.arrays import ArrayInfo
from traindx.vocabulary.data_names import stem_of

SIGNALS = {
    "shards-differ": "one of many files of a data set has another shape or type than the rest",
    "shards-empty": "some files of a data set are empty, the others like them are not",
}
FEWEST = 3
MOST_ODD = 0.34
"""share of the files that may differ and still be called odd"""


def detect(arrays: Sequence[ArrayInfo]) -> list[Signal]:
    """The files whose shape (the number of rows aside) or type is not that of the others."""
    groups: dict[tuple[str, str], list[ArrayInfo]] = {}
    for array in arrays:
        if not array.pickled and not array.problem:
            groups.setdefault((stem_of(array.path), array.member), []).append(array)
    for rows in groups.values():
        if len(rows) < FEWEST:
            continue
        usual, times = Counter(map(_form, rows)).most_common(1)[0]
        odd = [row for row in rows if _form(row) != usual]
        if not odd or len(odd) > MOST_ODD * len(rows):
            continue
        like = next(row for row in rows if _form(row) == usual)
        claim = (
            f"{array_name(odd[0])} is {odd[0].dtype} {odd[0].shape},"
            f" {times} others like it are {like.dtype} {like.shape}"
        )
        facts: dict[str, Fact] = {"shard": array_name(odd[0]), "shard_form": f"{odd[0].dtype} {odd[0].shape}"}
        places = [cite_array(odd[0], claim), cite_array(like, "what the others look like")]
        return [Signal(id="shards-differ", claim=claim, citations=places, facts=facts)]
    return []


def empty(files: Sequence[RunFile], arrays: Sequence[ArrayInfo]) -> list[Signal]:
    """Files without a byte, and arrays without a row, among others of the same name that have some."""
    groups: dict[str, list[RunFile]] = {}
    for file in files:
        if file.role == "data":
            groups.setdefault(stem_of(file.path), []).append(file)
    hollow = {array.path for array in arrays if array.shape and array.shape[0] == 0}
    for rows in groups.values():
        blank = [file for file in rows if not file.size or file.path in hollow]
        if len(rows) < FEWEST or not blank or len(blank) == len(rows):
            continue
        names = ", ".join(file.path for file in blank[:4])
        claim = f"{len(blank)} of {len(rows)} files like {blank[0].path} are empty ({names})"
        facts: dict[str, Fact] = {"constant_what": names, "empty_files": len(blank), "of_files": len(rows)}
        array = next((one for one in arrays if one.path == blank[0].path), None)
        place = cite_array(array, claim) if array is not None else Citation(claim=claim, source=blank[0].path)
        return [Signal(id="shards-empty", claim=claim, citations=[place], facts=facts)]
    return []


def _form(array: ArrayInfo) -> tuple[object, ...]:
    """What has to be the same in every file; the first dimension may count samples."""
    return array.dtype, len(array.shape), array.shape[1:]
