"""An AAP agent: it acts for one person, at one service, under one operator; its tokens are bound to its key (DPoP)."""

from __future__ import annotations

import json as jsons
from collections.abc import Mapping
from typing import Any

import httpx

from ._aap import (
    AgentState,
    ApiCall,
    ApiResponse,
    NotRegistered,
    NotUsable,
    Operator,
    SessionCredential,
    is_intent_type,
)
from ._steps import AsyncDriver, SyncDriver
from .client import AsyncCountersign, Countersign
from .jws import SigningKey

__all__ = ["Agent", "ApiResponse", "AsyncAgent", "NotRegistered", "NotUsable", "Operator"]


def _call(
    method: str,
    path: str,
    json: Any,
    content: bytes | None,
    content_type: str | None,
    intent_type: str | None,
    confirm: str | None,
    dry_run: bool,
    wait: int | None,
) -> ApiCall:
    headers: dict[str, str] = {}
    if json is not None:
        content, content_type = jsons.dumps(json, ensure_ascii=False, allow_nan=False).encode(), "application/json"
    if content_type is not None:
        headers["content-type"] = content_type
    if intent_type is not None:
        if not is_intent_type(intent_type):
            raise ValueError("an intent type is a word of the service's vocabulary such as SCHEDULE_EVENT")
        headers["x-agent-intent-type"] = intent_type
    if confirm is not None:
        headers["x-agent-confirm"] = confirm
    if dry_run:
        headers["x-agent-dry-run"] = "true"
    if wait is not None:
        headers["prefer"] = f"wait={wait}"
    return ApiCall(method.upper(), path, content, headers)


class _Agent:
    """What both agents share."""

    def __init__(self, state: AgentState) -> None:
        self._state = state

    @property
    def delegation_id(self) -> str | None:
        return self._state.delegation_id

    @property
    def delegation_token(self) -> str | None:
        """Store it safely between two runs; it grants nothing by itself."""
        return self._state.delegation_token

    @property
    def session_id(self) -> str | None:
        return self._state.session.id if self._state.session else None

    @property
    def session_key(self) -> SigningKey | None:
        """The key of the session. A session that goes on after a restart is registered with the same one."""
        return self._state.session.proofs.key if self._state.session else None

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        return self._state.manifest

    def restore(self, delegation_token: str) -> None:
        """Goes on with the delegation of an earlier run."""
        self._state.restore(delegation_token)


class Agent(_Agent):
    """The synchronous agent."""

    def __init__(self, service: str, operator: Operator, *, http: httpx.Client | None = None, **more: Any) -> None:
        """`service` is the public origin; `api` the gateway's, if its manifest does not name it."""
        super().__init__(AgentState(service, operator, **more))
        self._driver = SyncDriver(http)

    def discover(self) -> Mapping[str, Any]:
        return self._driver.run(self._state.discover())

    def connect(self, scopes: list[str], callback: str | None = None) -> str:
        """The page for the person to open. They get a code, for `finish`; with a callback, their browser brings it."""
        return self._driver.run(self._state.connect(scopes, callback))

    def finish(self, code: str) -> str:
        """Exchanges the code for the delegation, and returns its id."""
        return self._driver.run(self._state.finish(code))

    def register(self, receipt: str | None = None, key: SigningKey | None = None) -> str:
        """Opens the session of one task, with the person's consent receipt, and returns its id. Each session has a key
        of its own; `key` is that of a session from before a restart."""
        return self._driver.run(self._state.register(receipt, key))

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        content_type: str | None = None,
        intent_type: str | None = None,
        confirm: str | None = None,
        dry_run: bool = False,
        wait: int | None = None,
    ) -> ApiResponse:
        """A call of the API. Refusals of the protocol are errors; those of the API itself are its response.

        A held call raises `ConfirmationNeeded`; a write whose effect is open raises `OutcomeUnknown`.
        """
        call = _call(method, path, json, content, content_type, intent_type, confirm, dry_run, wait)
        return self._driver.run(self._state.call(call))

    def call_approved(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        content_type: str | None = None,
        intent_type: str | None = None,
        timeout: float | None = None,
    ) -> ApiResponse:
        """A call that waits for the person if it is held, and then runs, once."""
        call = _call(method, path, json, content, content_type, intent_type, None, False, None)
        return self._driver.run(self._state.call_approved(call, timeout))

    def heartbeat(self, status: str = "running", progress: int | None = None) -> dict[str, Any]:
        """Reports that a long task goes on. A refusal means that the session is over: stop."""
        body = {"status": status} if progress is None else {"status": status, "progress": progress}
        return self._driver.run(self._state.about_session("heartbeat", body))

    def complete(self, summary: str | None = None) -> dict[str, Any]:
        """Reports the task as complete; the session ends."""
        return self._driver.run(self._state.about_session("task_complete", {"summary": summary} if summary else {}))

    def cancel(self, reason: str | None = None) -> dict[str, Any]:
        """Ends the session, and has the service undo what it can."""
        return self._driver.run(self._state.about_session("cancel", {"reason": reason} if reason else {}))

    def undo(self, undo_url: str) -> dict[str, Any]:
        return self._driver.run(self._state.undo(undo_url))

    def client(self, **more: Any) -> Countersign:
        """A client for decisions, clarifications and plans in this session."""
        credential = SessionCredential(self._state)
        return Countersign(self._state.service, credential, project=self._state.project, http=self._driver.http, **more)

    def close(self) -> None:
        self._driver.http.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


