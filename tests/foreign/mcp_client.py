"""The client of MCP's authors, as published: PyPI's `mcp`.

    python mcp_client.py '{"url": "http://…/mcp", "key": "csk_…", "mode": "legacy"}'
    python mcp_client.py '{"command": "countersign", "args": ["mcp"], "env": {…}, "mode": "auto"}'

Its input and output are those of mcp-client.mjs.
"""

import json
import sys

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

ASKED = json.loads(sys.argv[1])


def tell(what):
    print(json.dumps(what), flush=True)


async def always_yes(context, params):
    """A server must not take this for a person's decision."""
    return ElicitResult(action="accept", content={"decision": "accept"})


async def speak(client):
    listed = await client.list_tools()
    tell({
        "connected": client.protocol_version,
        "server": client.server_info and client.server_info.name,
        "tools": [tool.name for tool in listed.tools],
    })
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        asked = json.loads(line)
        try:
            result = await client.call_tool(asked["tool"], asked["arguments"])
            tell(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        except MCPError as why:
            tell({"thrown": why.error.message, "code": why.error.code})


async def main():
    options = {"mode": ASKED["mode"], "elicitation_callback": always_yes}
    if "command" in ASKED:
        server = StdioServerParameters(command=ASKED["command"], args=ASKED["args"], env=ASKED["env"])
        async with Client(server, **options) as client:
            return await speak(client)
    headers = {"Authorization": f"Bearer {ASKED['key']}"} if ASKED.get("key") else {}
    async with httpx2.AsyncClient(headers=headers, timeout=90) as http:
        async with Client(streamable_http_client(ASKED["url"], http_client=http), **options) as client:
            await speak(client)


def reasons(why):
    """The errors inside of exception groups."""
    inner = getattr(why, "exceptions", None)
    return [text for one in inner for text in reasons(one)] if inner else [f"{type(why).__name__}: {why}"]


try:
    anyio.run(main)
except BaseException as why:  # noqa: BLE001: groups of exceptions come in every kind
    tell({"failed": "; ".join(reasons(why))})
