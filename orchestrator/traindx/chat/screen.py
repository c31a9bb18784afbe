"""What the reader sees: a prompt and a status line in a terminal, plain answers in a pipe."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from traindx.chat.flow import Flow
from traindx.chat.memory import state_folder
from traindx.contract import Event
from traindx.definitions.visible import visible
from traindx.pipeline.outputs import inside
from traindx.report.render import Page

PROMPT = "traindx> "
_CLEAR = "\r\x1b[K"


class Screen:
    """Shows answers, tells what is going on, and reads the next line."""

    def __init__(self, page: Page, *, quiet: bool = False) -> None:
        self.page = page
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._watched = self.interactive and sys.stderr.isatty() and not quiet
        self._busy = False
        self._flow: Flow | None = None
        self._lock = threading.Lock()

    def hear(self, event: Event) -> None:
        """Follow an investigation; while an answer streams, its words are written as they come."""
        if event.kind == "text" and self._flow is not None and not event.thought:
            self._status("")
            self._flow.feed(event.text)
            sys.stdout.flush()
        elif event.kind == "text":
            self._status("thinking")
        elif event.kind in {"stage", "tool_started"}:
            if self._flow is not None:
                self._flow.end()
            self._status(event.text)

    def show(self, markdown: str) -> None:
        """A whole answer, with air below it."""
        self._status("")
        flow = Flow(self._write, self.page)
        flow.feed(markdown.strip("\n"))
        flow.end()
        self._write("\n")
        sys.stdout.flush()

    @contextlib.contextmanager
    def streaming(self) -> Iterator[Flow]:
        """Words that are heard inside are written as they come."""
        self._flow = Flow(self._write, self.page)
        self._status("thinking")
        try:
            yield self._flow
        finally:
            self._status("")
            self._flow.end()
            if self._flow.spoken:
                self._write("\n")
            self._flow = None
            sys.stdout.flush()

    def quiet_now(self) -> None:
        """Take the status line away."""
        self._status("")

    def next_line(self) -> str | None:
        """What the user types; `None` when there is no more."""
        if self.interactive:
            try:
                return input(PROMPT)
            except EOFError:
                self._write("\n")
                return None
        if sys.stdin.isatty():
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return None
        typed = line.rstrip("\r\n")
        # A terminal shows what is typed; of a pipe the answers would stand there without their questions.
        if typed.strip() and not sys.stdin.isatty():
            self._write(f"{PROMPT}{visible(typed)}\n")
        return typed

    def _status(self, words: str) -> None:
        """One line of progress on stderr, where somebody watches; empty takes it away."""
        with self._lock:
            if not self._watched or (not words and not self._busy):
                return
            shown = visible(" ".join(words.split()))[: self.page.width - 4]
            sys.stderr.write(f"{_CLEAR}\x1b[2m· {shown}\x1b[0m" if words else _CLEAR)
            sys.stderr.flush()
            self._busy = bool(words)

    def _write(self, text: str) -> None:
        code = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(code, "replace").decode(code))


LONGEST_HISTORY = 1000


@contextlib.contextmanager
def editing(complete: Callable[[str], list[str]], paths: list[str]) -> Iterator[None]:
    """While inside, Tab completes and the arrow keys bring earlier lines back, also those of earlier chats."""
    try:
        import readline
    except ImportError:
        yield
        return
    place = state_folder() / "history"
    kept = not inside(place, paths)
    _bind(readline, complete)
    with contextlib.suppress(OSError, UnicodeError):
        if kept:
            readline.read_history_file(place)
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            if kept:
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                readline.set_history_length(LONGEST_HISTORY)
                readline.write_history_file(place)
                place.chmod(0o600)


def _bind(readline: Any, complete: Callable[[str], list[str]]) -> None:
    found: list[str] = []

    def nth(_word: str, number: int) -> str | None:
        nonlocal found
        if number == 0:
            # An exception in a completer would be swallowed and the line with it.
            try:
                found = complete(readline.get_line_buffer()[: readline.get_endidx()])
                found = [f"{found[0]} "] if len(found) == 1 and not found[0].endswith(("=", "/")) else found
            except Exception:  # noqa: BLE001 - the boundary to the line editor
                found = []
        return found[number] if number < len(found) else None

    # The default delimiters hold `/` and `-`, which are parts of our words.
    readline.set_completer_delims(" \t\n")
    readline.set_completer(nth)
    # macOS ships libedit under the name of readline, with a syntax of its own.
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
