"""Slash commands: one file each beside this one, and the table of them."""

from traindx.chat.commands.table import COMMANDS, Command, carry_out, completions

__all__ = ["COMMANDS", "Command", "carry_out", "completions"]
