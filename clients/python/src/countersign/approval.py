"""Approved runs as context managers, and the decorators around tool functions."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Literal

from . import _runs
from ._runs import BoundCall, Call, Run
from ._steps import AsyncDriver, SyncDriver
from ._wire import Wire
from .errors import CountersignError, OutcomeUnknown
from .journal import Journal

#: How often a running tool renews its lease, in seconds.
RENEW_SECONDS = 15.0


class _Terms:
    """What an approved run needs beside its call."""

    def __init__(
        self,
        wire: Wire,
        journal: Journal,
        patience: float,
        timeout: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = _runs.UNKNOWN_ON,
        renew_every: float = RENEW_SECONDS,
    ) -> None:
        self.wire, self.journal, self.patience, self.timeout = wire, journal, patience, timeout
        self.unknown_on, self.renew_every = unknown_on, renew_every

    def is_unknown(self, why: BaseException) -> bool:
        """An interrupted tool may have taken effect, and so may one that got no answer."""
        return isinstance(why, self.unknown_on) or not isinstance(why, Exception)

    def hold(self, call: Call) -> Any:
        return self.journal.hold(call.key) if call.key else contextlib.nullcontext()


def _unknown(run: Run, why: BaseException) -> OutcomeUnknown:
    return OutcomeUnknown(run.decision.decision_id, f"it ended with {type(why).__name__}")


class Approval:
    """`with client.approval(…) as run:` runs its body after a person's approval of exactly this call.

    The body's end is reported as committed, an error as failed. After an error that leaves the effect open, nothing is
    reported, and `OutcomeUnknown` is raised.
    """

    def __init__(self, driver: SyncDriver, terms: _Terms, call: Call) -> None:
        self._driver, self._terms, self._call = driver, terms, call
        self._held = contextlib.ExitStack()
        self._stop = threading.Event()
        self._renewal: threading.Thread | None = None
        self._run: Run | None = None

    def __enter__(self) -> Run:
        terms = self._terms
        with contextlib.ExitStack() as held:
            held.enter_context(terms.hold(self._call))
            flow = _runs.obtain(terms.wire, self._call, terms.journal, terms.patience, terms.timeout)
            self._run = run = self._driver.run(flow)
            self._held = held.pop_all()
        self._renewal = threading.Thread(target=self._renew, args=(run,), daemon=True)
        self._renewal.start()
        return run

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        run, terms = self._run, self._terms
        assert run is not None
        with self._held:
            self._stop.set()
            if self._renewal is not None:
                self._renewal.join()
            if why is not None and terms.is_unknown(why):
                if isinstance(why, Exception):
                    raise _unknown(run, why) from why
                return False
            status = "committed" if why is None else "failed"
            self._driver.run(_runs.settle(terms.wire, run, terms.journal, status, why, terms.patience))
        return False

    def _renew(self, run: Run) -> None:
        while not self._stop.wait(self._terms.renew_every):
            with contextlib.suppress(CountersignError):
                self._driver.run(_runs.renew(self._terms.wire, run))


class AsyncApproval:
    """The same for `async with`."""

    def __init__(self, driver: AsyncDriver, terms: _Terms, call: Call) -> None:
        self._driver, self._terms, self._call = driver, terms, call
        self._held = contextlib.ExitStack()
        self._renewal: asyncio.Task[None] | None = None
        self._run: Run | None = None

    async def __aenter__(self) -> Run:
        terms = self._terms
        with contextlib.ExitStack() as held:
            held.enter_context(terms.hold(self._call))
            flow = _runs.obtain(terms.wire, self._call, terms.journal, terms.patience, terms.timeout)
            self._run = run = await self._driver.run(flow)
            self._held = held.pop_all()
        self._renewal = asyncio.create_task(self._renew(run))
        return run

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        run, terms = self._run, self._terms
        assert run is not None
        with self._held:
            await self._stop_renewing()
            if why is not None and terms.is_unknown(why):
                if isinstance(why, Exception):
                    raise _unknown(run, why) from why
                return False
            status = "committed" if why is None else "failed"
            await self._driver.run(_runs.settle(terms.wire, run, terms.journal, status, why, terms.patience))
        return False

    async def _stop_renewing(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._renewal

    async def _renew(self, run: Run) -> None:
        while True:
            await asyncio.sleep(self._terms.renew_every)
            with contextlib.suppress(CountersignError):
                await self._driver.run(_runs.renew(self._terms.wire, run))


def guard(
    function: Callable[..., Any],
    call_of: Callable[[Mapping[str, Any]], Call],
    unbound: tuple[str, ...],
    begin: Callable[[Call], Approval],
) -> Callable[..., Any]:
    """A synchronous tool function behind an approval."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def approved(*args: Any, **kwargs: Any) -> Any:
        bound = BoundCall(signature, args, kwargs, unbound)
        with begin(call_of(bound.arguments)) as run:
            run.result = bound.run(function)
        return run.result

    return approved


def guard_async(
    function: Callable[..., Any],
    call_of: Callable[[Mapping[str, Any]], Call],
    unbound: tuple[str, ...],
    begin: Callable[[Call], Any],
) -> Callable[..., Awaitable[Any]]:
    """A tool function behind an approval that is waited for asynchronously; a synchronous one runs in a thread."""
    signature = inspect.signature(function)
    is_async = inspect.iscoroutinefunction(function)

    @functools.wraps(function)
    async def approved(*args: Any, **kwargs: Any) -> Any:
        bound = BoundCall(signature, args, kwargs, unbound)
        async with begin(call_of(bound.arguments)) as run:
            run.result = await (bound.run(function) if is_async else asyncio.to_thread(bound.run, function))
        return run.result

    return approved
