"""`traindx completion SHELL`: a script that lets the Tab key complete commands, options and names."""

from __future__ import annotations

import argparse
from functools import partial
from typing import NamedTuple

from traindx.cli.diagnose import Commands

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """to switch it on:
  bash   eval "$(traindx completion bash)"                 in ~/.bashrc
  zsh    source <(traindx completion zsh)                  in ~/.zshrc, after compinit
  fish   traindx completion fish > ~/.config/fish/completions/traindx.fish"""


class Word(NamedTuple):
    """An option or a positional argument: its spellings, what it is for, and what may follow."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...] = ()
    label: str = ""


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "completion",
        parents=[shared],
        help="print a completion script for your shell",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(run=partial(run, commands))


def run(commands: Commands[argparse.ArgumentParser], args: argparse.Namespace) -> int:
    """Print the script, made from the commands as they are declared."""
    from traindx.cli.output import write

    told = {action.dest: action.help or "" for action in commands._choices_actions}
    names = _names()
    words = {name: _words(parser, names) for name, parser in commands.choices.items()}
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    write(script(told, words))
    return 0


def _names() -> dict[str, tuple[str, ...]]:
    """What can stand for an argument, by its name."""
    from traindx.api import load_registry
    from traindx.definitions.project import Project
    from traindx.runtime import tool_names

    registry = load_registry(Project())
    return {"id": tuple(registry.catalog), "specialist": tuple(registry.specialists), "name": tuple(tool_names([]))}


def _words(parser: argparse.ArgumentParser, names: dict[str, tuple[str, ...]]) -> list[Word]:
    return [
        Word(
            flags=tuple(action.option_strings),
            help=" ".join((action.help or "").replace("%%", "%").split()),
            takes_value=action.nargs != 0,
            values=tuple(map(str, action.choices or names.get(action.dest, ()))),
            label=str(action.metavar or action.dest),
        )
        for action in parser._actions
        if action.help != argparse.SUPPRESS
    ]


def _bash(told: dict[str, str], words: dict[str, list[Word]]) -> str:
    cases = "\n".join(_bash_case(name, rows) for name, rows in words.items())
    return f"""# bash completion for traindx
_traindx() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W "{" ".join(told)} --help --version" -- "$cur"))
        return
    fi
    # Where nothing is offered, bash completes file names.
    case "$command" in
{cases}
    esac
}}
complete -o bashdefault -o default -F _traindx traindx
"""


def _bash_case(name: str, words: list[Word]) -> str:
    options = tuple(flag for word in words for flag in word.flags)
    first = next((word.values for word in words if not word.flags and word.values), ())
    rows = [f"        {name})", '            case "$prev" in']
    for word in words:
        if word.flags and word.takes_value:
            offered = f"{_compgen(word.values)}; return" if word.values else "return"
            rows.append(f"                {'|'.join(word.flags)}) {offered} ;;")
    rows += ["            esac", '            if [[ "$cur" == -* ]]; then', f"                {_compgen(options)}"]
    if first:
        rows += ["            elif (( COMP_CWORD == 2 )); then", f"                {_compgen(first)}"]
    return "\n".join([*rows, "            fi ;;"])


def _compgen(words: tuple[str, ...]) -> str:
    return f"""COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))"""


def _zsh(told: dict[str, str], words: dict[str, list[Word]]) -> str:
    commands = "\n".join(f"        {_quoted(f'{name}:{text}')}" for name, text in told.items())
    cases = "\n".join(
        f"        {name})\n            _arguments -s \\\n"
        + " \\\n".join(f"                {row}" for word in rows for row in _zsh_rows(word))
        + " ;;"
        for name, rows in words.items()
    )
    return f"""#compdef traindx
_traindx() {{
    local -a commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command="$words[2]"
    shift words
    (( CURRENT-- ))
    case "$command" in
{cases}
    esac
}}
if [[ "$funcstack[1]" == "_traindx" ]]; then
    _traindx "$@"
else
    compdef _traindx traindx
fi
"""


def _zsh_rows(word: Word) -> list[str]:
    follows = f":{_zsh_text(word.label)}:{'(' + ' '.join(word.values) + ')' if word.values else '_files'}"
    if not word.flags:
        return [_quoted(f"*{follows}" if not word.values else f"1{follows}")]
    return [_quoted(f"{flag}[{_zsh_text(word.help)}]{follows if word.takes_value else ''}") for flag in word.flags]


def _zsh_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _fish(told: dict[str, str], words: dict[str, list[Word]]) -> str:
    rows = ["# fish completion for traindx"]
    rows += [
        f"complete -c traindx -n __fish_use_subcommand -f -a {name} -d {_quoted(text, fish=True)}"
        for name, text in told.items()
    ]
    for name, found in words.items():
        after = f"complete -c traindx -n '__fish_seen_subcommand_from {name}'"
        rows += [f"{after}{_fish_word(word)}" for word in found if word.flags or word.values]
    return "\n".join(rows) + "\n"


def _fish_word(word: Word) -> str:
    flags = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in word.flags)
    if word.values:
        # -x: a value must follow, and no file; -f: no files among the words themselves.
        flags += f" {'-x' if word.flags else '-f'} -a {_quoted(' '.join(word.values), fish=True)}"
    elif word.takes_value:
        flags += " -r"
    return f"{flags} -d {_quoted(word.help or word.label, fish=True)}"


def _quoted(text: str, *, fish: bool = False) -> str:
    """In single quotes: fish escapes with a backslash inside them, the others end them for a moment."""
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"
