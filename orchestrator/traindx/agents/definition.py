"""The front matter of a specialist: exactly the keys that Claude Code reads in a subagent file."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from traindx.errors import did_you_mean

MODELS = ("opus", "sonnet", "haiku", "fable", "inherit")
COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")


class AgentDefinition(BaseModel):
    """One schema for the file and for the orchestrator; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    description: str = Field(min_length=20)
    tools: tuple[str, ...]
    disallowed_tools: tuple[str, ...] = Field(default=(), alias="disallowedTools")
    model: str = "inherit"
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    permission_mode: str | None = Field(default=None, alias="permissionMode")
    max_turns: int | None = Field(default=None, alias="maxTurns", gt=0)
    skills: tuple[str, ...] = ()
    mcp_servers: Any = Field(default=None, alias="mcpServers")
    hooks: Any = None
    memory: str | None = None
    background: bool | None = None
    isolation: str | None = None
    omit_claude_md: bool | None = Field(default=None, alias="omitClaudeMd")
    color: str | None = None

    @field_validator("tools", "disallowed_tools", "skills", mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        """Claude Code accepts both a comma-separated line and a YAML list."""
        return [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given

    @field_validator("model")
    @classmethod
    def _model(cls, given: str) -> str:
        if given not in MODELS and not given.startswith("claude-"):
            hint = did_you_mean(given, MODELS) or f" Use one of {', '.join(MODELS)}, or a full `claude-…` id."
            raise ValueError(f"unknown model.{hint}")
        return given

    @field_validator("color")
    @classmethod
    def _color(cls, given: str | None) -> str | None:
        if given is not None and given not in COLORS:
            raise ValueError(
                f"unknown colour.{did_you_mean(given, COLORS) or ' Use one of ' + ', '.join(COLORS) + '.'}"
            )
        return given

    @field_validator("memory")
    @classmethod
    def _memory(cls, given: str | None) -> str | None:
        # In Claude Code `memory` silently adds Write and Edit to the agent's tools.
        if given is not None:
            raise ValueError("a read-only specialist cannot have `memory`: it brings Write and Edit along")
        return given
