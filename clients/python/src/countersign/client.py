"""The client of an agent that asks for itself, with an API key or an access token (`/v1`, `/mplp/v1`)."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx

from . import _decisions, _runs
from ._runs import Call
from ._steps import AsyncDriver, Flow, SyncDriver
from ._wire import ApiKey, Credential, Wire, patiently
from .approval import RENEW_SECONDS, Approval, AsyncApproval, _Terms, guard, guard_async
from .canonical import digest
from .decision import Decision
from .errors import KeyReused
from .journal import Entry, Journal, MemoryJournal
from .plans import AsyncPlans, Plans

F = TypeVar("F", bound=Callable[..., Any])
Text = str | Callable[..., str] | None


class _Client:
    """What both clients share: the service, the credential, the journal, and the flows."""

    def __init__(
        self,
        service: str,
        credential: str | Credential,
        *,
        project: str | None = None,
        journal: Journal | None = None,
        patience: float = 60.0,
    ) -> None:
        """`patience` is how long requests that may be repeated are repeated while the service is away, in seconds."""
        self._wire = Wire(service, ApiKey(credential) if isinstance(credential, str) else credential, project)
        self._journal: Journal = journal or MemoryJournal()
        self._patience = patience

    def _terms(self, timeout: float | None, unknown_on: tuple[type[BaseException], ...], renew_every: float) -> _Terms:
        return _Terms(self._wire, self._journal, self._patience, timeout, unknown_on, renew_every)

    def _ask(self, question: Mapping[str, Any]) -> Flow[Decision]:
        return _decisions.ask(self._wire, "/v1/confirmations", question, self._patience)

    def _clarify(self, question: Mapping[str, Any], timeout: float | None) -> Flow[Any]:
        key, asked = question.get("idempotency_key"), digest({"question": question})
        known = self._journal.load(key) if key else None
        if known is not None and known.call != asked:
            raise KeyReused(str(key))
        if known is not None and known.decision_id is not None:
            decision = yield from self._get(known.decision_id)
        else:
            decision = yield from _decisions.ask(self._wire, "/v1/clarifications", question, self._patience)
            if key:
                self._journal.save(key, Entry(asked, decision.decision_id))
        if decision.is_pending:
            decision = yield from _decisions.wait(self._wire, decision.decision_id, timeout)
        return _decisions.require_answer(decision)

    def _claim(self, decision_id: str, call: Mapping[str, Any]) -> Flow[Decision]:
        return _decisions.claim(self._wire, decision_id, call, self._patience)

    def _report(self, decision_id: str, status: str, execution_id: str | None, message: str | None) -> Flow[Decision]:
        return _decisions.report(self._wire, decision_id, status, execution_id, message, self._patience)

    def _get(self, decision_id: str) -> Flow[Decision]:
        return patiently(lambda: _decisions.get(self._wire, decision_id), self._patience)

    def _actions(self) -> Flow[list[dict[str, Any]]]:
        document = yield from patiently(lambda: self._wire.get("/v1/actions"), self._patience)
        return list(document["actions"])


def _environment() -> tuple[str, str]:
    return os.environ["COUNTERSIGN_SERVICE"], os.environ["COUNTERSIGN_API_KEY"]


def _confirmation(action: str, consequence: str, members: Mapping[str, Any]) -> dict[str, Any]:
    return {"action": action, "consequence": consequence, **members}


def _clarification(
    question: str,
    kinds: Sequence[str] | None,
    choices: Mapping[str, str] | Sequence[str] | None,
    members: Mapping[str, Any],
) -> dict[str, Any]:
    """`choices` maps values to labels; a list has values that are their own labels."""
    asked = {"question": question, "accepted_response_kinds": list(kinds) if kinds else None, **members}
    if choices is not None:
        labels = choices if isinstance(choices, Mapping) else {value: value for value in choices}
        asked["choices"] = [{"value": value, "label": label} for value, label in labels.items()]
        asked["accepted_response_kinds"] = list(kinds or ["multiple_choice"])
    return asked


class Countersign(_Client):
    """The synchronous client. Its decorator also serves `async def` tools."""

    def __init__(self, service: str, credential: str | Credential, *, http: httpx.Client | None = None, **more: Any):
        super().__init__(service, credential, **more)
        self._driver = SyncDriver(http)
        self.plans = Plans(self._driver, self._wire, self._patience)

    @classmethod
    def from_environment(cls, **more: Any) -> Countersign:
        """With `COUNTERSIGN_SERVICE` and `COUNTERSIGN_API_KEY`."""
        return cls(*_environment(), **more)

    def ask(self, action: str, consequence: str, **members: Any) -> Decision:
        """Requests an approval and returns at once. A question that is pending, or approved and unclaimed, is returned
        instead of asking again: it is recognised by `tool` and `arguments`, or else by `idempotency_key`."""
        return self._driver.run(self._ask(_confirmation(action, consequence, members)))

    def get(self, decision_id: str) -> Decision:
        return self._driver.run(self._get(decision_id))

    def wait(self, decision_id: str, timeout: float | None = None) -> Decision:
        """Waits until the question is settled, over restarts of either side; `StillPending` after `timeout` seconds."""
        return self._driver.run(_decisions.wait(self._wire, decision_id, timeout))

    def claim(self, decision_id: str, **call: Any) -> Decision:
        """Claims an approval for `tool` and `arguments`, or a `digest`. Only then may it run, once."""
        return self._driver.run(self._claim(decision_id, call))

    def report(
        self, decision_id: str, status: str, *, execution_id: str | None = None, error_message: str | None = None
    ) -> Decision:
        """Reports `committed`, `failed` or `running`."""
        return self._driver.run(self._report(decision_id, status, execution_id, error_message))

    def withdraw(self, decision_id: str, reason: str | None = None) -> Decision:
        return self._driver.run(_decisions.withdraw(self._wire, decision_id, reason))

    def clarify(
        self,
        question: str,
        *,
        choices: Mapping[str, str] | Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        timeout: float | None = None,
        **members: Any,
    ) -> Any:
        """Asks a person a question and waits for the answer."""
        return self._driver.run(self._clarify(_clarification(question, kinds, choices, members), timeout))

    def actions(self) -> list[dict[str, Any]]:
        """The actions that this agent may request."""
        return self._driver.run(self._actions())

    def approval(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        action: Text = None,
        consequence: Text = None,
        key: Text = None,
        timeout: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = _runs.UNKNOWN_ON,
        renew_every: float = RENEW_SECONDS,
        **options: Any,
    ) -> Approval:
        """`with client.approval(…) as run:` runs its body once a person has approved exactly this call."""
        call = Call.of(tool, arguments, action, consequence, key, options)
        return Approval(self._driver, self._terms(timeout, unknown_on, renew_every), call)

    def require_approval(
        self,
        tool: str | None = None,
        *,
        action: Text = None,
        consequence: Text = None,
        key: Text = None,
        unbound: tuple[str, ...] = (),
        timeout: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = _runs.UNKNOWN_ON,
        renew_every: float = RENEW_SECONDS,
        **options: Any,
    ) -> Callable[[F], F]:
        """Around a tool function, sync or async: each call runs after a person's approval of exactly its arguments.

        `action`, `consequence` and `key` are texts with the arguments in braces, or functions of the arguments. A `key`
        makes the call durable: with a `FileJournal`, an agent that was restarted goes on with the same question, and
        never repeats a call that ran or may have run. `unbound` names parameters that are no part of the approval.
        """

        def decorate(function: F) -> F:
            named = tool or function.__name__
            terms = self._terms(timeout, unknown_on, renew_every)

            def call_of(arguments: Mapping[str, Any]) -> Call:
                return Call.of(named, arguments, action, consequence, key, options)

            if not inspect.iscoroutinefunction(function):
                return guard(function, call_of, unbound, lambda call: Approval(self._driver, terms, call))  # type: ignore[return-value]
            # An asynchronous tool gets a connection in its own event loop.
            return guard_async(function, call_of, unbound, lambda call: _OwnLoop(terms, call))  # type: ignore[return-value]

        return decorate

    def close(self) -> None:
        self._driver.http.close()

    def __enter__(self) -> Countersign:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


class _OwnLoop:
    """An `AsyncApproval` with an HTTP client of its own."""

    def __init__(self, terms: _Terms, call: Call) -> None:
        self._http = httpx.AsyncClient()
        self._approval = AsyncApproval(AsyncDriver(self._http), terms, call)

    async def __aenter__(self) -> _runs.Run:
        try:
            return await self._approval.__aenter__()
        except BaseException:
            await self._http.aclose()
            raise

    async def __aexit__(self, *why: Any) -> bool:
        try:
            return await self._approval.__aexit__(*why)
        finally:
            await self._http.aclose()


class AsyncCountersign(_Client):
    """The asynchronous client, with the methods of `Countersign`."""

    def __init__(
        self, service: str, credential: str | Credential, *, http: httpx.AsyncClient | None = None, **more: Any
    ):
        super().__init__(service, credential, **more)
        self._driver = AsyncDriver(http)
        self.plans = AsyncPlans(self._driver, self._wire, self._patience)

    @classmethod
    def from_environment(cls, **more: Any) -> AsyncCountersign:
        return cls(*_environment(), **more)

    async def ask(self, action: str, consequence: str, **members: Any) -> Decision:
        return await self._driver.run(self._ask(_confirmation(action, consequence, members)))

    async def get(self, decision_id: str) -> Decision:
        return await self._driver.run(self._get(decision_id))

    async def wait(self, decision_id: str, timeout: float | None = None) -> Decision:
        return await self._driver.run(_decisions.wait(self._wire, decision_id, timeout))

    async def claim(self, decision_id: str, **call: Any) -> Decision:
        return await self._driver.run(self._claim(decision_id, call))

    async def report(
        self, decision_id: str, status: str, *, execution_id: str | None = None, error_message: str | None = None
    ) -> Decision:
        return await self._driver.run(self._report(decision_id, status, execution_id, error_message))

    async def withdraw(self, decision_id: str, reason: str | None = None) -> Decision:
        return await self._driver.run(_decisions.withdraw(self._wire, decision_id, reason))

    async def clarify(
        self,
        question: str,
        *,
        choices: Mapping[str, str] | Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        timeout: float | None = None,
        **members: Any,
    ) -> Any:
        return await self._driver.run(self._clarify(_clarification(question, kinds, choices, members), timeout))

    async def actions(self) -> list[dict[str, Any]]:
        return await self._driver.run(self._actions())

    def approval(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        action: Text = None,
        consequence: Text = None,
        key: Text = None,
        timeout: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = _runs.UNKNOWN_ON,
        renew_every: float = RENEW_SECONDS,
        **options: Any,
    ) -> AsyncApproval:
        call = Call.of(tool, arguments, action, consequence, key, options)
        return AsyncApproval(self._driver, self._terms(timeout, unknown_on, renew_every), call)

    def require_approval(
        self,
        tool: str | None = None,
        *,
        action: Text = None,
        consequence: Text = None,
        key: Text = None,
        unbound: tuple[str, ...] = (),
        timeout: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = _runs.UNKNOWN_ON,
        renew_every: float = RENEW_SECONDS,
        **options: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """As in `Countersign`; the result is always awaited, and a synchronous tool runs in a thread."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            named = tool or function.__name__
            terms = self._terms(timeout, unknown_on, renew_every)

            def call_of(arguments: Mapping[str, Any]) -> Call:
                return Call.of(named, arguments, action, consequence, key, options)

            return guard_async(function, call_of, unbound, lambda call: AsyncApproval(self._driver, terms, call))

        return decorate

    async def close(self) -> None:
        await self._driver.http.aclose()

    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()
