"""Notebooks: places are cells, IPython's tracebacks have frames, and what a cell printed can be opened again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.calling import call, load
from traindx.api import diagnose
from traindx.contract import Citation
from traindx.diagnosis.evidence.reopen import reopen
from traindx.diagnosis.evidence.verify import Citations, Verdicts
from traindx.readers import Run, Scope
from traindx.report import render

RED, GREEN, END = "\x1b[0;31m", "\x1b[0;32m", "\x1b[0m"
LOOP = (
    "h = torch.zeros(1, 4, 16)\n"
    "for i, (x, y) in enumerate(batches):\n"
    "    out, h = rnn(x, h)\n"
    "    loss = ((out - y) ** 2).mean()\n"
    "    opt.zero_grad()\n"
    "    loss.backward()\n"
    "    opt.step()\n"
)
SETUP = "import torch\nimport torch.nn as nn\nrnn = nn.GRU(8, 16)\nopt = torch.optim.Adam(rnn.parameters(), lr=1e-3)\n"
MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been"
    " freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()."
)
HEAD = [
    f"{RED}{'-' * 75}{END}",
    f"{RED}RuntimeError{END}                              Traceback (most recent call last)",
]
ARROW = f"\x1b[1;32m      5{END}     opt.zero_grad()\n{GREEN}----> 6{END}     loss.backward()\n      7     opt.step()"
LIBRARY = (
    f"File {GREEN}~/env/lib/python3.11/site-packages/torch/_tensor.py:525{END}, in Tensor.backward(self, gradient)\n"
    f"    515 if x:\n{GREEN}--> 525{END} torch.autograd.backward(\n"
)
NEW = [*HEAD, f"Cell {GREEN}In[2], line 6{END}\n{ARROW}", LIBRARY]
EIGHT = [*HEAD, f"Input {GREEN}In [2]{END}, in {GREEN}<cell line: 2>{END}()\n{ARROW}", LIBRARY]
OLD = [
    *HEAD,
    f"{GREEN}<ipython-input-2-3fa8c1d2e4b5>{END} in {GREEN}<module>{END}\n{ARROW}",
    f"{GREEN}~/env/lib/python3.6/site-packages/torch/tensor.py{END} in {GREEN}backward{END}(self)\n--> 102 f(self)",
]


def _cell(source: str, count: int | None, *outputs: dict[str, Any]) -> dict[str, Any]:
    lines = source.rstrip("\n").splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": list(outputs), "source": lines}


def _error(traceback: list[str], name: str = "RuntimeError", said: str = MESSAGE) -> dict[str, Any]:
    rows = [*traceback, f"{RED}{name}{END}: {said}"]
    return {"output_type": "error", "ename": name, "evalue": said, "traceback": rows}


def _write(folder: Path, *cells: dict[str, Any], indent: int | None = 1) -> Run:
    book = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "gru.ipynb").write_text(json.dumps(book, indent=indent))
    return Run(Scope.of(folder))


def _printed(*lines: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [f"{line}\n" for line in lines]}


@pytest.mark.parametrize("traceback", [NEW, EIGHT, OLD], ids=["8.5 and later", "8.0", "7"])
def test_frames_are_read_as_ipython_prints_them(tmp_path: Path, traceback: list[str]) -> None:
    run = _write(tmp_path, _cell(SETUP, 1), _cell(LOOP, 2, _error(traceback)))
    (error,) = [row for row in run.errors if row.kind == "error"]
    assert error.text == f"RuntimeError: {MESSAGE}"
    assert error.frames[0] == ("In[2]", 6)
    assert len(error.frames) == 2
    (signal,) = [row for row in call(load("explain_error"), run).signals if row.id == "error-state-graph"]
    assert signal.facts["frame"] == "gru.ipynb, cell 2, line 6"
    places = [(place.locator, place.quote) for place in signal.citations]
    assert places[1] == ("cell 2, line 6", "loss.backward()")
    assert places[0][0].startswith("cell 2, output line ")
    assert all(_verdicts(run, *signal.citations))


def test_the_number_that_jupyter_shows_stands_beside_the_cell(tmp_path: Path) -> None:
    words = {"cell_type": "markdown", "metadata": {}, "source": ["# words"]}
    run = _write(tmp_path, words, _cell(SETUP, 1), _cell(LOOP, 2, _error(NEW)))
    found = call(load("explain_error"), run).signals
    assert found[0].facts["frame"] == "gru.ipynb, cell 3 (In [2]), line 6"


def test_a_cell_that_ran_again_under_another_number_is_not_taken_for_it(tmp_path: Path) -> None:
    run = _write(tmp_path, _cell(SETUP, 1), _cell(LOOP, 9, _error(NEW)))
    assert "frame" not in call(load("explain_error"), run).signals[0].facts


def test_a_notebook_that_only_speaks_of_tracebacks_has_no_error(tmp_path: Path) -> None:
    said = _printed("Cell In[2], line 6", "----> 6 loss.backward()", "epoch 1 loss 0.5")
    assert not _write(tmp_path, _cell(SETUP, 1, said)).errors


def _verdicts(run: Run, *places: Citation, said: tuple[str, ...] = ()) -> list[bool]:
    answer = reopen(Citations(citations=list(places), said=list(said)), run)
    assert isinstance(answer, Verdicts)
    return [row.verified for row in answer.verdicts]


def _opened(run: Run, locator: str, quote: str, claim: str = "c") -> bool:
    place = Citation(claim=claim, source="gru.ipynb", locator=locator, quote=quote)
    return _verdicts(run, place) == [True]


def test_cells_are_opened_again(tmp_path: Path) -> None:
    run = _write(tmp_path, _cell(SETUP, 1), _cell(LOOP, 2, _printed("epoch 1 loss 0.5", "epoch 2 loss 0.4")))
    assert _opened(run, "cell 2, line 6", "loss.backward()")
    assert _opened(run, "cell 2, lines 6-7", "    loss.backward()\n    opt.step()")
    assert _opened(run, "cell 2, output line 2", "epoch 2 loss 0.4", "the loss is 0.4 at the end")
    assert not _opened(run, "cell 2, line 5", "loss.backward()")
    assert not _opened(run, "cell 2, output line 2", "epoch 2 loss 0.3")
    assert not _opened(run, "cell 2, output line 9", "epoch 2 loss 0.4")
    assert not _opened(run, "cell 7, line 1", "import torch")
    assert not _opened(run, "cell 2, output line 2", "epoch 2 loss 0.4", "the loss is 71.3 at the end")


def test_a_value_that_a_cell_printed_is_cited_by_its_cell(tmp_path: Path) -> None:
    losses = [2.0, 1.5, 1.2, 1.0, 0.9, 0.85, 0.82, float("nan"), float("nan"), float("nan")]
    run = _write(tmp_path, _cell(SETUP, 1, _printed(*(f"epoch {n} loss {v}" for n, v in enumerate(losses, 1)))))
    (signal,) = [row for row in call(load("analyze_loss_curve"), run).signals if row.id == "loss-non-finite"]
    places = {(place.locator, place.quote) for place in signal.citations}
    assert ("cell 1, output line 8, epoch 8", "epoch 8 loss nan") in places
    assert all(_verdicts(run, *signal.citations, said=(signal.claim,)))


@pytest.mark.slow
def test_a_textbook_case_in_a_notebook_is_certain_and_fixed(tmp_path: Path) -> None:
    _write(tmp_path, _cell(SETUP, 1), _cell(LOOP, 2, _printed("0 1.0032"), _error(NEW)))
    found = diagnose(tmp_path, "it crashes in the second iteration", brain="local")
    cause = found.root_causes[0]
    assert cause.id == "state-not-detached"
    assert cause.confidence > 0.9
    assert all(piece.verified for piece in cause.evidence)
    assert '+    "    h = h.detach()\\n",' in str(cause.fix.diff)
    assert "gru.ipynb, cell 2, line 6" in render(found, "terminal")


@pytest.mark.slow
def test_a_minified_notebook_is_read_all_the_same(tmp_path: Path) -> None:
    _write(tmp_path, _cell(SETUP, 1), _cell(LOOP, 2, _error(NEW)), indent=None)
    cause = diagnose(tmp_path, "it crashes", brain="local").root_causes[0]
    assert cause.id == "state-not-detached"
    assert cause.confidence > 0.9
