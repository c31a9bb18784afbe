"""Which files are tools, and what is said about those that are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from traindx.definitions import content
from traindx.readers import Scope
from traindx.runtime import Toolbelt, tool_names

pytestmark = pytest.mark.slow

WriteTool = Callable[..., Path]
FINE = 'return Answer(text="fine")'


def test_names_are_listed_without_importing(tmp_path: Path) -> None:
    (tmp_path / "boom.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "_shared.py").write_text("")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "folder_tool").mkdir()
    (tmp_path / "folder_tool" / "__init__.py").write_text("")
    (tmp_path / "just_a_folder").mkdir()
    names = tool_names([tmp_path])
    assert names["Read"] == content.TOOLS / "Read.py"
    assert {name for name, path in names.items() if tmp_path in path.parents} == {"boom", "folder_tool"}


def test_a_missing_folder_holds_no_tools(tmp_path: Path) -> None:
    assert tool_names([tmp_path / "nowhere"]) == tool_names()


@dataclass(frozen=True)
class Mistake:
    """A change that makes a tool wrong, the text on the line that is blamed, and what is said.

    Python 3.10 blames the `def` where later ones blame its decorator.
    """

    old: str
    new: str
    blamed: str
    said: str


FIRST = "from __future__ import annotations"
SECOND_TOOL = """
@tool()
def too(request: Input, run: Run) -> Answer:
    \"\"\"One too many.\"\"\"
    return Answer(text="")
"""
MISTAKES = {
    "broken": Mistake("class Answer", "class (", "class (", "not valid Python: invalid syntax"),
    "other": Mistake(
        "def other", "def another", "@tool()", "the tool in this file must be called `other`, like the file"
    ),
    "none": Mistake("@tool()", "", "", "declares no tool: write `@tool(…)` above `def none("),
    "two": Mistake(
        "text: str\n", f"text: str\n{SECOND_TOOL}\n", "", "declares `too`, `two`; one file declares one tool"
    ),
    "needy": Mistake(FIRST, f"{FIRST}\nimport not_there", "import not_there", "No module named 'not_there'"),
    "untyped": Mistake("request: Input", "request", "@tool()|def ", "a tool takes a ToolInput and a Run"),
    "mute": Mistake('"""Do what the test says."""', "", "@tool()|def ", "a tool's docstring is its description"),
    "leaver": Mistake(FIRST, f"{FIRST}\nraise SystemExit", "raise SystemExit", "cannot be loaded: SystemExit"),
    "dying": Mistake(FIRST, f"{FIRST}\nimport os\nos._exit(7)", "", "ended with exit code 7 before it answered"),
    "bad-name": Mistake("def bad-name", "def bad_name", "", "`bad-name` cannot be the name of a function"),
    "Read": Mistake("fine", "fine", "", "there is a tool `Read` already, in"),
}


def test_files_that_are_no_tools_are_problems_and_the_others_work(
    write_tool: WriteTool, request: pytest.FixtureRequest
) -> None:
    for name, mistake in MISTAKES.items():
        path = write_tool(name, FINE)
        assert mistake.old in path.read_text()
        path.write_text(path.read_text().replace(mistake.old, mistake.new))
    write_tool("fine", FINE)
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    assert "fine" in toolbelt.specs()
    problems = {error.path.stem: error for error in toolbelt.problems}
    assert set(problems) == set(MISTAKES)
    for name, mistake in MISTAKES.items():
        error = problems[name]
        assert mistake.said in error.problem
        if mistake.blamed:
            line = error.path.read_text().splitlines()[error.line - 1]
            assert any(text in line for text in mistake.blamed.split("|")), error
    assert toolbelt.call("fine").output["text"] == "fine"
    refused = toolbelt.call("needy")
    assert (refused.status, "needy.py:" in refused.reason) == ("failed", True)


def test_a_tool_may_be_a_folder_with_parts(
    tmp_path: Path, run_folder: Path, make_tool_source: Callable[..., str]
) -> None:
    folder = tmp_path / "tools" / "big"
    folder.mkdir(parents=True)
    (folder / "_parts.py").write_text("WORD = 'assembled'\n")
    body = "from ._parts import WORD\nreturn Answer(text=WORD)"
    (folder / "__init__.py").write_text(make_tool_source("big", body))
    with Toolbelt(Scope.of(run_folder), [tmp_path / "tools"]) as toolbelt:
        assert toolbelt.call("big").output["text"] == "assembled"


def test_a_description_is_what_the_file_says(write_tool: WriteTool, request: pytest.FixtureRequest) -> None:
    path = write_tool("fine", FINE, options='needs=["series"], emits={"a-signal": "means this"}, timeout=7.0')
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    spec = toolbelt.specs()["fine"]
    assert (spec.description, spec.needs, spec.emits) == (
        "Do what the test says.",
        ["series"],
        {"a-signal": "means this"},
    )
    assert (spec.timeout, spec.source) == (7.0, str(path))
    assert spec.input_schema["properties"]["text"]["description"] == "anything"
    assert "_traindx_tool_fine" not in sys.modules, "a tool was imported outside its worker"
