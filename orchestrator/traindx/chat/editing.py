"""Line editing in a terminal: history and completion, where the `readline` module exists."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from traindx.chat.memory import inside, state_folder

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
