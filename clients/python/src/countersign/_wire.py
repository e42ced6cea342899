"""One service for one credential: addresses, headers, refusals, and what may be sent again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from ._steps import Answer, Backoff, Flow, Pause, Send
from .errors import BadAnswer, Refused, ServiceFailed, TooManyRequests, Unreachable, refusal

T = TypeVar("T")


class Credential(Protocol):
    """Authenticates requests. Not to be shared between services."""

    def headers(self, method: str, url: str) -> Mapping[str, str]: ...

    def wants_again(self, url: str, answer: Answer) -> bool:
        """Whether only a nonce was missing that is known now. Such a request was refused, so it may be repeated."""
        ...

    def prepare(self) -> Flow[None]:
        """Makes the credential usable, before each request."""
        ...


class ApiKey:
    """An API key (`csk_…`), a subscriber token (`cst_…`) or an access token that is bound to no key."""

    def __init__(self, token: str) -> None:
        self._token = token

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self._token}"}

    def wants_again(self, url: str, answer: Answer) -> bool:
        return False

    def prepare(self) -> Flow[None]:
        yield from ()

    def __repr__(self) -> str:
        return "ApiKey(…)"


class Wire:
    def __init__(self, service: str, credential: Credential, project: str | None = None) -> None:
        self.origin = origin_of(service)
        self.credential = credential
        self._prefix = f"{self.origin}/projects/{segment(project)}" if project else self.origin

    def url(self, path: str) -> str:
        return self._prefix + path

    def get(self, path: str, timeout: float = 30.0) -> Flow[Any]:
        return (yield from self.document(Send("GET", self.url(path), timeout=timeout)))

    def post(self, path: str, body: Any, method: str = "POST") -> Flow[Any]:
        return (yield from self.document(json_request(method, self.url(path), body)))

    def document(self, send: Send) -> Flow[Any]:
        answer = yield from self.exchange(send)
        document = answer.json()
        if document is None and answer.body:
            raise BadAnswer(f"{send.method} {urlsplit(send.url).path}")
        return document

    def exchange(self, send: Send) -> Flow[Answer]:
        """One request; a refusal is an error."""
        answer = yield from exchange(self.credential, send)
        if not answer.is_success:
            raise refused(answer)
        return answer


def exchange(credential: Credential, send: Send) -> Flow[Answer]:
    """One request. If only a nonce was missing, it is repeated once with the nonce, and never a third time."""
    yield from credential.prepare()
    answer: Answer = yield send.with_headers(credential.headers(send.method, send.url))
    if credential.wants_again(send.url, answer):
        answer = yield send.with_headers(credential.headers(send.method, send.url))
        credential.wants_again(send.url, answer)
    return answer


def refused(answer: Answer) -> Refused:
    envelope = answer.json()
    return refusal(answer.status, envelope if isinstance(envelope, dict) else {}, answer.headers)


def json_request(method: str, url: str, body: Any) -> Send:
    content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    return Send(method, url, content, {"content-type": "application/json"})


def patiently(attempt: Callable[[], Flow[T]], patience: float) -> Flow[T]:
    """Repeats what may be sent twice, while the service is away, for at most `patience` seconds."""
    until, backoff = time.monotonic() + patience, Backoff()
    while True:
        try:
            return (yield from attempt())
        except (Unreachable, ServiceFailed) as why:
            pause = pause_after(why, backoff)
            if time.monotonic() + pause > until:
                raise
        yield Pause(pause)


def pause_after(why: Unreachable | ServiceFailed | TooManyRequests, backoff: Backoff) -> float:
    told = why.retry_after if isinstance(why, Refused) else None
    return max(backoff.next(), float(told or 0))


def origin_of(address: str) -> str:
    """The origin of an http or https address."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError(f"{address!r} is no address of a service, such as https://plane.example")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def segment(text: str) -> str:
    """One segment of a path: ids have letters, digits, `-` and `_` only, and nothing else gets through."""
    return "".join(c for c in text if c.isascii() and (c.isalnum() or c in "-_"))
