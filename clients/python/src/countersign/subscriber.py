"""A subscriber (AAEP): receives the questions of a person's agents, and answers them with that person's token.

The stream is opened again by itself; a pending question is then repeated with the same id.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import httpx

from . import _sse
from ._steps import Answer, AsyncDriver, Backoff, Flow, SyncDriver, unreachable
from ._wire import ApiKey, Wire, exchange, json_request, patiently, refused
from .errors import CountersignError, Refused, Unreachable, shown

AAEP_VERSION = "1.0.0"
EXTENSION = "dev_countersign"
CONTEXT = "https://countersign.dev/context/aaep/v1"
#: A producer silent for this long is lost: ours sends something every ten seconds.
SILENCE_SECONDS = 30.0
_STREAM_TIMEOUT = httpx.Timeout(20.0, read=SILENCE_SECONDS)


class SubscriptionRejected(CountersignError):
    """The producer does not accept this subscriber: `reason_code` says why."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.reason_code = shown(document.get("reason_code"))
        super().__init__(f"the subscription was rejected: {self.reason_code}; check the token and its person's access")

    @property
    def may_pass(self) -> bool:
        return self.status == 429 or self.status >= 500


@dataclass(frozen=True)
class Event:
    """Anything that an agent, or the service, says. `document` is the event as received."""

    type: str
    session_id: str
    summary: str | None
    document: Mapping[str, Any]

    @property
    def extension(self) -> Mapping[str, Any]:
        """The service's own statements."""
        return dict((self.document.get("extensions") or {}).get(EXTENSION) or {})

    @property
    def decision_id(self) -> str | None:
        return self.extension.get("decision_id")

    @property
    def settled(self) -> str | None:
        """How the decision was settled, if this event says so."""
        return self.extension.get("settled")


@dataclass(frozen=True)
class Question(Event):
    """A pending question. Only a received one can be answered: it holds the token for its reply."""

    @property
    def is_confirmation(self) -> bool:
        return self.type.endswith("agent.awaiting.confirmation")

    @property
    def action(self) -> str | None:
        return self.document.get("action")

    @property
    def consequence(self) -> str | None:
        return self.document.get("consequence")

    @property
    def question(self) -> str | None:
        return self.document.get("question")

    @property
    def choices(self) -> list[dict[str, str]]:
        return list(self.document.get("choices") or [])


def _read(data: str) -> Event | None:
    try:
        document = json.loads(data)
        kind, session = str(document["type"]), str(document["session_id"])
    except (ValueError, KeyError, TypeError):
        return None
    summary = document.get("summary_normal") or document.get("summary_terse")
    made = Question if "agent.awaiting." in kind and "reply_token" in document else Event
    return made(kind.removeprefix("aaep:"), session, summary, document)


class _Subscription:
    """The state between streams, without I/O."""

    def __init__(self, service: str, token: str, subscriber_id: str, project: str | None) -> None:
        self.wire = Wire(service, ApiKey(token), project)
        self.subscriber_id = subscriber_id
        self.id: str | None = None
        self.last_event_id: str | None = None
        self.backoff = Backoff()
        self._decoder = _sse.Decoder()

    def handshake(self) -> Flow[None]:
        capabilities = {
            "supports_confirmation_reply": True,
            "supports_clarification_reply": True,
            "supported_conformance_levels": [1, 2, 3],
            "supported_extensions": [CONTEXT],
        }
        request = {
            "type": "subscription.request",
            "aaep_version": AAEP_VERSION,
            "subscriber_id": self.subscriber_id,
            "capabilities": capabilities,
        }
        send = json_request("POST", self.wire.url("/aaep/v1/subscriptions"), request)
        answer = yield from exchange(self.wire.credential, send)
        document = answer.json()
        if isinstance(document, dict) and document.get("type") == "subscription.rejected":
            raise SubscriptionRejected(answer.status, document)
        if not answer.is_success or not isinstance(document, dict):
            raise refused(answer)
        self.id, self.last_event_id = str(document["subscription_id"]), None

    def stream_request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        self._decoder = _sse.Decoder()
        url = self.wire.url(f"/aaep/v1/events?subscription_id={self.id}")
        headers = {**self.wire.credential.headers("GET", url), "accept": "text/event-stream"}
        if self.last_event_id:
            headers["last-event-id"] = self.last_event_id
        return http.build_request("GET", url, headers=headers, timeout=_STREAM_TIMEOUT)

    def opened(self, response: httpx.Response) -> bool:
        """Whether the stream is open; a forgotten subscription is requested anew. Other refusals are final."""
        if response.status_code == 200:
            self.backoff.reset()
            return True
        if response.status_code in (404, 410):
            self.id = None
        elif response.status_code != 429 and response.status_code < 500:
            raise refused(_answer(response))
        return False

    def received(self, data: bytes) -> list[Event]:
        events = []
        for message in self._decoder.push(data):
            if message.id:
                self.last_event_id = message.id
            if message.event == "aaep.close":
                self.id = None
            elif (event := _read(message.data)) is not None:
                events.append(event)
        return events

    def reply(self, question: Question, members: Mapping[str, Any]) -> Flow[None]:
        """At most one reply counts, however many arrive; only the settlement shows whether this one did."""
        kind = "confirmation.reply" if question.is_confirmation else "clarification.reply"
        timestamp = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        token = question.document["reply_token"]
        message = {"type": kind, "reply_token": token, "subscription_id": self.id, "timestamp": timestamp, **members}
        yield from patiently(lambda: self.wire.post("/aaep/v1/replies", message), 20.0)

    def questions(self) -> Flow[list[dict[str, Any]]]:
        document = yield from self.wire.get("/aaep/v1/questions")
        return list(document["questions"])


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, b"")