class AsyncAgent(_Agent):
    """The asynchronous agent, with the methods of `Agent`."""

    def __init__(self, service: str, operator: Operator, *, http: httpx.AsyncClient | None = None, **more: Any) -> None:
        super().__init__(AgentState(service, operator, **more))
        self._driver = AsyncDriver(http)

    async def discover(self) -> Mapping[str, Any]:
        return await self._driver.run(self._state.discover())

    async def connect(self, scopes: list[str], callback: str | None = None) -> str:
        return await self._driver.run(self._state.connect(scopes, callback))

    async def finish(self, code: str) -> str:
        return await self._driver.run(self._state.finish(code))

    async def register(self, receipt: str | None = None, key: SigningKey | None = None) -> str:
        return await self._driver.run(self._state.register(receipt, key))

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        content_type: str | None = None,
        intent_type: str | None = None,
        confirm: str | None = None,
        dry_run: bool = False,
        wait: int | None = None,
    ) -> ApiResponse:
        call = _call(method, path, json, content, content_type, intent_type, confirm, dry_run, wait)
        return await self._driver.run(self._state.call(call))

    async def call_approved(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        content_type: str | None = None,
        intent_type: str | None = None,
        timeout: float | None = None,
    ) -> ApiResponse:
        call = _call(method, path, json, content, content_type, intent_type, None, False, None)
        return await self._driver.run(self._state.call_approved(call, timeout))

    async def heartbeat(self, status: str = "running", progress: int | None = None) -> dict[str, Any]:
        body = {"status": status} if progress is None else {"status": status, "progress": progress}
        return await self._driver.run(self._state.about_session("heartbeat", body))

    async def complete(self, summary: str | None = None) -> dict[str, Any]:
        body = {"summary": summary} if summary else {}
        return await self._driver.run(self._state.about_session("task_complete", body))

    async def cancel(self, reason: str | None = None) -> dict[str, Any]:
        return await self._driver.run(self._state.about_session("cancel", {"reason": reason} if reason else {}))

    async def undo(self, undo_url: str) -> dict[str, Any]:
        return await self._driver.run(self._state.undo(undo_url))

    def client(self, **more: Any) -> AsyncCountersign:
        credential, http = SessionCredential(self._state), self._driver.http
        return AsyncCountersign(self._state.service, credential, project=self._state.project, http=http, **more)

    async def close(self) -> None:
        await self._driver.http.aclose()

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()
