"""The room: diagnose, then answer what is typed, one line after another."""

from __future__ import annotations

import contextlib
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from traindx.chat import local
from traindx.chat.commands import carry_out, completions
from traindx.chat.editing import editing
from traindx.chat.memory import Memory, Remembered, Turn, recall
from traindx.chat.screen import Screen
from traindx.chat.summary import HINT, in_short
from traindx.chat.talk import Leave, Talk
from traindx.chat.turns import Interrupted, Turns
from traindx.errors import TraindxError, UsageError
from traindx.report.render import Page
from traindx.walk import Choices


@dataclass(frozen=True)
class Invitation:
    """What a chat is opened with; `resume` is empty for the last chat of the run, and `None` for a new one."""

    paths: list[str]
    message: str = ""
    choices: Choices = field(default_factory=Choices)
    resume: str | None = None
    quiet: bool = False


def chat(invitation: Invitation, page: Page) -> None:
    """Hold a chat on this terminal or pipe until it ends; raises `TraindxError` where it cannot begin."""
    earlier, place = recall(invitation.paths, invitation.resume) if invitation.resume is not None else (None, None)
    paths = invitation.paths or (earlier.paths if earlier else [])
    screen = Screen(page, quiet=invitation.quiet)
    choices = invitation.choices.copy()
    choices["listener"] = screen.hear
    with Turns() as turns:
        talk = Talk(paths, choices, page, turns.stop)
        room = Room(talk, screen, turns, Memory(paths, place))
        try:
            room.enter(invitation.message, earlier)
            with (
                editing(lambda line: completions(talk, line), paths) if screen.interactive else contextlib.nullcontext()
            ):
                room.stay()
        finally:
            screen.quiet_now()
            turns.take(talk.close())


@dataclass
class Room:
    """One chat under way."""

    talk: Talk
    screen: Screen
    turns: Turns
    memory: Memory

    def enter(self, message: str, earlier: Remembered | None) -> None:
        """Open the run; diagnose it, or take up where an earlier chat was."""
        try:
            self.turns.take(self.talk.open())
            if earlier is None:
                self.turns.take(self.talk.diagnose(message), gently=self.talk.with_model)
                self.screen.show(in_short(self.talk.diagnosis))
            else:
                self._take_up(earlier)
        except Interrupted:
            raise KeyboardInterrupt from None
        self.memory.keep(self.talk.remembered())
        if self.screen.interactive:
            self.screen.show(HINT)

    def stay(self) -> None:
        """Answer every line; ends with the last one."""
        while True:
            try:
                line = self.screen.next_line()
            except KeyboardInterrupt:
                if not self.screen.interactive:
                    raise
                self.screen.show("\n(Ctrl-D or `/quit` ends the chat.)")
                continue
            if line is None or not self._answered(line.strip()):
                break
        if self.screen.interactive:
            kept = f"traindx chat {shlex.join(self.talk.paths)} --resume"
            why_not = self.memory.why_not
            self.screen.show(f"This chat was not kept: {why_not}." if why_not else f"To go on another time: `{kept}`")

    def _answered(self, line: str) -> bool:
        """Answer one line; says whether the chat goes on."""
        if not line:
            return True
        by = "command" if line.startswith("/") else "local"
        try:
            if by == "command":
                said = self._shown(self.turns.take(carry_out(self.talk, line)))
            else:
                said, by = self._to_question(line)
        except Leave as leave:
            if str(leave):
                self.screen.show(str(leave))
            return False
        except (Interrupted, KeyboardInterrupt) as early:
            if isinstance(early, KeyboardInterrupt) and not self.screen.interactive:
                raise
            said = self._shown("(interrupted)")
        except TraindxError as error:
            said = self._shown(f"{str(error)[:1].upper()}{str(error)[1:]}")
        self.talk.turns.append(Turn(asked=line, answered=said, by=by))
        self.memory.keep(self.talk.remembered())
        return True

    def _to_question(self, line: str) -> tuple[str, str]:
        """The model's answer as it comes; without one, or where it fails, the local one with the reason."""
        small = self.turns.take(local.small_talk(self.talk, line))
        if small is not None:
            return self._shown(small), "local"
        lead = ""
        if self.talk.with_model:
            try:
                return self._streamed(line)
            except TraindxError as error:
                lead = f"(The model did not answer: {error}. From the local investigator:)\n\n"
        return self._shown(lead + self.turns.take(local.answer(self.talk, line))), "local"

    def _streamed(self, line: str) -> tuple[str, str]:
        with self.screen.streaming() as flow:
            said = self.turns.take(self.talk.ask(line))
            if not said.strip():
                raise TraindxError("it answered with nothing")
            if not flow.spoken:
                flow.feed(said)
        return said, self.talk.model

    def _shown(self, markdown: str) -> str:
        self.screen.show(markdown)
        return markdown

    def _take_up(self, earlier: Remembered) -> None:
        talk = self.talk
        if earlier.paths != [str(Path(path).resolve()) for path in talk.paths]:
            raise UsageError(f"that chat is about `{' '.join(earlier.paths)}`, not about `{' '.join(talk.paths)}`")
        talk.message, talk.diagnosis, talk.turns = earlier.message, earlier.diagnosis, list(earlier.turns)
        talk.tokens_before, talk.cost_before, talk.cost_of_earlier = earlier.tokens, earlier.cost_usd, earlier.cost_usd
        talk.resumed, talk.case_file = earlier, earlier.case_file
        asked = len(earlier.turns)
        when = (
            f", last spoken in {time.strftime('%Y-%m-%d %H:%M', time.localtime(earlier.saved))}"
            if earlier.saved
            else ""
        )
        parts = [
            f"Resumed: {asked} {'question' if asked == 1 else 'questions'} so far{when}.",
            in_short(talk.diagnosis),
        ]
        if earlier.turns:
            last = earlier.turns[-1]
            parts.append(f"You asked last: {last.asked}\n{last.answered.strip()}")
        if changed := _changed(earlier, talk.session.walk.scope.root):
            parts.append(f"{', '.join(changed)} changed since: say \u201cdiagnose again\u201d to have it read anew.")
        self.screen.show("\n\n".join(parts))


def _changed(earlier: Remembered, root: Path) -> list[str]:
    """The cited files that were written after the chat was kept, or are gone."""
    cited = dict.fromkeys(piece.source for cause in earlier.diagnosis.root_causes for piece in cause.evidence)
    found = []
    for name in cited if earlier.saved else ():
        with contextlib.suppress(OSError, ValueError):
            if (root / name).is_relative_to(root) and (root / name).stat().st_mtime > earlier.saved:
                found.append(f"`{name}`")
    return found
