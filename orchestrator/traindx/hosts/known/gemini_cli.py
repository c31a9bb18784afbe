"""Gemini CLI: `~/.gemini/settings.json`."""

from traindx.hosts.json_file import JsonHost

HOST = JsonHost("Gemini CLI", lambda machine: machine.home / ".gemini" / "settings.json", commands=("gemini",))
