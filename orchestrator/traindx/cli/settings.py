"""Defaults of the command line from the environment and from the project around the working folder.

A setting is an option without its dashes (`max-usd`). The command line goes before `TRAINDX_MAX_USD`, that before
`.traindx/config.toml`, that before `[tool.traindx]` in `pyproject.toml`. The Python API reads none of them.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from traindx.cli.arguments import HERE, amount, size
from traindx.cli.diagnose import FAIL_ON
from traindx.cli.streams import say
from traindx.definitions.choices import BRAINS, EFFORTS, SPECIALISTS
from traindx.definitions.project import FOLDER, Project
from traindx.errors import DefinitionError, UsageError, did_you_mean
from traindx.pipeline.outputs import inside
from traindx.vocabulary.run_folder import ENVIRONMENT as RUN_FOLDER

ENVIRONMENT = "TRAINDX_"
USUAL_USD, USUAL_SECONDS = 1.0, 300.0
_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Setting(NamedTuple):
    """How a value is read, and which values even a stranger's file may set: those that spend and send no more."""

    read: Callable[[object], object]
    harmless: Callable[[Any], bool]


def load_settings(paths: Sequence[str], command: Mapping[str, object]) -> dict[str, object]:
    """The defaults for the options of a command, by the names argparse gives them.

    A file inside `paths`, or of another user, came with the data: it may only tighten.
    """
    found: dict[str, object] = {}
    for file, table, header in _files():
        trusted = not inside(file, paths or [HERE]) and _is_mine(file)
        for key, value in table.items():
            setting, line = SETTINGS.get(key), _line(file, key, header)
            if setting is None:
                raise DefinitionError(file, line, f"there is no setting `{key}`.{_hint(key)}")
            try:
                read = setting.read(value)
            except ValueError as error:
                raise DefinitionError(file, line, f"`{key}` {error}") from None
            if trusted or setting.harmless(read):
                found[_dest(key)] = read
            elif _dest(key) in command:
                say(f"traindx: {file}:{line}: `{key}` is not taken from a file that came with the run; give --{key}")
    found.update(_from_environment())
    return {name: value for name, value in found.items() if name in command}


def _from_environment() -> dict[str, object]:
    found = {}
    for name in sorted(name for name in os.environ if name.startswith(ENVIRONMENT) and name != RUN_FOLDER):
        key = name.removeprefix(ENVIRONMENT).lower().replace("_", "-")
        if key not in SETTINGS:
            known = [f"{ENVIRONMENT}{_dest(one).upper()}" for one in SETTINGS]
            raise UsageError(f"there is no setting `{name}`.{did_you_mean(name, known) or ' See docs/cli.md.'}")
        try:
            found[_dest(key)] = SETTINGS[key].read(os.environ[name])
        except ValueError as error:
            raise UsageError(f"`{name}` {error}") from None
    return found


def _files() -> list[tuple[Path, Mapping[str, object], str]]:
    """The files that hold settings, the one that goes first last; each with its table and the table's header."""
    try:
        here = Path.cwd()
    except OSError:
        return []
    files: list[tuple[Path, Mapping[str, object], str]] = []
    for folder in (here, *here.parents):
        project = folder / "pyproject.toml"
        text = _text(project)
        if "tool.traindx" in text or "[tool]" in text:
            table = _parsed(project, text).get("tool", {})
            own = table.get("traindx") if isinstance(table, dict) else None
            if own is not None:
                files.append((project, _table(project, own), "tool.traindx"))
                break
    home = Project.around(here).home
    config = home / "config.toml" if home else Path(FOLDER, "config.toml")
    if home and (text := _text(config)):
        files.append((config, _parsed(config, text), ""))
    return files


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except OSError:
        return ""
    except UnicodeDecodeError:
        raise DefinitionError(path, 1, "is not UTF-8") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        raise DefinitionError(path, int(place.group(1)) if place else 1, f"is not TOML: {error}") from None


def _table(path: Path, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise DefinitionError(path, _line(path, "traindx", "tool"), "`tool.traindx` must be a table")
    return value


def _line(path: Path, key: str, header: str) -> int:
    """Where a key stands: below its table's header, if that is found."""
    rows = _text(path).splitlines()
    start = next((at for at, row in enumerate(rows) if header and row.strip().startswith(f"[{header}]")), 0)
    pattern = re.compile(rf"""\s*(?:[\w.]+\.)?["']?{re.escape(key)}["']?\s*=""")
    return next((at + 1 for at, row in enumerate(rows) if at >= start and pattern.match(row)), start + 1)


def _is_mine(path: Path) -> bool:
    """Whether the user, or the administrator, wrote a file: `/tmp` is above the working folders of many."""
    return not hasattr(os, "getuid") or path.stat().st_uid in {0, os.getuid()}


def _dest(key: str) -> str:
    return key.replace("-", "_")


def _hint(key: str) -> str:
    return did_you_mean(key, SETTINGS) or f" Settings: {', '.join(SETTINGS)}."


def _one_of(names: Sequence[str]) -> Callable[[object], object]:
    def read(value: object) -> object:
        if value in names:
            return value
        raise ValueError(f"must be one of {', '.join(names)}.{did_you_mean(str(value), names)}")

    return read


def _name(value: object) -> object:
    if isinstance(value, str) and value:
        return value
    raise ValueError("must be a text that is not empty")


def _switch(value: object) -> object:
    found = value if isinstance(value, bool) else _SWITCHES.get(str(value).lower())
    if found is None:
        raise ValueError("must be true or false")
    return found


def _amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number")
    return _parsed_by(amount, value)


def _size(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a size such as 500M or 4G")
    return _parsed_by(size, value)


def _parsed_by(parse: Callable[[str], object], value: object) -> object:
    try:
        return parse(str(value))
    except argparse.ArgumentTypeError as error:
        raise ValueError(error) from None


def _at_most(most: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not math.isnan(value) and value <= most


def _always(_value: object) -> bool:
    return True


def _never(_value: object) -> bool:
    return False


# `allow-unsandboxed-tools` is none of them: the repository that brings a tool must not be able to let it loose.
SETTINGS: Mapping[str, Setting] = {
    "brain": Setting(_one_of(BRAINS), lambda value: value == "local"),
    "model": Setting(_name, _never),
    "effort": Setting(_one_of(EFFORTS), _never),
    "specialists": Setting(_one_of(SPECIALISTS), lambda value: value == "needed"),
    "max-usd": Setting(_amount, _at_most(USUAL_USD)),
    "max-seconds": Setting(_amount, _at_most(USUAL_SECONDS)),
    "mask-user-names": Setting(_switch, bool),
    "max-input": Setting(_size, _never),
    "specialist": Setting(_name, _always),
    "format": Setting(_name, _always),
    "fail-on": Setting(_one_of(FAIL_ON), _always),
    "quiet": Setting(_switch, _always),
    "verbose": Setting(_switch, _always),
    "no-color": Setting(_switch, _always),
}
