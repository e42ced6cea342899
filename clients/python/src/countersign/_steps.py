"""Protocol logic without I/O: a flow yields what to send and how long to pause, and gets the answers.

The same flow is driven by a synchronous and by an asynchronous client.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, Union

import httpx

from .errors import Unreachable

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """One HTTP request."""

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 30.0

    def with_headers(self, more: Mapping[str, str]) -> Send:
        return replace(self, headers={**self.headers, **more})


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Answer:
    """One HTTP response. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The document of the body; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


Step = Union[Send, Pause]
Flow = Generator[Step, Any, T]


class Backoff:
    """Pauses between attempts: a quarter of a second, doubled up to 15, with jitter."""

    def __init__(self) -> None:
        self._failures = 0

    def next(self) -> float:
        seconds = min(15.0, 0.25 * 2.0 ** min(self._failures, 10))
        self._failures += 1
        return seconds * (1 + random.random() / 4)

    def reset(self) -> None:
        self._failures = 0


class SyncDriver:
    """Runs flows on an `httpx.Client`."""

    def __init__(self, http: httpx.Client | None = None) -> None:
        self.http = http or httpx.Client()

    def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    answer = self._perform(step)
                except Unreachable as why:
                    step = flow.throw(why)
                else:
                    step = flow.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _perform(self, send: Send) -> Answer:
        try:
            return _answer(self.http.send(_request(self.http, send), follow_redirects=False))
        except httpx.TransportError as why:
            raise unreachable(why) from why


class AsyncDriver:
    """Runs flows on an `httpx.AsyncClient`."""

    def __init__(self, http: httpx.AsyncClient | None = None) -> None:
        self.http = http or httpx.AsyncClient()

    async def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    answer = await self._perform(step)
                except Unreachable as why:
                    step = flow.throw(why)
                else:
                    step = flow.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    async def _perform(self, send: Send) -> Answer:
        try:
            return _answer(await self.http.send(_request(self.http, send), follow_redirects=False))
        except httpx.TransportError as why:
            raise unreachable(why) from why


_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def unreachable(why: httpx.TransportError) -> Unreachable:
    """Without a connection, nothing was sent."""
    return Unreachable(f"{type(why).__name__}: {why}", may_have_arrived=not isinstance(why, _NEVER_SENT))


def _request(http: httpx.Client | httpx.AsyncClient, send: Send) -> httpx.Request:
    return http.build_request(
        send.method, send.url, content=send.body, headers=dict(send.headers), timeout=httpx.Timeout(send.timeout)
    )


def _answer(response: httpx.Response) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, response.content)
