"""The `traindx` command, in processes of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx import __version__
from traindx.contract import ContextPackage, Diagnosis

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
MESSAGE = "loss went up after epoch 7"


def test_json_on_stdout_is_the_contract_and_nothing_else(traindx: Command, broken_run: Path) -> None:
    done = traindx("diagnose", broken_run, "-m", MESSAGE, "--json")
    assert (done.returncode, done.stderr) == (0, f"traindx: reading {broken_run}\n")
    diagnosis = Diagnosis.model_validate_json(done.stdout)
    assert diagnosis.schema_version == 1
    assert diagnosis.provenance.brain == "local"


def test_the_terminal_report_fits_eighty_plain_columns(traindx: Command, broken_run: Path) -> None:
    done = traindx("diagnose", broken_run, "-m", MESSAGE)
    assert "DIAGNOSIS" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def test_markdown_goes_to_the_file_that_was_named(traindx: Command, broken_run: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    done = traindx("diagnose", broken_run, "--format", "markdown", "--output", report)
    assert (done.returncode, done.stdout) == (0, "")
    assert report.read_text().startswith("# traindx diagnose")
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


@pytest.mark.parametrize(("severity", "code"), [("critical", 1), ("low", 1)])
def test_fail_on_turns_a_finding_into_an_exit_code(
    traindx: Command, broken_run: Path, severity: str, code: int
) -> None:
    assert traindx("diagnose", broken_run, "--fail-on", severity, "-q").returncode == code


def test_fail_on_lets_a_healthy_run_pass(traindx: Command, healthy_run: Path) -> None:
    assert traindx("diagnose", healthy_run, "--fail-on", "low").returncode == 0


def test_gather_prints_a_package_for_people_and_for_programs(traindx: Command, broken_run: Path) -> None:
    people = traindx("gather", broken_run).stdout
    assert "train/loss" in people
    assert "config.yaml" in people
    package = ContextPackage.model_validate_json(traindx("gather", broken_run, "-m", MESSAGE, "--json").stdout)
    assert package.artifacts.training_logs == ["train.log"]
    assert package.symptoms
    assert ContextPackage.model_validate_json(package.model_dump_json()) == package


def test_gather_says_what_is_missing(traindx: Command, poor_run: Path) -> None:
    assert "Missing" in traindx("gather", poor_run).stdout


def test_agents_tools_and_explain_list_what_there_is(traindx: Command) -> None:
    agents, tools, modes = traindx("agents"), traindx("tools"), traindx("explain")
    assert all(name in agents.stdout for name in ("state-debugger", "training-monitor", "ml-debugger"))
    assert all(name in tools.stdout for name in ("Read", "Grep", "Glob", "analyze_loss_curve"))
    assert "learning-rate-too-high" in modes.stdout
    for command in ("agents", "tools", "explain"):
        assert json.loads(traindx(command, "--json").stdout)


def test_explain_shows_one_mode_under_its_headings(traindx: Command) -> None:
    text = traindx("explain", "lr-schedule-spike").stdout
    assert "How to tell it from its neighbours" in text
    assert max(map(len, text.splitlines())) <= 80


def test_explain_guesses_what_was_meant(traindx: Command) -> None:
    done = traindx("explain", "lr-schedul-spike")
    assert done.returncode == 2
    assert done.stderr == "traindx: there is no failure mode `lr-schedul-spike`. Did you mean `lr-schedule-spike`?\n"


def test_a_tool_runs_by_hand_with_its_fields_as_options(traindx: Command, broken_run: Path) -> None:
    done = traindx("tool", "Read", broken_run, "--path", "config.yaml", "--max-lines", "3")
    assert done.returncode == 0, done.stderr
    assert "epochs: 12" in done.stdout
    result = json.loads(traindx("tool", "analyze_loss_curve", broken_run / "metrics.csv", "--json").stdout)
    assert result["status"] == "ok"
    assert result["output"]["onset"] == "epoch 7"
    assert "--max-lines" in traindx("tool", "Read", broken_run, "--help").stdout


def test_the_demo_needs_nothing(traindx: Command) -> None:
    done = traindx("demo")
    assert done.returncode == 0
    assert "lr-schedule-spike" in done.stdout


def test_chat_ends_with_its_input(traindx: Command, broken_run: Path) -> None:
    done = traindx("chat", broken_run)
    assert (done.returncode, done.stderr) == (0, "")
    assert "lr-schedule-spike" in done.stdout


def test_version_and_help(traindx: Command) -> None:
    assert traindx("--version").stdout == f"traindx {__version__}\n"
    help_text = traindx("--help").stdout
    assert all(name in help_text for name in ("diagnose", "gather", "chat", "agents", "tools", "explain", "demo"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["diagnos", "."], "there is no command `diagnos`. Did you mean `diagnose`?"),
        (["diagnose", ""], "a path is empty"),
        (["diagnose", "{run}", "--max-usd", "-1"], "0 or more"),
        (["diagnose", "{run}", "--max-input", "many"], "500M"),
        (["schema", "diagnoses"], "diagnosis"),
        (["diagnose", "{tmp}/nowhere"], "no such file or folder"),
        (["diagnose", "{run}", "-q", "--format", "pdf"], "pdf"),
        (["diagnose", "{run}", "-q", "--specialist", "ml-debuger"], "Did you mean `ml-debugger`?"),
        (["diagnose", "{run}", "--output", "{tmp}/no/such/folder/x.md"], "cannot write"),
        (["diagnose", "{run}", "--frobnicate"], "--frobnicate"),
        (["tool", "Raed", "{run}"], "there is no tool `Raed`. Did you mean `Read`?"),
        (["tool", "Read", "{run}", "--path", "../../pyproject.toml"], "`..` is not allowed"),
        (["tool", "Read", "{run}", "--max-lines", "many"], "max-lines"),
        (["tool"], "which tool?"),
        (["diagnose", "/dev/null"], "neither a file nor a folder"),
        (["diagnose", "{loop}"], "loop"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(
    traindx: Command, broken_run: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    known = {"run": str(broken_run), "tmp": str(tmp_path), "loop": str(tmp_path / "loop")}
    done = traindx(*(word.format(**known) for word in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_is_not_an_error(broken_run: Path) -> None:
    script = f"{sys.executable} -m traindx explain | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd="/", check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"


def test_an_ascii_terminal_gets_an_answer(broken_run: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    command = [sys.executable, "-m", "traindx", "explain", "lr-schedule-spike"]
    done = subprocess.run(command, capture_output=True, env=ascii_only, cwd="/", check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_leaves_the_run_folder_as_it_was(
    traindx: Command, broken_run: Path, hashes: Callable[[Path], dict[str, str]]
) -> None:
    before = hashes(broken_run)
    for command in (["diagnose"], ["gather"], ["tools"], ["agents"], ["tool", "explain_error"], ["tool", "Glob"]):
        pattern = ["--pattern", "**/*"] if command[-1] == "Glob" else []
        assert traindx(*command, broken_run, *pattern).returncode == 0
    assert hashes(broken_run) == before


def test_a_script_in_a_repository_with_folders_of_our_names_works(broken_run: Path, tmp_path: Path) -> None:
    for name in ("tools", "orchestrator", "agents", "prompts"):
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text("raise RuntimeError('the wrong package was imported')\n")
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, traindx\n"
        "assert 'pydantic' not in sys.modules and 'numpy' not in sys.modules\n"
        f"d = traindx.diagnose({str(broken_run)!r}, {MESSAGE!r})\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "print(d.root_causes[0].id, d.provenance.sandbox)\n"
    )
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"(lr-schedule-spike|learning-rate-too-high) ", done.stdout)
