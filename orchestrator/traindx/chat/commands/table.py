"""The table of commands, and what happens with a line that begins with a slash."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from traindx.chat.commands import cost, evidence, explain, run, save, specialist, tools
from traindx.chat.session import ChatSession, Leave
from traindx.errors import nearest

Carry = Callable[[ChatSession, str], Awaitable[str]]
Known = Callable[[ChatSession, Sequence[str]], Sequence[str]]


def _nothing(_talk: ChatSession, _words: Sequence[str]) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Command:
    """What is typed, what it does, who does it, and what may follow its name."""

    name: str
    arguments: str
    help: str
    carry: Carry
    known: Known = _nothing


async def _help(_talk: ChatSession, _rest: str) -> str:
    width = max(len(f"/{row.name} {row.arguments}") for row in COMMANDS)
    rows = [f"{f'/{row.name} {row.arguments}':{width}}  {row.help}" for row in COMMANDS]
    listed = "\n".join(rows)
    return f"```\n{listed}\n```\nEverything else is a question, or a description of what you see."


async def _quit(_talk: ChatSession, _rest: str) -> str:
    raise Leave("")


COMMANDS = (
    Command("run", "", "what was read from the run, in brief", run.carry),
    Command("evidence", "[N]", "the evidence for cause N, shown in its files", evidence.carry, evidence.known),
    Command("explain", "[ID]", "a failure mode in full (default: cause 1)", explain.carry, explain.known),
    Command("tools", "[NAME [FIELD=VALUE …]]", "list the tools, or call one", tools.carry, tools.known),
    Command("specialist", "[NAME]", "send another specialist, or list them", specialist.carry, specialist.known),
    Command("save", "FILE", "the chat as Markdown; `/save! FILE` overwrites", save.carry, save.known),
    Command("cost", "", "tokens and dollars so far", cost.carry),
    Command("help", "", "this list", _help),
    Command("quit", "", "end the chat (Ctrl-D does too)", _quit),
)


async def carry_out(session: ChatSession, line: str) -> str:
    """The answer to a command; one line with the nearest name for a command that is none."""
    match = re.match(r"/(\w*)(!?)\s*(.*)", line.strip(), re.DOTALL)
    name, force, rest = match.groups() if match else ("", "", "")
    command = next((row for row in COMMANDS if row.name == name), None)
    if command is None:
        close = nearest(name, [row.name for row in COMMANDS])
        hint = f"Did you mean `/{close}`?" if close else "`/help` lists the commands."
        return f"There is no command `/{name}`. {hint}"
    return await command.carry(session, f"{rest} !" if force else rest)


def completions(session: ChatSession, line: str) -> list[str]:
    """What the word under the cursor may become."""
    words = line.split(" ")
    if not line.startswith("/"):
        return []
    if len(words) == 1:
        return [f"/{row.name}" for row in COMMANDS if f"/{row.name}".startswith(line)]
    command = next((row for row in COMMANDS if f"/{row.name}" == words[0].rstrip("!")), None)
    known = command.known(session, words[1:]) if command else ()
    return [row for row in known if row.startswith(words[-1])]
