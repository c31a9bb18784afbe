"""`traindx chat PATH`: talk about a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from traindx.cli.arguments import run_path
from traindx.cli.diagnose import Commands, add_brain_options, add_input_options, choices_from
from traindx.definitions.choices import STDIN
from traindx.errors import UsageError

EXAMPLES = """examples:
  traindx chat runs/42 -m "loss went up after epoch 7"
  traindx chat runs/42 --resume                     continue the last chat about it
  printf 'why?\\n/evidence 1\\n' | traindx chat runs/42
  traindx chat runs/42 --brain claude --model haiku --max-usd 0.20

In the chat, /help lists the commands; Ctrl-C interrupts an answer, Ctrl-D ends the chat. Without a key the local
investigator answers: why, show me, how do I fix it, what if I halve the lr, what was the lr at step 500 …"""


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "chat",
        parents=[shared],
        help="diagnose a run, then ask questions about it",
        description="Diagnoses a run, then answers questions: why, where, how to fix it, what if. Nothing in PATH is\n"
        "ever changed; chats are kept in $XDG_STATE_HOME/traindx/chats.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path", metavar="PATH", nargs="*", type=run_path, help="a run folder, a file from it, a zip or tar; or several"
    )
    parser.add_argument("-m", "--message", default="", help="what you see, in your own words")
    parser.add_argument(
        "--resume",
        metavar="CASE",
        nargs="?",
        const="",
        help="continue the last chat about PATH, or CASE (a saved chat or a transcript), without a new diagnosis",
    )
    parser.add_argument("--specialist", metavar="NAME", help="send this specialist (see `traindx agents`)")
    add_input_options(parser)
    add_brain_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hold the chat."""
    from traindx.chat import ChatOptions, chat
    from traindx.cli.output import page_for

    if args.json:
        raise UsageError("a chat has no JSON output; use `traindx diagnose PATH --json`")
    paths, resume = list(args.path), args.resume
    if resume and not paths and Path(resume).is_dir():
        # `traindx chat --resume runs/42`: the folder was meant as PATH.
        paths, resume = [resume], ""
    if sys.stdin is None:
        raise UsageError("a chat reads your questions from standard input, which is closed")
    if STDIN in paths:
        raise UsageError("a chat reads your questions from standard input: save the log to a file and pass its name")
    if not paths and not resume:
        raise UsageError("which run? `traindx chat PATH`")
    if resume is not None and args.message:
        raise UsageError("`--resume` keeps the earlier message; describe what you see now in the chat itself")
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    chat(ChatOptions(paths, args.message, choices_from(args), resume, args.quiet), page_for(args))
    return 0
