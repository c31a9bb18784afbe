"""Every folder of `tests/formats` is a format: `files/` as a writer left them, `expected.yaml` what they hold.

`expected.yaml` names series (`source`, `name`, `axis`, `points`, `first`, `last`, `at`: pairs of place and value;
`original` where a file has two of a name, `any_of` where one of several will do), `settings`, `errors` and `remarks`
(parts of what is said). A series that is not read rightly yet says so in its `wrong_today`: the test then insists that
it is still wrong, so that the mark goes when the reader is mended. Beside `series` the mark is for everything else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from traindx.readers import Run, Scope, Series

FORMATS = Path(__file__).parent.parent / "formats"
SAMPLES = sorted(path.parent.name for path in FORMATS.glob("*/expected.yaml"))
_MEASURED = ("/loss", "/accuracy")
Expected = dict[str, Any]


class _Sample:
    """What the readers find in a sample, and what they should."""

    def __init__(self, name: str) -> None:
        self.expected: Expected = yaml.safe_load((FORMATS / name / "expected.yaml").read_text(encoding="utf-8"))
        files = FORMATS / name / "files"
        run = Run(Scope.of(files))
        self.series, self.settings = run.series, run.settings
        self.errors = [log_error.text for log_error in run.errors]
        self.remarks = run.remarks

    def troubles(self) -> list[str]:
        """Everything that is not as expected."""
        wanted = self.expected.get("series", [])
        found = []
        for one in wanted:
            if "wrong_today" not in one:
                found += self.differences(one)
            elif not self.differences(one):
                found.append(f"{one['name']} in {one['source']} is read rightly now: take its `wrong_today` away")
        named = {(one["source"], one["name"]) for one in wanted}
        found += [
            f"unexpected {series.name} in {series.source}: {series.values[:5]}"
            for series in self.series
            if series.name.endswith(_MEASURED) and (series.source, series.name) not in named
        ]
        return found + self._other_troubles()

    def _other_troubles(self) -> list[str]:
        found = []
        known = {setting.key: setting.value for setting in self.settings}
        for key, value in self.expected.get("settings", {}).items():
            if known.get(key) != value:
                found.append(f"setting {key} is {known.get(key)!r}, not {value!r}")
        for kind, texts in (("errors", self.errors), ("remarks", self.remarks)):
            found += [
                f"{kind} do not say {part!r}: {texts}"
                for part in self.expected.get(kind, [])
                if not any(part in text for text in texts)
            ]
        if "wrong_today" not in self.expected:
            return found
        return [] if found else ["settings, errors and remarks are right now: take the sample's `wrong_today` away"]

    def differences(self, wanted: Expected) -> list[str]:
        """In what a series is not as expected."""
        candidates = [
            series
            for series in self.series
            if (series.source, series.name) == (wanted["source"], wanted["name"])
            and series.original == wanted.get("original", series.original)
        ]
        what = f"{wanted['name']} in {wanted['source']}"
        if not candidates or (len(candidates) > 1 and not wanted.get("any_of")):
            here = [f"{s.name} ({s.original})" for s in self.series if s.source == wanted["source"]]
            return [f"{what}: found {len(candidates)} times among {here}"]
        compared = [_differences(what, wanted, series) for series in candidates]
        return min(compared, key=len)


def _differences(what: str, wanted: Expected, series: Series) -> list[str]:
    found = []
    if series.axis != wanted["axis"]:
        found.append(f"{what}: by {series.axis}, not by {wanted['axis']}")
    if len(series) != wanted.get("points", len(series)):
        found.append(f"{what}: {len(series)} points, not {wanted['points']}")
    ends = [
        (name, wanted[name], series.values[place]) for name, place in (("first", 0), ("last", -1)) if name in wanted
    ]
    found += [f"{what}: {name} is {got}, not {value}" for name, value, got in ends if not _same(got, value)]
    for at, value in wanted.get("at", []):
        got = series.values[np.isclose(series.at, at)]
        if not any(_same(one, value) for one in got):
            found.append(f"{what}: at {at} there is {got}, not {value}; places are {series.at[:6]}")
    if list(series.restarts) != wanted.get("restarts", list(series.restarts)):
        found.append(f"{what}: restarts at {series.restarts}, not {wanted['restarts']}")
    return found


def _same(got: float, wanted: float) -> bool:
    # Event files hold single precision: seven digits.
    return bool(np.isclose(got, wanted, rtol=1e-6, atol=0, equal_nan=True))


@pytest.mark.parametrize("name", SAMPLES)
def test_format(name: str) -> None:
    sample = _Sample(name)
    troubles = sample.troubles()
    assert not troubles, "\n".join(troubles)
    marked = [one for one in [sample.expected, *sample.expected["series"]] if "wrong_today" in one]
    if marked:
        pytest.xfail("; ".join(f"{one.get('source', name)}: {one['wrong_today']}" for one in marked))


def test_samples_are_small_and_name_no_machine() -> None:
    for path in (path for name in SAMPLES for path in (FORMATS / name / "files").rglob("*") if path.is_file()):
        raw = path.read_bytes()
        assert len(raw) < 60_000, path
        assert not any(mark in raw for mark in (b"/tmp/", b"/root", b"@gmail")), path
