"""The server: what is offered, asked and answered, whatever carries the messages."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from traindx.definitions.content import PROMPTS
from traindx.definitions.version import __version__
from traindx.mcp import pages, templates
from traindx.mcp.answering import answered
from traindx.mcp.offer import Asked, Kept, Offer, Said, default_offers
from traindx.mcp.roots import ROOTS, asks_for_roots, told_roots
from traindx.mcp.workspace import Workspace, usual_roots

NAME = "traindx"
MOST_BYTES = 4 * 1024 * 1024
"""of one message, however it comes: no request of ours is a thousandth of that"""
Context = ServerRequestContext[Any, Any]

_READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_AT_ONCE = max(2, os.cpu_count() or 2)
"""requests that are worked on at the same time: each has a worker process of its own"""


class TraindxServer:
    """Our server, in the terms of the `mcp` package. `roots` bound what may be read; without them the host's do."""

    def __init__(self, roots: Sequence[Path] = (), *, all_tools: bool = False) -> None:
        self._roots = tuple(roots)
        self._all_tools = all_tools
        self._kept = Kept()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self.mcp: Server[Any] = Server(
            NAME,
            version=__version__,
            title="traindx: why a training run went wrong",
            instructions=instructions(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def offers(self) -> Mapping[str, Offer]:
        """What is offered, by name."""
        offered = default_offers()
        if not self._all_tools:
            return offered
        from traindx.mcp.analyses import analysis_offers

        return {**await asyncio.to_thread(analysis_offers), **offered}

    async def workspace(self, context: Context, answers: Mapping[str, Any] | None = None) -> Workspace:
        """What this request may look at."""
        if self._roots:
            return Workspace(self._roots)
        return Workspace(await told_roots(context, answers) or usual_roots())

    async def _list_tools(
        self, _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        offers = await self.offers()
        return types.ListToolsResult(tools=[_as_tool(offer) for offer in offers.values()])

    async def _call(
        self, context: Context, given: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if not self._roots and asks_for_roots(context, given.input_responses):
            return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
        workspace = await self.workspace(context, given.input_responses)
        async with self._room:
            teller = _Teller(context)
            asked = Asked(workspace, teller.tell, self._kept)
            try:
                said = await answered(await self.offers(), given.name, given.arguments or {}, asked)
            finally:
                await teller.close()
        return _as_result(said)

    async def _list_resources(
        self, _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_as_resource(page) for page in pages.listed(self._kept)])

    async def _list_resource_templates(
        self, _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=pages.FAILURE_MODE, name="failure mode", title="A failure mode in full",
                    mime_type=pages.MARKDOWN,
                )
            ]
        )  # fmt: skip

    async def _read_resource(
        self, _context: Context, given: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(given.uri)
        try:
            page = await asyncio.to_thread(pages.opened, uri, self._kept)
        except pages.NoSuchPage as error:
            raise refused(str(error)) from None
        if isinstance(page.content, bytes):
            blob = base64.b64encode(page.content).decode()
            return types.ReadResourceResult(
                contents=[types.BlobResourceContents(uri=uri, mime_type=page.mime, blob=blob)]
            )
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=page.mime, text=page.content)]
        )

    async def _list_prompts(
        self, _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.name.replace("-", " "),
                    description=one.summary,
                    arguments=[
                        types.PromptArgument(name=name, description=described, required=False)
                        for name, described in templates.ARGUMENTS.items()
                    ],
                )
                for one in templates.specialists().values()
            ]
        )

    async def _get_prompt(self, _context: Context, given: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = templates.filled(given.name, given.arguments or {})
        except templates.NoSuchPrompt as error:
            raise refused(str(error)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=templates.specialists()[given.name].summary, messages=[message])


class _Teller:
    """Progress of one request, from whatever thread it is told, in order and never after the answer."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._rows: asyncio.Queue[str | None] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._send())

    def tell(self, text: str) -> None:
        """Say what is being done."""
        self._loop.call_soon_threadsafe(self._rows.put_nowait, text[:200])

    async def close(self) -> None:
        """Stop telling; a client that is gone is not waited for."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _send(self) -> None:
        count = 0
        while (text := await self._rows.get()) is not None:
            count += 1
            await self._context.session.report_progress(count, None, text)


@cache
def instructions() -> str:
    """What hosts that defer the tools' definitions know of the server."""
    return (PROMPTS / "hosts" / "server-instructions.md").read_text(encoding="utf-8").strip()


def _as_tool(offer: Offer) -> types.Tool:
    return types.Tool(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        input_schema=dict(offer.input_schema),
        output_schema=dict(offer.output_schema),
        annotations=_READ_ONLY,
    )


def _as_result(said: Said) -> types.CallToolResult:
    content = [types.TextContent(type="text", text=said.text)]
    if said.failed:
        return types.CallToolResult(content=content, is_error=True)
    return types.CallToolResult(content=content, structured_content=dict(said.result))


def _as_resource(page: pages.Listed) -> types.Resource:
    return types.Resource(uri=page.uri, name=page.name, title=page.title, mime_type=page.mime)


def refused(said: str) -> MCPError:
    """A protocol error, for requests whose results cannot say that they failed."""
    return MCPError(code=types.INVALID_PARAMS, message=said)
