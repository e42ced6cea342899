"""The action digest: SHA-256 over the canonical form of exactly the call to run (R-3).

Versioned and tagged by kind, so that an approval at one kind of enforcement point is invalid at another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .canonical import digest

VERSION = 1


def agent_action(project: str, principal: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An action announced and claimed by an agent itself, at `/v1`."""
    return _action("agent", project, principal, tool=tool, arguments=dict(arguments))


def tool_action(
    project: str, principal: str, server: str, tool: str, definition_sha256: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """A tool call as an MCP proxy would send it."""
    members = {"server": server, "tool": tool, "definition_sha256": definition_sha256, "arguments": dict(arguments)}
    return _action("tool", project, principal, **members)


def http_action(
    project: str,
    principal: str,
    route: str,
    method: str,
    origin: str,
    target: str,
    body_sha256: str,
    content_type: str = "",
    content_encoding: str = "",
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A request as the gateway would forward it; `headers` are those that the route lists, in lower case."""
    members = {"route": route, "method": method, "origin": origin, "target": target, "body_sha256": body_sha256}
    described = {"content_type": content_type, "content_encoding": content_encoding, "headers": dict(headers or {})}
    return _action("http", project, principal, **members, **described)


def action_digest(action: Mapping[str, Any]) -> str:
    """The digest of an action, in hex."""
    return digest(action)


def _action(kind: str, project: str, principal: str, **members: Any) -> dict[str, Any]:
    return {"v": VERSION, "kind": kind, "project": project, "principal": principal, **members}
