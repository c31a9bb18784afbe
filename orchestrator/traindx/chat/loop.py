"""The room: diagnose, then answer what is typed, one line after another."""

from __future__ import annotations

import contextlib
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from traindx.api import Choices
from traindx.chat import local
from traindx.chat.commands import carry_out, completions
from traindx.chat.memory import Memory, Remembered, Turn, recall
from traindx.chat.screen import Screen, editing
from traindx.chat.session import ChatSession, Leave
from traindx.chat.summary import HINT, in_short
from traindx.chat.turns import Interrupted, Turns
from traindx.errors import TraindxError, UsageError
from traindx.report.render import Page


@dataclass(frozen=True)
class ChatOptions:
    """What a chat is opened with; `resume` is empty for the last chat of the run, and `None` for a new one."""

    paths: list[str]
    message: str = ""
    choices: Choices = field(default_factory=Choices)
    resume: str | None = None
    quiet: bool = False


def chat(options: ChatOptions, page: Page) -> None:
    """Hold a chat on this terminal or pipe until it ends; raises `TraindxError` where it cannot begin."""
    earlier, place = recall(options.paths, options.resume) if options.resume is not None else (None, None)
    paths = options.paths or (earlier.paths if earlier else [])
    screen = Screen(page, quiet=options.quiet)
    choices = options.choices.copy()
    choices["listener"] = screen.hear
    with Turns() as turns:
        session = ChatSession(paths, choices, page, turns.stop)
        room = Room(session, screen, turns, Memory(paths, place))
        try:
            room.enter(options.message, earlier)
            with (
                editing(lambda line: completions(session, line), paths)
                if screen.interactive
                else contextlib.nullcontext()
            ):
                room.stay()
        finally:
            screen.quiet_now()
            turns.take(session.close())


@dataclass
class Room:
    """One chat under way."""

    session: ChatSession
    screen: Screen
    turns: Turns
    memory: Memory

    def enter(self, message: str, earlier: Remembered | None) -> None:
        """Open the run; diagnose it, or take up where an earlier chat was."""
        try:
            self.turns.take(self.session.open())
            if earlier is None:
                self.turns.take(self.session.diagnose(message), gently=self.session.with_model)
                self.screen.show(in_short(self.session.diagnosis))
            else:
                self._take_up(earlier)
        except Interrupted:
            raise KeyboardInterrupt from None
        self.memory.keep(self.session.remembered())
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
            kept = f"traindx chat {shlex.join(self.session.paths)} --resume"
            why_not = self.memory.why_not
            self.screen.show(f"This chat was not kept: {why_not}." if why_not else f"To continue later: `{kept}`")

    def _answered(self, line: str) -> bool:
        """Answer one line; says whether the chat goes on."""
        if not line:
            return True
        by = "command" if line.startswith("/") else "local"
        try:
            if by == "command":
                said = self._shown(self.turns.take(carry_out(self.session, line)))
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
        self.session.turns.append(Turn(asked=line, answered=said, by=by))
        self.memory.keep(self.session.remembered())
        return True

    def _to_question(self, line: str) -> tuple[str, str]:
        """The model's answer as it comes; without one, or where it fails, the local one with the reason."""
        small = self.turns.take(local.quick_reply(self.session, line))
        if small is not None:
            return self._shown(small), "local"
        lead = ""
        if self.session.with_model:
            try:
                return self._streamed(line)
            except TraindxError as error:
                lead = f"(The model did not answer: {error}. From the local investigator:)\n\n"
        return self._shown(lead + self.turns.take(local.answer(self.session, line))), "local"

    def _streamed(self, line: str) -> tuple[str, str]:
        with self.screen.streaming() as flow:
            said = self.turns.take(self.session.ask(line))
            if not said.strip():
                raise TraindxError("its answer was empty")
            if not flow.spoken:
                flow.feed(said)
        return said, self.session.model

    def _shown(self, markdown: str) -> str:
        self.screen.show(markdown)
        return markdown

    def _take_up(self, earlier: Remembered) -> None:
        session = self.session
        if earlier.paths != [str(Path(path).resolve()) for path in session.paths]:
            raise UsageError(f"that chat is about `{' '.join(earlier.paths)}`, not about `{' '.join(session.paths)}`")
        session.message, session.diagnosis, session.turns = earlier.message, earlier.diagnosis, list(earlier.turns)
        session.tokens_before, session.cost_before, session.cost_of_earlier = (
            earlier.tokens,
            earlier.cost_usd,
            earlier.cost_usd,
        )
        session.resumed, session.case_file = earlier, earlier.case_file
        asked = len(earlier.turns)
        when = f", last used {time.strftime('%Y-%m-%d %H:%M', time.localtime(earlier.saved))}" if earlier.saved else ""
        parts = [
            f"Resumed: {asked} {'question' if asked == 1 else 'questions'} so far{when}.",
            in_short(session.diagnosis),
        ]
        if earlier.turns:
            last = earlier.turns[-1]
            parts.append(f"Your last question: {last.asked}\n{last.answered.strip()}")
        if changed := _changed(earlier, session.session.run.scope.root):
            parts.append(f"{', '.join(changed)} changed since then: say \u201cdiagnose again\u201d.")
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
