"""The MCP server: how much its tools weigh, how soon it answers, and its first diagnosis beside the command line's.

Best of several, in one run: `python benchmarks/mcp_server.py`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

RUN = Path(__file__).resolve().parents[1] / "examples" / "schedule-change"
TIMES = 5
SERVER = StdioServerParameters(command=sys.executable, args=["-m", "traindx", "mcp"], cwd=str(RUN.parent))


async def conversation() -> tuple[float, int, float]:
    """Seconds until the tools are listed, their characters, and seconds of the first diagnosis."""
    began = time.perf_counter()
    async with Client(stdio_client(SERVER)) as client:
        tools = (await client.list_tools()).tools
        listed = time.perf_counter() - began
        size = len(json.dumps([row.model_dump(mode="json", by_alias=True, exclude_none=True) for row in tools]))
        began = time.perf_counter()
        result = await client.call_tool("diagnose", {"run": RUN.name})
        assert result.structured_content["root_causes"][0]["id"] == "lr-schedule-spike"
        return listed, size, time.perf_counter() - began


def command() -> float:
    """Seconds of the same diagnosis by the command."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "traindx", "diagnose", str(RUN), "--json"], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    rows = [(asyncio.run(conversation()), command()) for _ in range(TIMES)]
    listed, size, first = (min(row[0][at] for row in rows) for at in range(3))
    by_command = min(row[1] for row in rows)
    print(f"tools/list                 {size / 4:6.0f} tokens (characters / 4; bar 3,000)")
    print(f"start, handshake, list     {listed:6.2f} s (bar 1 s)")
    print(f"first diagnose             {first:6.2f} s")
    print(f"traindx diagnose           {by_command:6.2f} s")
    print(f"ratio                      {first / by_command:6.2f} (bar 1.5)")


if __name__ == "__main__":
    main()
