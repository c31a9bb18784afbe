"""Notebooks: their code as Python, their outputs as a log, every line with its place in the file."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers.code.notebooks import Notebook, read_notebook
from traindx.readers.code.units import parse_text, traits


def _cell(source: str, count: int | None = 1, outputs: list[Any] | None = None, kind: str = "code") -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        cell |= {"execution_count": count, "outputs": outputs or []}
    return cell


def _written(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _read(text: str) -> tuple[Notebook, list[str]]:
    return read_notebook(io.BytesIO(text.encode()), "train.ipynb")


TEXT = _written(
    _cell("# Training\nSome *words*", kind="markdown"),
    _cell("%matplotlib inline\n!pip install torch\nimport torch\nlr = 0.1", 1),
    _cell("%%bash\nls -l | wc", 2),
    _cell(
        "for x in data:\n    loss.backward()",
        3,
        [
            {"output_type": "stream", "name": "stdout", "text": ["epoch 1 loss 2.0\n", "epoch 2 loss nan\n"]},
            {
                "output_type": "error",
                "ename": "RuntimeError",
                "evalue": "boom",
                "traceback": ["\x1b[0;31mRuntimeError\x1b[0m Traceback", "RuntimeError: boom"],
            },
        ],
    ),
)


def test_the_code_is_python_and_knows_its_lines() -> None:
    notebook, remarks = _read(TEXT)
    assert remarks == []
    assert traits(parse_text(notebook.code)) == {"torch", "training-loop"}
    file_lines = TEXT.split("\n")
    for number, line in enumerate(notebook.code.rstrip("\n").split("\n"), 1):
        place = notebook.places[number - 1]
        if not line.lstrip().startswith(("#", "pass")):
            assert json.dumps(line)[1:-1] in file_lines[place.file_line - 1]
    at = notebook.code.split("\n").index("lr = 0.1") + 1
    assert (notebook.places[at - 1].cell, notebook.places[at - 1].line) == (2, 4)


def test_the_outputs_are_a_log_with_its_lines() -> None:
    notebook, _ = _read(TEXT)
    assert [(output.cell, output.kind) for output in notebook.outputs] == [(4, "stdout"), (4, "error")]
    text, lines = notebook.log()
    said = text.decode().split("\n")
    assert said == ["epoch 1 loss 2.0", "epoch 2 loss nan", "RuntimeError Traceback", "RuntimeError: boom"]
    file_lines = TEXT.split("\n")
    assert len(lines) == len(said)
    assert "epoch 2 loss nan" in file_lines[lines[1] - 1]
    assert "RuntimeError: boom" in file_lines[lines[3] - 1]


def test_a_source_in_one_string_and_cells_out_of_order() -> None:
    cells = [_cell("x = 1\ny = 2", 5), _cell("z = 3", 2)]
    cells[0]["source"] = "x = 1\ny = 2"
    notebook, _ = _read(_written(*cells))
    assert notebook.code == "x = 1\ny = 2\nz = 3\n"
    assert notebook.out_of_order
    assert notebook.counts == (5, 2)


def test_a_cut_notebook_gives_what_it_has() -> None:
    notebook, remarks = _read(TEXT[: TEXT.index("epoch 2")])
    assert "lr = 0.1" in notebook.code
    assert "the cells before that were read" in remarks[0]


@settings(max_examples=examples(100))
@given(st.one_of(st.binary(max_size=500), st.integers(0, len(TEXT)).map(lambda cut: TEXT[:cut].encode() + b'"[{')))
def test_no_bytes_make_reading_notebooks_fail(content: bytes) -> None:
    notebook, _ = read_notebook(io.BytesIO(content), "x.ipynb")
    text, lines = notebook.log()
    assert len(lines) == (text.count(b"\n") + 1 if notebook.outputs else 0)
    assert len(notebook.places) == notebook.code.count("\n")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "source", "cell_type", "outputs", "text", "traceback", "name", "code"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=examples(100))
@given(_JSON)
def test_no_json_makes_reading_notebooks_fail(value: Any) -> None:
    _read(json.dumps({"cells": value}))
    _read(json.dumps({"cells": [{"cell_type": "code", "source": value, "outputs": [{"text": value}]}]}))
