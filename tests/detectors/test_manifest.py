"""Where the data that a log names is listed, and what changes in that list."""

from __future__ import annotations

import json

import pytest

from traindx.detectors.curves.manifest import listed
from traindx.readers.model import Excerpt


def _text(name: str, body: str) -> Excerpt:
    lines = tuple(body.split("\n"))
    return Excerpt(name, 1, len(lines), lines)


def _sources(count: int, switch: int) -> list[dict[str, object]]:
    return [
        {"path": f"web/part-{n:03d}.bin", "rows": 1000 + n, "vocabulary": "v1" if n < switch else "v2"}
        for n in range(count)
    ]


def _places(line: str, text: Excerpt) -> list[str]:
    return [text.lines[int(place.locator.removeprefix("line ")) - 1].strip() for place in listed(line, [text])]


def test_a_field_that_changes_with_the_entry_is_found() -> None:
    text = _text("data.json", json.dumps({"sources": _sources(20, 9)}, indent=2))
    assert _places("now reading web/part-009.bin", text) == ['"vocabulary": "v2"', '"path": "web/part-009.bin",']


def test_in_a_yaml_list_as_well() -> None:
    rows = "\n".join(
        f"- path: web/part-{n:03d}.bin\n  rows: {1000 + n}\n  lang: {'en' if n < 9 else 'de'}" for n in range(20)
    )
    text = _text("data.yaml", f"sources:\n{rows}\n")
    assert _places("switched to web/part-009.bin", text) == ["lang: de", "- path: web/part-009.bin"]


@pytest.mark.parametrize("line", ["step 900: next shard", "loss 2.31 at 12:30:01", "reading web/part-777.bin"])
def test_what_is_not_listed_is_not_cited(line: str) -> None:
    assert listed(line, [_text("data.json", json.dumps({"sources": _sources(20, 9)}, indent=2))]) == []


def test_an_entry_like_those_before_is_cited_alone() -> None:
    text = _text("data.json", json.dumps({"sources": _sources(20, 9)}, indent=2))
    assert _places("now reading web/part-005.bin", text) == ['"path": "web/part-005.bin",']


def test_a_plain_list_of_files() -> None:
    text = _text("shards.txt", "\n".join(f"train/shard_{n:02d}.tar" for n in range(30)))
    assert _places("opening train/shard_12.tar", text) == ["train/shard_12.tar"]
