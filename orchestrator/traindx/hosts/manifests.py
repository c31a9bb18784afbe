"""The manifests by which agent hosts recognise this repository as their plugin, from what pyproject says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME = "traindx"
AUTHOR = {"name": "The traindx authors"}
LAUNCHER = "skills/ml-training-debugger/scripts/serve.py"
"""every host carries a plugin's skills along, not every one its other folders"""
_STANDARD = "https://agent-plugins.org/schemas/1.0.0"


@dataclass(frozen=True)
class About:
    """What pyproject says of the project."""

    version: str
    description: str
    license: str
    keywords: tuple[str, ...]


def manifests(about: About) -> dict[str, str]:
    """Every manifest by its path in the repository."""
    base: dict[str, Any] = {
        "name": NAME,
        "version": about.version,
        "description": about.description,
        "author": AUTHOR,
        "license": about.license,
        "keywords": list(about.keywords),
    }
    files = {
        ".claude-plugin/plugin.json": base,
        ".claude-plugin/marketplace.json": {
            "name": NAME,
            "description": about.description,
            "owner": AUTHOR,
            "plugins": [{"name": NAME, "source": "./", "description": about.description, "version": about.version}],
        },
        ".mcp.json": {"mcpServers": {NAME: _server("${CLAUDE_PLUGIN_ROOT}/")}},
        # The Agent Plugins standard: VS Code, Copilot, Cursor, Codex, Kiro.
        "plugin.json": {"$schema": f"{_STANDARD}/plugin.schema.json", **base},
        "mcp.json": {
            "$schema": f"{_STANDARD}/mcp.schema.json",
            "mcpServers": {NAME: {"type": "stdio", **_server("${PLUGIN_ROOT}/")}},
        },
        ".codex-plugin/plugin.json": {**base, "skills": "./skills/", "mcpServers": "./mcp.json"},
        ".agents/plugins/marketplace.json": {
            "name": NAME,
            "plugins": [
                {
                    "name": NAME,
                    "source": {"source": "local", "path": "./"},
                    "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                    "category": "Developer Tools",
                }
            ],
        },
        ".cursor-plugin/plugin.json": {**base, "skills": "skills", "agents": "agents", "mcpServers": "mcp.json"},
        "gemini-extension.json": {
            "name": NAME,
            "version": about.version,
            "description": about.description,
            "contextFileName": "AGENTS.md",
            "mcpServers": {NAME: _server("${extensionPath}${/}")},
        },
        ".vscode/mcp.json": {"servers": {NAME: {"type": "stdio", **_server("${workspaceFolder}/")}}},
    }
    return {path: as_json(content) for path, content in files.items()}


def as_json(content: Mapping[str, Any]) -> str:
    """A manifest as it stands in its file."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _server(folder: str) -> dict[str, Any]:
    return {"command": "python3", "args": [f"{folder}{LAUNCHER}"]}
