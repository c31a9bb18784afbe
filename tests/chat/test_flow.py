"""Markdown in lines that fit, whole or in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.chat.flow import Flow, fenced, unwrapped
from traindx.report.render import Page

TEXT = """## A heading
Words that go on and on until the line is full, and then go on in the next one with no word lost.

- an item that is long enough to need a second line, which hangs under its first word
1. one

```diff
-    lr: 0.4
+    lr: 0.015 and a line of code that is longer than the page is wide, and stays whole
```
| a | table |
the end"""


def drawn(pieces: list[str], width: int = 40, *, color: bool = False) -> str:
    written: list[str] = []
    flow = Flow(written.append, Page(width=width, color=color))
    for piece in pieces:
        flow.feed(piece)
    flow.end()
    return "".join(written)


def test_prose_is_wrapped_and_code_is_not() -> None:
    lines = drawn([TEXT]).split("\n")
    assert lines[0] == "A heading"
    assert "  -    lr: 0.4" in lines
    assert "  second line, which hangs under its" in lines
    assert max(len(line) for line in lines if "lr:" not in line) <= 40
    assert "```" not in "".join(lines)


def test_no_colour_unless_asked_for() -> None:
    assert "\x1b" not in drawn([TEXT])
    assert "\x1b[31m" in drawn([TEXT], color=True)


def test_a_log_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in drawn(["say \x1b[2J\x07 this\n```\n\x1b]0;x\x07\n```"])


@settings(max_examples=examples(200))
@given(st.lists(st.integers(0, len(TEXT)), max_size=30))
def test_pieces_come_out_like_the_whole(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[start:end] for start, end in pairwise(places)]
    assert drawn(pieces) == drawn([TEXT])


@pytest.mark.parametrize("text", ["a ``` b", "````", "plain"])
def test_a_fence_holds_whatever_is_in_it(text: str) -> None:
    assert drawn([fenced(text), "\nafter"]) == f"  {text}\nafter\n"


def test_paragraphs_are_joined_and_code_is_kept() -> None:
    assert unwrapped("one\ntwo\n\n- a\n  b\n- c\n\n```\nx\ny\n```\nz") == "one two\n\n- a b\n- c\n\n```\nx\ny\n```\nz"
