"""Defaults from the environment, `.traindx/config.toml` and `pyproject.toml`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.cli.diagnose import FAIL_ON
from traindx.cli.parser import parse
from traindx.contract import SEVERITIES
from traindx.errors import DefinitionError, UsageError

Write = Callable[[str, str], Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a run in it, and the working folder below the project."""
    for name in [name for name in os.environ if name.startswith("TRAINDX_")]:
        monkeypatch.delenv(name)
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / "runs" / "42").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "src")
    return tmp_path / "project"


@pytest.fixture
def write(project: Path) -> Write:
    def written(name: str, text: str) -> Path:
        path = project / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    return written


def test_every_place_goes_before_the_next(project: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["diagnose", str(project / "runs" / "42")]
    assert parse(words).max_usd is None
    write(
        "pyproject.toml", '[tool.traindx]\nmax-usd = 0.5\nbrain = "claude"\nfail-on = "high"\nmask-user-names = true\n'
    )
    read = parse(words)
    assert (read.max_usd, read.brain, read.fail_on, read.mask_user_names) == (0.5, "claude", "high", True)
    write(".traindx/config.toml", 'max-usd = 3\nmax-input = "4G"\n')
    assert (parse(words).max_usd, parse(words).brain, parse(words).max_input) == (3.0, "claude", 4 << 30)
    monkeypatch.setenv("TRAINDX_MAX_USD", "4")
    monkeypatch.setenv("TRAINDX_NO_COLOR", "1")
    assert (parse(words).max_usd, parse(words).no_color) == (4.0, True)
    assert parse([*words, "--max-usd", "5", "--brain", "local"]).max_usd == 5.0
    assert parse([*words, "--brain", "local"]).brain == "local"


def test_commands_take_what_they_know_and_the_demo_takes_nothing(project: Path, write: Write) -> None:
    write("pyproject.toml", '[tool.traindx]\nbrain = "claude"\nspecialist = "ml-debugger"\n')
    assert parse(["gather", str(project / "runs")]).specialist == "ml-debugger"
    assert not hasattr(parse(["gather", str(project / "runs")]), "brain")
    assert parse(["demo"]).brain == "local"


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("pyproject.toml", "[project]\nname = 'x'\n\n[tool.traindx]\nbrian = 'local'\n", 5, "Did you mean `brain`"),
        (".traindx/config.toml", "# ours\nmax_usd = 3\n", 2, "Did you mean `max-usd`"),
        (".traindx/config.toml", "brain = 'locl'\n", 1, "Did you mean `local`"),
        (".traindx/config.toml", "quiet = true\nmax-usd = -1\n", 2, "0 or more"),
        (".traindx/config.toml", "max-input = 'lots'\n", 1, "500M"),
        (".traindx/config.toml", "quiet = 'perhaps'\n", 1, "true or false"),
        (".traindx/config.toml", "quiet = true\nbrain = \n", 2, "not TOML"),
        (".traindx/config.toml", "allow-unsandboxed-tools = true\n", 1, "there is no setting"),
        ("pyproject.toml", "[tool]\ntraindx = 3\n", 2, "must be a table"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    project: Path, write: Write, name: str, text: str, line: int, said: str
) -> None:
    path = write(name, text)
    with pytest.raises(DefinitionError, match=said) as caught:
        parse(["diagnose", str(project / "runs" / "42")])
    assert (caught.value.path, caught.value.line) == (path, line)


def test_a_misspelt_variable_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_BRIAN", "local")
    with pytest.raises(UsageError, match="Did you mean `TRAINDX_BRAIN`"):
        parse(["diagnose", "."])


def test_somebody_elses_broken_pyproject_is_none_of_ours(project: Path, write: Write) -> None:
    write("pyproject.toml", "this is = = not TOML\n")
    assert parse(["diagnose", str(project / "runs" / "42")]).brain == "auto"


LOOSE = (
    'brain = "claude"\nmodel = "opus"\neffort = "max"\nmax-usd = 500\nmax-seconds = 9000\nmask-user-names = false\n'
    'max-input = "900G"\n'
)


@pytest.mark.parametrize("name", [".traindx/config.toml", "pyproject.toml"])
def test_a_file_inside_what_is_diagnosed_cannot_spend_or_send(
    project: Path, write: Write, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    header = "[tool.traindx]\n" if name == "pyproject.toml" else ""
    write(name, f'{header}{LOOSE}format = "markdown"\n')
    for words in (["diagnose"], ["diagnose", "."], ["diagnose", str(project.parent)]):
        read = parse(words)
        assert (read.brain, read.model, read.effort, read.max_usd, read.max_seconds) == ("auto", None, None, None, None)
        assert (read.mask_user_names, read.max_input) == (None, None)
        assert read.format == "markdown"
        assert capsys.readouterr().err.count("is not taken from a file that came with the run") == 7
    write(name, f'{header}brain = "local"\nmax-usd = 0.1\nmask-user-names = true\n')
    read = parse(["diagnose", "."])
    assert (read.brain, read.max_usd, read.mask_user_names) == ("local", 0.1, True)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.getuid() != 0, reason="only the administrator can give a file away")
def test_a_file_of_another_user_cannot_spend_or_send(project: Path, write: Write) -> None:
    path = write("pyproject.toml", f"[tool.traindx]\n{LOOSE}")
    os.chown(path, 12345, 12345)
    assert parse(["diagnose", str(project / "runs" / "42")]).max_usd is None


def test_the_severities_are_those_of_the_contract() -> None:
    assert FAIL_ON == SEVERITIES
