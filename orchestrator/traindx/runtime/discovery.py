"""Finding tools by file name, and loading one from its file.

One tool per file: `tools/Read.py`, or `tools/Read/__init__.py`, declares the function `Read`. Names that start with
`_` or `.` are not tools. Finding never imports; loading does, and happens in the worker only.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from traindx.definitions import content
from traindx.errors import DefinitionError
from traindx.runtime.declaration import Tool

_PRIVATE = "_traindx_tool_"


@dataclass
class Found:
    """The tools in a list of folders, and the files that cannot be one of them."""

    tools: dict[str, Path] = field(default_factory=dict)
    problems: list[DefinitionError] = field(default_factory=list)


def find_tools(folders: Sequence[Path] = ()) -> Found:
    """Our own tools, then those in `folders`; a name is given once, to the first who has it."""
    found = Found()
    for folder in (content.TOOLS, *folders):
        for name, path in _candidates(folder):
            if not name.isidentifier():
                problem = f"`{name}` cannot be the name of a function, so it cannot be a tool; rename the file"
                found.problems.append(DefinitionError(path, 1, problem))
            elif name in found.tools:
                problem = f"there is a tool `{name}` already, in `{found.tools[name]}`; choose another name"
                found.problems.append(DefinitionError(path, 1, problem))
            else:
                found.tools[name] = path
    return found


def tool_names(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """The name of every tool, ours and those in `folders`, with the file that declares it; nothing is imported."""
    return find_tools(folders).tools


def is_own(path: Path) -> bool:
    """Whether a tool file ships with traindx."""
    return content.TOOLS in path.parents


def load_tool(name: str, path: Path) -> Tool:
    """Import the file of a tool and return the tool it declares; raises `DefinitionError`."""
    module_name = _PRIVATE + name
    folder = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(module_name, path, submodule_search_locations=folder)
    if spec is None or spec.loader is None:
        raise DefinitionError(path, 1, "not a Python file")
    module = importlib.util.module_from_spec(spec)
    # pydantic looks the module of a class up in here to make sense of its annotations.
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except MemoryError:
        raise
    except BaseException as error:
        del sys.modules[module_name]
        raise DefinitionError(path, *_where_and_what(error, path)) from error
    declared = [value for value in vars(module).values() if isinstance(value, Tool)]
    own = {id(tool): tool for tool in declared if tool.function.__module__.startswith(module_name)}
    return _only_one(name, path, list(own.values()))


def _only_one(name: str, path: Path, tools: list[Tool]) -> Tool:
    if not tools:
        raise DefinitionError(path, 1, f"declares no tool: write `@tool(…)` above `def {name}(request, run)`")
    if len(tools) > 1:
        names = ", ".join(f"`{tool.name}`" for tool in tools)
        problem = f"declares {names}; one file declares one tool, here `{name}`"
        raise DefinitionError(path, _first_line(tools[1]), problem)
    if tools[0].name != name:
        problem = f"the tool in this file must be called `{name}`, like the file; it is called `{tools[0].name}`"
        raise DefinitionError(path, _first_line(tools[0]), problem)
    return tools[0]


def _candidates(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(("_", ".")):
            continue
        if entry.suffix == ".py" and entry.is_file():
            yield entry.stem, entry
        elif (entry / "__init__.py").is_file():
            yield entry.name, entry / "__init__.py"


def _first_line(tool: Tool) -> int:
    code = getattr(tool.function, "__code__", None)
    return code.co_firstlineno if code is not None else 1


def _where_and_what(error: BaseException, path: Path) -> tuple[int, str]:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1, f"not valid Python: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (lines[-1] if lines else None) or 1, f"cannot be loaded: {what}"