def _decision(decision: str, reason: str | None) -> dict[str, str]:
    return {"decision": decision, **({"decision_rationale": reason} if reason else {})}


class Subscriber:
    """`for event in subscriber.events():` … `subscriber.approve(event)`"""

    def __init__(
        self,
        service: str,
        token: str,
        *,
        subscriber_id: str = "countersign-sdk-python",
        project: str | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._driver = SyncDriver(http)
        self._subscription = _Subscription(service, token, subscriber_id, project)

    def events(self) -> Iterator[Event]:
        """Events as they happen, without an end. Lost connections and restarts of the service are bridged; a refusal
        of the service ends it."""
        subscription = self._subscription
        while True:
            try:
                if subscription.id is None:
                    self._driver.run(subscription.handshake())
                yield from self._stream()
            except Unreachable:
                pass
            except (Refused, SubscriptionRejected) as why:
                if not why.may_pass:
                    raise
            time.sleep(subscription.backoff.next())

    def _stream(self) -> Iterator[Event]:
        http = self._driver.http
        try:
            response = http.send(self._subscription.stream_request(http), stream=True)
            try:
                if self._subscription.opened(response):
                    for data in response.iter_raw():
                        yield from self._subscription.received(data)
            finally:
                response.close()
        except httpx.TransportError as why:
            raise unreachable(why) from why

    def approve(self, question: Question, rationale: str | None = None) -> None:
        self._driver.run(self._subscription.reply(question, _decision("accept", rationale)))

    def reject(self, question: Question, reason: str | None = None) -> None:
        """The agent sees the reason."""
        self._driver.run(self._subscription.reply(question, _decision("reject", reason)))

    def respond(self, question: Question, response: str | bool | float) -> None:
        """Answers a clarification request."""
        self._driver.run(self._subscription.reply(question, {"response": response}))

    def questions(self) -> list[dict[str, Any]]:
        """The pending questions, as the service lists them."""
        return self._driver.run(self._subscription.questions())

    def close(self) -> None:
        self._driver.http.close()


class AsyncSubscriber:
    """The same, asynchronously."""

    def __init__(
        self,
        service: str,
        token: str,
        *,
        subscriber_id: str = "countersign-sdk-python",
        project: str | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._driver = AsyncDriver(http)
        self._subscription = _Subscription(service, token, subscriber_id, project)

    async def events(self) -> AsyncIterator[Event]:
        subscription = self._subscription
        while True:
            try:
                if subscription.id is None:
                    await self._driver.run(subscription.handshake())
                async for event in self._stream():
                    yield event
            except Unreachable:
                pass
            except (Refused, SubscriptionRejected) as why:
                if not why.may_pass:
                    raise
            await asyncio.sleep(subscription.backoff.next())

    async def _stream(self) -> AsyncIterator[Event]:
        http = self._driver.http
        try:
            response = await http.send(self._subscription.stream_request(http), stream=True)
            try:
                if self._subscription.opened(response):
                    async for data in response.aiter_raw():
                        for event in self._subscription.received(data):
                            yield event
            finally:
                await response.aclose()
        except httpx.TransportError as why:
            raise unreachable(why) from why

    async def approve(self, question: Question, rationale: str | None = None) -> None:
        await self._driver.run(self._subscription.reply(question, _decision("accept", rationale)))

    async def reject(self, question: Question, reason: str | None = None) -> None:
        await self._driver.run(self._subscription.reply(question, _decision("reject", reason)))

    async def respond(self, question: Question, response: str | bool | float) -> None:
        await self._driver.run(self._subscription.reply(question, {"response": response}))

    async def questions(self) -> list[dict[str, Any]]:
        return await self._driver.run(self._subscription.questions())

    async def close(self) -> None:
        await self._driver.http.aclose()
