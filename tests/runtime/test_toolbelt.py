"""What a caller of the toolbelt can rely on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from traindx.diagnosis.evidence.verify import REOPEN
from traindx.readers import Scope
from traindx.runtime import Task, Toolbelt

pytestmark = pytest.mark.slow

WriteTool = Callable[..., Path]
WorkersOf = Callable[[int], set[int]]
ECHO = 'return Answer(text=request.text + " from " + str(os.getpid()))'


def test_an_unknown_tool_is_refused_with_the_nearest_name(toolbelt: Toolbelt) -> None:
    result = toolbelt.call("Raed", {"path": "train.log"})
    assert (result.status, result.reason) == ("failed", "there is no tool `Raed`. Did you mean `Read`?")


def test_bad_input_is_refused_in_one_sentence_that_names_the_fields(toolbelt: Toolbelt) -> None:
    result = toolbelt.call("Read", {"pth": "train.log", "max_lines": -3})
    assert result.status == "failed"
    assert result.reason.startswith("bad input for `Read`: ")
    assert "there is no field `pth`, did you mean `path`?" in result.reason
    assert "`path` is missing" in result.reason
    assert "`max_lines`: input should be greater than or equal to 1, not -3" in result.reason


def test_input_that_is_not_json_is_refused(toolbelt: Toolbelt) -> None:
    result = toolbelt.call("Read", {"path": object()})
    assert (result.status, result.reason) == ("failed", "the input is not JSON: `object` is not a JSON value")


def test_a_path_object_will_do_for_a_path(toolbelt: Toolbelt) -> None:
    assert toolbelt.call("Read", {"path": Path("train.log")}).status == "ok"


def test_no_data_keeps_what_was_looked_for(write_tool: WriteTool, request: pytest.FixtureRequest) -> None:
    write_tool("look", 'raise NoData("no checkpoint in `run`")')
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    result = toolbelt.call("look")
    assert (result.status, result.reason) == ("no_data", "no checkpoint in `run`")


def test_a_missing_package_comes_with_the_command_that_installs_it(
    write_tool: WriteTool, request: pytest.FixtureRequest
) -> None:
    write_tool("need", 'return Answer(text="")', options='packages=["no_such_package"]')
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    result = toolbelt.call("need")
    assert (result.status, result.reason) == ("failed", "needs `no_such_package`: pip install 'no_such_package'")


def test_non_finite_numbers_make_the_trip(write_tool: WriteTool, request: pytest.FixtureRequest) -> None:
    path = write_tool("measure", 'return Answer(text="", value=float("nan"), more={"x": [float("-inf")]})')
    source = path.read_text().replace(
        "    text: str\n", "    text: str\n    value: float\n    more: dict[str, list[float]]\n"
    )
    path.write_text(source)
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    assert toolbelt.call("measure").output == {"signals": [], "text": "", "value": "NaN", "more": {"x": ["-Infinity"]}}


def test_the_same_question_is_answered_from_memory_and_recorded_once(toolbelt: Toolbelt) -> None:
    first = toolbelt.call("Read", {"path": "train.log", "max_lines": 1})
    again = toolbelt.call("Read", {"max_lines": 1, "path": "train.log"})
    assert again == first
    assert [(use.tool, use.status) for use in toolbelt.uses] == [("Read", "ok")]


def test_a_failed_call_is_tried_again(toolbelt: Toolbelt, run_folder: Path) -> None:
    assert toolbelt.call("Read", {"path": "late.log"}).status == "failed"
    (run_folder / "late.log").write_text("here\n")
    assert toolbelt.call("Read", {"path": "late.log"}).status == "ok"
    assert [use.status for use in toolbelt.uses] == ["failed", "ok"]


def test_an_engine_task_runs_in_the_worker_and_is_no_tool(toolbelt: Toolbelt) -> None:
    result = toolbelt.run(REOPEN, {"citations": []})
    assert result.status in {"ok", "no_data"}, result.reason
    assert toolbelt.uses == []
    assert REOPEN.name not in toolbelt.specs()


def test_a_task_that_nobody_does_is_a_failure(toolbelt: Toolbelt) -> None:
    result = toolbelt.run(Task("nothing"))
    assert (result.status, result.reason) == ("failed", "there is no task `nothing`")


@pytest.mark.parametrize("name", ["os:system", "traindx.errors:nearest", "reopen"])
def test_a_tool_is_called_by_the_name_of_its_file_alone(toolbelt: Toolbelt, name: str) -> None:
    result = toolbelt.call(name)
    assert result.status == "failed"
    assert f"there is no tool `{name}`" in result.reason


def test_a_single_file_is_all_that_can_be_read(run_folder: Path) -> None:
    (run_folder / "other.log").write_text("private\n")
    with Toolbelt(Scope.of(run_folder / "train.log")) as toolbelt:
        assert toolbelt.call("Read", {"path": "train.log"}).status == "ok"
        refused = toolbelt.call("Read", {"path": "other.log"})
        assert "only `train.log` was given" in refused.reason
        assert [file["path"] for file in toolbelt.call("Glob").output["files"]] == ["train.log"]


def test_the_worker_is_started_once_and_kept(
    write_tool: WriteTool, request: pytest.FixtureRequest, workers_of: WorkersOf
) -> None:
    write_tool("echo", ECHO, "import os")
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    answers = {toolbelt.call("echo", {"text": str(number)}).output["text"].split()[-1] for number in range(3)}
    assert len(answers) == 1
    assert int(answers.pop()) in workers_of(os.getpid())


def test_calls_may_come_from_many_threads_even_short_lived_ones(
    write_tool: WriteTool, request: pytest.FixtureRequest
) -> None:
    write_tool("echo", ECHO, "import os")
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    first: list[str] = []
    starter = threading.Thread(target=lambda: first.append(toolbelt.call("echo").output["text"]))
    starter.start()
    starter.join()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda number: toolbelt.call("echo", {"text": str(number)}), range(20)))
    assert [result.output["text"].split()[0] for result in results] == [str(number) for number in range(20)]
    # The worker that the first thread started has outlived that thread.
    assert {result.output["text"].split()[-1] for result in results} == {first[0].split()[-1]}


def test_two_toolbelts_do_not_meet(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.log").write_text(name + "\n")
    with Toolbelt(Scope.of(tmp_path / "one")) as one, Toolbelt(Scope.of(tmp_path / "two")) as two:
        assert "1\tone" in one.call("Read", {"path": "x.log"}).output["text"]
        assert "1\ttwo" in two.call("Read", {"path": "x.log"}).output["text"]
        assert one.call("Read", {"path": "../two/x.log"}).status == "failed"


def test_closing_ends_a_call_that_is_under_way(write_tool: WriteTool, request: pytest.FixtureRequest) -> None:
    write_tool("sleep", "time.sleep(60)", "import time")
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(toolbelt.call, "sleep")
        time.sleep(0.8)
        toolbelt.close()
        assert pending.result().reason == "the toolbelt was closed"
    assert toolbelt.call("Read", {"path": "train.log"}).reason == "the toolbelt was closed"


def test_a_toolbelt_that_was_never_closed_leaves_nothing(run_folder: Path, workers_of: WorkersOf) -> None:
    before = workers_of(os.getpid())
    toolbelt = Toolbelt(Scope.of(run_folder))
    # A process just started has no command line yet: one that has answered has.
    assert toolbelt.call("Glob", {"pattern": "*"}).status == "ok"
    assert len(workers_of(os.getpid())) == len(before) + 1
    del toolbelt
    assert workers_of(os.getpid()) == before
