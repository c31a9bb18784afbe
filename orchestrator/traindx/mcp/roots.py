"""The folders that a host has open, asked as each generation of the protocol allows."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from traindx.mcp.workspace import paths_of

ROOTS = "roots"
"""the name under which a host's answer comes back"""
_PATIENCE = 5.0
"""seconds for a host to say what it has open; after that it counts as having said nothing"""

Context = ServerRequestContext[Any, Any]


def asks_for_roots(context: Context, answers: Mapping[str, Any] | None) -> bool:
    """Whether the host has to be asked first: since 2026-07-28 a server answers with what it needs to know."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and _declared(context) and not answers


async def told_roots(context: Context, answers: Mapping[str, Any] | None) -> list[Path]:
    """What the host has open; nothing where it does not say."""
    if answers:
        given = answers.get(ROOTS)
        return _paths(given) if isinstance(given, types.ListRootsResult) else []
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS or not _declared(context):
        return []
    try:
        with warnings.catch_warnings():
            # Roots are deprecated in the newest protocol; hosts of the older ones have nothing else.
            warnings.simplefilter("ignore")
            asked = context.session.list_roots()
        return _paths(await asyncio.wait_for(asked, _PATIENCE))
    except (MCPError, TimeoutError, asyncio.TimeoutError, ValueError):
        return []


def _declared(context: Context) -> bool:
    able = context.session.client_capabilities
    return able is not None and able.roots is not None


def _paths(result: types.ListRootsResult) -> list[Path]:
    return paths_of(str(root.uri) for root in result.roots)
