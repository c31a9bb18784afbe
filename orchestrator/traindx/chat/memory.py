"""Chats kept in the user's state folder, so that they can be taken up again; never in the run that is talked about."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from traindx.contract import Diagnosis, Value
from traindx.errors import UnreadableInput, UnwritableOutput, UsageError
from traindx.pipeline.outputs import inside, write_file
from traindx.pipeline.transcript import read_transcript
from traindx.redaction import Redactor


class Turn(Value):
    """A question or a command, and what was answered, in Markdown."""

    asked: str
    answered: str
    by: str = Field(default="local", description="`local`, `command`, or the model that answered")


class Remembered(Value):
    """A chat as it is kept."""

    version: int = 1
    paths: list[str] = Field(description="what was looked at, resolved")
    message: str = ""
    diagnosis: Diagnosis
    turns: list[Turn] = Field(default_factory=list)
    case_file: str = ""
    tokens: int = 0
    cost_usd: float = 0.0
    saved: float = Field(default=0.0, description="when it was written, in seconds since 1970")


def state_folder() -> Path:
    """Where the user's programs keep what is not configuration (XDG base directory specification)."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()) / "traindx"


class Memory:
    """Where one chat is written, after every turn."""

    def __init__(self, paths: Sequence[str], place: Path | None = None) -> None:
        self.paths = [str(Path(path).resolve()) for path in paths]
        folder = state_folder() / "chats"
        self.place = (
            place or folder / f"{_stem(self.paths)}-{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}.json"
        )
        self.why_not = f"`{folder}` is inside the run folder" if inside(self.place, self.paths) else ""

    def keep(self, chat: Remembered) -> None:
        """Write it down, without secrets; a place that cannot be written is remarked upon, not fatal."""
        if self.why_not:
            return
        kept = chat.model_copy(update={"saved": time.time()})
        cleaned = Redactor().clean_json(kept.model_dump(mode="json", exclude={"paths"}))
        text = Remembered.model_validate({**cleaned, "paths": chat.paths}).model_dump_json(indent=1)
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(self.place, text, mode=0o600)
        except OSError as error:
            self.why_not = f"`{self.place.parent}` cannot be written: {error.strerror or error}"
        except UnwritableOutput as error:
            self.why_not = f"`{self.place.parent}` cannot be written: {error.why}"


def recall(paths: Sequence[str], named: str) -> tuple[Remembered, Path | None]:
    """The named chat, or the last one about these paths; a transcript counts as a chat without questions yet."""
    if named:
        place = _found(named)
        if place.suffix == ".jsonl":
            return _from_case(place), None
        return _read(place), place
    real = [str(Path(path).resolve()) for path in paths]
    kept = sorted((state_folder() / "chats").glob(f"{_stem(real)}-*.json"), key=lambda place: place.stat().st_mtime_ns)
    for place in reversed(kept):
        chat = _read(place)
        if chat.paths == real:
            return chat, place
    raise UsageError(
        f"there is no chat about `{' '.join(paths)}` to resume; start one: `traindx chat {' '.join(paths)}`"
    )


def _stem(paths: Sequence[str]) -> str:
    name = re.sub(r"[^\w.-]+", "-", Path(paths[0]).name if paths else "").strip("-.")[:40] or "run"
    return f"{name}-{hashlib.sha256(chr(0).join(paths).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _found(named: str) -> Path:
    folder = state_folder() / "chats"
    for place in (Path(named).expanduser(), folder / named, folder / f"{named}.json"):
        if place.is_file():
            return place
    raise UnreadableInput(named, f"no such chat; the kept ones are in `{folder}`")


def _read(place: Path) -> Remembered:
    try:
        return Remembered.model_validate_json(place.read_bytes())
    except OSError as error:
        raise UnreadableInput(place, error.strerror or "it cannot be opened") from None
    except (ValidationError, ValueError):
        raise UnreadableInput(place, "not a chat of this version of traindx") from None


def _from_case(place: Path) -> Remembered:
    record = read_transcript(place)
    diagnosis, asked = record.diagnosis, record.request
    if diagnosis is None:
        raise UnreadableInput(
            place, "it was interrupted before a diagnosis; `traindx diagnose PATH --resume-case` resumes it"
        )
    paths = [str(Path(path).resolve()) for path in asked.get("paths", [])]
    return Remembered(paths=paths, message=str(asked.get("message", "")), diagnosis=diagnosis, case_file=str(place))
