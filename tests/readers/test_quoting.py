"""The text of cited lines is filled in once, after a tool has returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.contract import Citation, Signal
from traindx.readers import Run, Scope
from traindx.readers.quoting import LONGEST_QUOTE, fill_quotes, quote_of
from traindx.runtime import Toolbelt, ToolOutput


def cited(folder: Path, text: str, quote: str = "", locator: str = "line 2, step 7") -> str:
    (folder / "train.log").write_text(text)
    place = Citation(claim="here", source="train.log", locator=locator, quote=quote)
    output = ToolOutput(signals=[Signal(id="a-signal", claim="there", citations=[place])])
    return fill_quotes(output, Run(Scope.of(folder))).signals[0].citations[0].quote


@pytest.mark.parametrize("quote", ["", "0.25", "-1.5e-3", "nan", "1/6", "12.5%"])
def test_a_line_replaces_the_number_it_was_known_by(tmp_path: Path, quote: str) -> None:
    assert cited(tmp_path, "first\n  step 7 loss 0.25 \n", quote) == "step 7 loss 0.25"


def test_of_a_long_line_the_number_stays(tmp_path: Path) -> None:
    text = f"first\n{'x' * 300} 0.25\n"
    assert cited(tmp_path, text, "0.25") == "0.25"
    assert cited(tmp_path, text) == "x" * LONGEST_QUOTE


def test_a_complete_quote_stays_as_it_is(tmp_path: Path) -> None:
    assert cited(tmp_path, "first\n10%\rValueError: no such thing\n", "ValueError: no such thing") == (
        "ValueError: no such thing"
    )


def test_what_is_no_line_of_a_file_is_left_alone(tmp_path: Path) -> None:
    assert cited(tmp_path, "a\nb\n", "0.5", locator="step 7 of train/loss, record 2") == "0.5"
    assert cited(tmp_path, "a\nb\n", "0.5", locator="tensor encoder.weight") == "0.5"
    assert cited(tmp_path, "a\nb\n", locator="line 99") == ""


def test_a_citation_that_leads_nowhere_does_no_harm(tmp_path: Path) -> None:
    place = Citation(claim="here", source="gone.log", locator="line 1", quote="0.5")
    output = ToolOutput(signals=[Signal(id="a-signal", claim="there", citations=[place])])
    assert fill_quotes(output, Run(Scope.of(tmp_path))) == output


def test_the_worker_fills_the_quotes_of_every_tool(tmp_path: Path) -> None:
    rows = [f"step {step} loss {3 - step / 20:.3f}" for step in range(40)]
    (tmp_path / "train.log").write_text("\n".join(rows) + "\n")
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        signals = toolbelt.call("analyze_loss_curve").signals
    quotes = [place.quote for signal in signals for place in signal.citations]
    assert quotes
    assert set(quotes) <= set(rows)


def test_a_quote_is_stripped_and_bounded() -> None:
    assert quote_of("  a line \n") == "a line"
    assert len(quote_of("y" * 1000)) == LONGEST_QUOTE
