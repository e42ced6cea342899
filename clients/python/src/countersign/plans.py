"""Plans (MPLP): approved once, then each call that fits runs without a further question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._steps import AsyncDriver, Flow, Send, SyncDriver
from ._wire import Wire, json_request, patiently, segment
from .errors import BadAnswer

Document = dict[str, Any]


def _submit(wire: Wire, plan: Mapping[str, Any], propose: bool, patience: float) -> Flow[tuple[Document, str | None]]:
    """The plan as stored and, if it was proposed, the id of its decision. The same plan may be sent again."""
    send = json_request("POST", wire.url("/mplp/v1/plans" + ("?propose=true" if propose else "")), plan)
    answer = yield from patiently(lambda: wire.exchange(send), patience)
    document = answer.json()
    if not isinstance(document, dict):
        raise BadAnswer("plans")
    return document, answer.headers.get("countersign-decision")


def _of_plan(wire: Wire, method: str, plan_id: str, below: str, body: Any = None) -> Flow[Document]:
    url = wire.url(f"/mplp/v1/plans/{segment(plan_id)}{below}")
    send = Send(method, url) if method == "GET" else json_request(method, url, body or {})
    document = yield from wire.document(send)
    if not isinstance(document, dict):
        raise BadAnswer("plans")
    return document


def _step(plan_id: str, step_id: str, status: str) -> tuple[str, str, str, Document]:
    return "POST", plan_id, f"/steps/{segment(step_id)}", {"status": status}


class Plans:
    """`client.plans`"""

    def __init__(self, driver: SyncDriver, wire: Wire, patience: float) -> None:
        self._driver, self._wire, self._patience = driver, wire, patience

    def submit(self, plan: Mapping[str, Any], *, propose: bool = False) -> tuple[Document, str | None]:
        """Writes a plan with the actions of its steps; with `propose`, people are asked: wait for the decision."""
        return self._driver.run(_submit(self._wire, plan, propose, self._patience))

    def get(self, plan_id: str) -> Document:
        return self._driver.run(_of_plan(self._wire, "GET", plan_id, ""))

    def actions(self, plan_id: str) -> Document:
        """The actions of the steps with their remaining limits."""
        return self._driver.run(_of_plan(self._wire, "GET", plan_id, "/actions"))

    def report_step(self, plan_id: str, step_id: str, status: str) -> Document:
        """Reports the status of a step of the agent's own."""
        return self._driver.run(_of_plan(self._wire, *_step(plan_id, step_id, status)))

    def cancel(self, plan_id: str, reason: str | None = None) -> Document:
        return self._driver.run(_of_plan(self._wire, "POST", plan_id, "/cancel", {"reason": reason} if reason else {}))


class AsyncPlans:
    """The same, asynchronously."""

    def __init__(self, driver: AsyncDriver, wire: Wire, patience: float) -> None:
        self._driver, self._wire, self._patience = driver, wire, patience

    async def submit(self, plan: Mapping[str, Any], *, propose: bool = False) -> tuple[Document, str | None]:
        return await self._driver.run(_submit(self._wire, plan, propose, self._patience))

    async def get(self, plan_id: str) -> Document:
        return await self._driver.run(_of_plan(self._wire, "GET", plan_id, ""))

    async def actions(self, plan_id: str) -> Document:
        return await self._driver.run(_of_plan(self._wire, "GET", plan_id, "/actions"))

    async def report_step(self, plan_id: str, step_id: str, status: str) -> Document:
        return await self._driver.run(_of_plan(self._wire, *_step(plan_id, step_id, status)))

    async def cancel(self, plan_id: str, reason: str | None = None) -> Document:
        body = {"reason": reason} if reason else {}
        return await self._driver.run(_of_plan(self._wire, "POST", plan_id, "/cancel", body))


__all__ = ["AsyncPlans", "Plans"]
