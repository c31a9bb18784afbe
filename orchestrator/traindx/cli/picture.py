"""Pictures that tools draw: a tool answers with the picture, this process writes it where the user says."""

from __future__ import annotations

import base64
import binascii
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.definitions.choices import STDIN
from traindx.errors import TraindxError, UsageError
from traindx.pipeline.outputs import check_target, write_file

if TYPE_CHECKING:
    from traindx.contract import Diagnosis
    from traindx.runtime import ToolResult

FIELD = "pictures"
"""the field of a tool's output that holds them: `svg` as text, `png` in base64"""
CURVE = "visualize_loss_curve"
_FORMS = {".svg": "svg", ".png": "png"}


def form_of(out: Path, paths: Sequence[Path | str]) -> str:
    """What a file name asks for; raises `UsageError` where nothing may be written."""
    form = _FORMS.get(out.suffix.lower())
    if form is None:
        check_target(out)
        raise UsageError(f"cannot write `{out}`: name the picture `*.png` or `*.svg`")
    if STDIN in map(str, paths):
        raise UsageError("a log on standard input is read once: save it to a file to have it drawn as well")
    check_target(out, paths)
    if form == "png" and importlib.util.find_spec("PIL") is None:
        raise UsageError(f"cannot write `{out}`: a PNG needs `pillow`: pip install pillow, or name it `*.svg`")
    return form


def write_picture(result: ToolResult, form: str, out: Path) -> None:
    """Write one picture of a tool's answer."""
    drawn = result.output.get(FIELD)
    text = drawn.get(form) if isinstance(drawn, dict) else None
    if not isinstance(text, str):
        raise UsageError(f"`{result.tool}` drew no {form.upper()}: {result.reason or 'its output has none'}")
    try:
        data = text.encode() if form == "svg" else base64.b64decode(text, validate=True)
    except binascii.Error:
        raise UsageError(f"`{result.tool}` answered with a PNG that is not base64") from None
    write_file(out, data)


def illustrated(
    diagnosis: Diagnosis, paths: Sequence[Path | str], form: str, out: Path, max_input: int | None = None
) -> Diagnosis:
    """The diagnosis with the loss curve drawn into `out`, or with the reason why it was not: no picture costs it."""
    from traindx.api import open_toolbelt, resolve_inputs
    from traindx.definitions.project import Project

    try:
        with (
            resolve_inputs(list(paths), max_input) as (scope, _),
            open_toolbelt(scope, Project.around(scope.root)) as toolbelt,
        ):
            result = toolbelt.call(CURVE, {"format": form})
        if result.status == "no_data":
            why = f"`{out}` was not drawn: {result.reason}"
            return diagnosis.model_copy(update={"missing": [*diagnosis.missing, why]})
        write_picture(result, form, out)
    except TraindxError as error:
        made = diagnosis.provenance
        unwritten = [*made.unwritten, str(error)]
        return diagnosis.model_copy(update={"provenance": made.model_copy(update={"unwritten": unwritten})})
    drawn = {**diagnosis.analysis_artifacts, "loss_visualization": str(out)}
    return diagnosis.model_copy(update={"analysis_artifacts": drawn})


def without_pictures(result: ToolResult) -> ToolResult:
    """The answer for a terminal: what is drawn is looked at in a file."""
    kept = {name: value for name, value in result.output.items() if name != FIELD}
    return result.model_copy(update={"output": kept})
