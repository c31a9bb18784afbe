"""Pictures that tools draw: a tool answers with the picture, this process writes it where the user says."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.contract import Diagnosis
    from traindx.runtime import ToolResult

FIELD = "pictures"
"""the field of a tool's output that holds them: `svg` as text, `png` in base64"""
CURVE = "visualize_loss_curve"
_FORMS = {".svg": "svg", ".png": "png"}


def form_of(out: Path, paths: Sequence[Path | str]) -> str:
    """What a file name asks for; raises `UsageError` where nothing may be written."""
    real = out.resolve()
    if real.is_dir():
        raise UsageError(f"cannot write `{out}`: it is a folder; give the name of a file")
    form = _FORMS.get(out.suffix.lower())
    if form is None:
        raise UsageError(f"cannot write `{out}`: name the picture `*.png` or `*.svg`")
    for path in paths:
        if str(path) == "-":
            raise UsageError("a log on standard input is read once: save it to a file to have it drawn as well")
        run = Path(path).resolve()
        if real == run or run in real.parents:
            raise UsageError(f"cannot write `{out}`: it is inside `{path}`, which is read-only; choose another place")
    if not real.parent.is_dir():
        raise UsageError(f"cannot write `{out}`: there is no folder `{out.parent}`")
    return form


def write_picture(result: ToolResult, form: str, out: Path) -> None:
    """Write one picture of a tool's answer into a file that is either complete or untouched."""
    drawn = result.output.get(FIELD)
    text = drawn.get(form) if isinstance(drawn, dict) else None
    if not isinstance(text, str):
        raise UsageError(f"`{result.tool}` drew no {form.upper()}: {result.reason or 'its output has none'}")
    try:
        data = text.encode() if form == "svg" else base64.b64decode(text, validate=True)
        with tempfile.NamedTemporaryFile(dir=out.resolve().parent, prefix=".traindx-", delete=False) as file:
            file.write(data)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(out.resolve())
    except binascii.Error:
        raise UsageError(f"`{result.tool}` answered with a PNG that is not base64") from None
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror or error}") from None


def illustrated(diagnosis: Diagnosis, paths: Sequence[Path | str], form: str, out: Path) -> Diagnosis:
    """The diagnosis with the loss curve drawn into `out`, or with the reason why there is nothing to draw."""
    from traindx.api import open_toolbelt, resolve_inputs
    from traindx.definitions.project import Project

    with resolve_inputs(list(paths)) as (scope, _), open_toolbelt(scope, Project.around(scope.root)) as toolbelt:
        result = toolbelt.call(CURVE, {"format": form})
    if result.status == "no_data":
        return diagnosis.model_copy(update={"missing": [*diagnosis.missing, f"`{out}` was not drawn: {result.reason}"]})
    write_picture(result, form, out)
    drawn = {**diagnosis.analysis_artifacts, "loss_visualization": str(out)}
    return diagnosis.model_copy(update={"analysis_artifacts": drawn})


def without_pictures(result: ToolResult) -> ToolResult:
    """The answer for a terminal: what is drawn is looked at in a file."""
    kept = {name: value for name, value in result.output.items() if name != FIELD}
    return result.model_copy(update={"output": kept})
