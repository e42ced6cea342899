"""The flows of an AAP agent: discover, connect, register, call; and which refusal ends what."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from . import _decisions
from ._codes import STATUS
from ._steps import Answer, Flow, Send
from ._wire import Wire, exchange, json_request, origin_of, refused
from .dpop import Proofs
from .errors import (
    AccessEnded,
    BadAnswer,
    ConfirmationNeeded,
    ConsentOver,
    CountersignError,
    OutcomeUnknown,
    ReconnectNeeded,
    Refused,
    Unreachable,
)
from .jws import SigningKey, b64, claims_of

VERSION = "2.0"
MODE = "user_delegated"
SAFE = ("GET", "HEAD", "OPTIONS")
#: A new token is fetched so long before the old one ends, at most.
EARLY_SECONDS = 60.0
#: Another access token helps against these refusals, so the agent registers again, once.
_REGISTER_AGAIN = ("access_token_expired", "access_token_invalid", "operator_jwt_invalid")


class Operator(Protocol):
    """Whoever signs for the operator's domain: an `OperatorKey`, or a service of the operator's."""

    def operator_jwt(self, service: str) -> str: ...


class NotUsable(CountersignError):
    """The service's manifest does not allow what is asked for. Nothing was sent."""


class NotRegistered(CountersignError):
    """There is no session, or no delegation: connect, then register."""


@dataclass(frozen=True)
class ApiResponse:
    """The API's own response, its own errors included."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class ApiCall:
    """A request to the API, the same bytes at every attempt."""

    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]


@dataclass
class _Session:
    id: str
    receipt: str | None
    #: With the session's own key.
    proofs: Proofs
    token: str = ""
    #: On the monotonic clock.
    renew_at: float = 0.0


class AgentState:
    """One operator's agent at one service, for one person. Shared by the sync and the async `Agent`."""

    def __init__(
        self,
        service: str,
        operator: Operator,
        *,
        api: str | None = None,
        project: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.service, self.operator, self.project = origin_of(service), operator, project
        self.api = origin_of(api) if api else None
        self.clock = clock
        self.manifest: Mapping[str, Any] | None = None
        self.delegation_token: str | None = None
        self.delegation_id: str | None = None
        self.session: _Session | None = None
        self.ended: AccessEnded | None = None
        self._nonces: dict[str, str] = {}
        #: The last attempted session: the service may have bound its key although the response was lost.
        self._attempted: _Session | None = None
        self._verifier: str | None = None

    # -- Discovery ---------------------------------------------------------------------------------------------

    def discover(self) -> Flow[Mapping[str, Any]]:
        query = f"?projectId={self.project}" if self.project else ""
        send = Send("GET", f"{self.service}/.well-known/agent-auth.json{query}", headers={"aap-version": VERSION})
        answer: Answer = yield send
        if not answer.is_success:
            raise refused(answer)
        manifest = answer.json()
        if not isinstance(manifest, dict) or not isinstance(manifest.get("endpoints"), dict):
            raise BadAnswer("the manifest")
        self._check(manifest)
        self.manifest = manifest
        return manifest

    def _check(self, manifest: Mapping[str, Any]) -> None:
        # An operator JWT is addressed to the manifest's own name of the service: another service could use it there.
        if origin_of(str(manifest.get("service"))) != self.service:
            raise NotUsable(f"the manifest is of {manifest.get('service')}, not of {self.service}: check the address")
        modes = manifest.get("identity_modes_supported") or [MODE]
        if MODE not in modes:
            raise NotUsable("the service does not let agents act for a person")
        theirs = manifest.get("spec_versions_accepted") or manifest.get("spec_versions_supported") or [VERSION]
        if VERSION not in [str(version).removeprefix("aap/") for version in theirs]:
            raise NotUsable(f"no protocol version in common: ours is {VERSION}, the service's are {theirs}")

    def known(self) -> Flow[Mapping[str, Any]]:
        return self.manifest if self.manifest is not None else (yield from self.discover())

    def endpoint(self, name: str) -> Flow[str]:
        """Tokens are sent there, so it must be on the service's own origin."""
        manifest = yield from self.known()
        reference = manifest["endpoints"].get(name)
        if reference is None and name == "heartbeat":
            # Manifests do not list it: it is beside the others (AAP 12.2).
            return urljoin((yield from self.endpoint("cancel")), "heartbeat")
        if reference is None:
            raise NotUsable(f"the service offers no endpoint {name!r}")
        url = urljoin(self.service + "/", str(reference).replace("{projectId}", self.project or ""))
        if origin_of(url) != self.service or "{" in url:
            raise NotUsable(f"the manifest's endpoint {name!r} is not on the service's own origin")
        return url

    def operator_jwt(self) -> str:
        assert self.manifest is not None
        return self.operator.operator_jwt(str(self.manifest["service"]))

    # -- Connecting --------------------------------------------------------------------------------------------

    def connect(self, scopes: list[str], callback: str | None) -> Flow[str]:
        url = yield from self.endpoint("connect")
        self._verifier = secrets.token_hex(32)
        body = {
            "operator_jwt": self.operator_jwt(),
            "mode": MODE,
            "scopes": scopes,
            "code_challenge": b64(sha256(self._verifier.encode()).digest()),
            "code_challenge_method": "S256",
            "state": secrets.token_urlsafe(16),
            "callback": callback,
        }
        asked = yield from self._post(url, {name: value for name, value in body.items() if value is not None})
        page = urljoin(self.service + "/", str(asked.get("connect_url")))
        # The person enters their password there.
        if origin_of(page) != self.service:
            raise NotUsable("the connect page is not on the service's own origin: it is not to be opened")
        return page

    def finish(self, code: str) -> Flow[str]:
        if self._verifier is None:
            raise NotRegistered("no connection is pending: connect first")
        url = yield from self.endpoint("exchange")
        body = {"operator_jwt": self.operator_jwt(), "code": code.strip(), "code_verifier": self._verifier}
        granted = yield from self._post(url, body)
        self.restore(granted["delegation_token"])
        self._verifier = None
        return str(self.delegation_id)

    def restore(self, delegation_token: str) -> None:
        """A delegation of an earlier run."""
        self.delegation_token = delegation_token
        self.delegation_id = str(claims_of(delegation_token)["delegation_id"])
        self.session = self.ended = None

    # -- Registration ------------------------------------------------------------------------------------------

    def register(self, receipt: str | None, key: SigningKey | None) -> Flow[str]:
        if self.delegation_token is None:
            raise NotRegistered("the person has not connected this agent: connect, and have them open the page")
        named = claims_of(receipt).get("session_id") if receipt else None
        session_id = str(named) if named else f"sess_{secrets.token_hex(16)}"
        session = _Session(session_id, receipt, Proofs(key or self._key_of(session_id), self._nonces))
        yield from self._open(session)
        return session.id

    def _key_of(self, session_id: str) -> SigningKey:
        """One key per session, the same each time that the session is registered."""
        known = self._attempted
        return known.proofs.key if known is not None and known.id == session_id else SigningKey.generate()

    def _open(self, session: _Session) -> Flow[None]:
        """An access token, bound to the session's key."""
        self._refuse_if_ended()
        self._attempted = session
        url = yield from self.endpoint("register")
        body = {
            "mode": MODE,
            "operator_jwt": self.operator_jwt(),
            "delegation_token": self.delegation_token,
            "session_id": session.id,
            "consent_receipt": session.receipt,
        }
        try:
            present = {name: value for name, value in body.items() if value is not None}
            given = yield from self._post(url, present, _ProofOnly(session.proofs))
        except Refused as why:
            self._apply(why)
            raise
        if given.get("session_id") != session.id or str(given.get("token_type")).lower() != "dpop":
            raise BadAnswer("register")
        lifetime = float(given["expires_in"])
        session.token = str(given["access_token"])
        session.renew_at = self.clock() + lifetime - min(EARLY_SECONDS, lifetime / 10)
        self.session = session

    def renew(self) -> Flow[_Session]:
        """Registers the same session again before its token expires."""
        self._refuse_if_ended()
        if self.session is None:
            raise NotRegistered("there is no session: register first")
        if self.clock() >= self.session.renew_at:
            yield from self._open(self.session)
        return self.session

    # -- Calls -------------------------------------------------------------------------------------------------

    def call(self, call: ApiCall) -> Flow[ApiResponse]:
        """A refusal of the token leads to one new registration and one repetition; nothing else is sent twice."""
        url = yield from self._address(call.path)
        for attempt in (1, 2):
            answer = yield from self._attempt(call, url)
            refusal = resource_refusal(answer)
            if refusal is None:
                return ApiResponse(answer.status, answer.headers, answer.body)
            if attempt == 1 and refusal.code in _REGISTER_AGAIN and not isinstance(refusal, AccessEnded):
                assert self.session is not None
                yield from self._open(self.session)
                continue
            self._apply(refusal)
            if call.method not in SAFE and may_have_run(refusal):
                named = (refusal.decision or {}).get("decision_id") or (refusal.call or {}).get("call_id")
                raise OutcomeUnknown(named, str(refusal)) from refusal
            raise refusal
        raise AssertionError("the second attempt returns or raises")

    def call_approved(self, call: ApiCall, timeout: float | None) -> Flow[ApiResponse]:
        """Waits for the person where the call is held, then sends the same request again."""
        try:
            return (yield from self.call(call))
        except ConfirmationNeeded as held:
            if held.decision_id is None:
                raise
            decision_id = held.decision_id
        wire = Wire(self.service, SessionCredential(self), self.project)
        decision = yield from _decisions.wait(wire, decision_id, timeout)
        _decisions.require_approval(decision)
        confirmed = ApiCall(call.method, call.path, call.body, {**call.headers, "x-agent-confirm": "true"})
        return (yield from self.call(confirmed))

    def _attempt(self, call: ApiCall, url: str) -> Flow[Answer]:
        headers = {**call.headers, "aap-version": VERSION}
        send = Send(call.method, url, call.body, headers, timeout=90.0)
        try:
            return (yield from exchange(SessionCredential(self, echo=True), send))
        except Unreachable as why:
            if call.method in SAFE or not why.may_have_arrived:
                raise
            raise OutcomeUnknown(None, "the response was lost") from why

    def _address(self, path: str) -> Flow[str]:
        """The token is sent only to the configured origin, regardless of the path."""
        origin = yield from self._api_origin()
        url = origin + path
        if not path.startswith("/") or origin_of(url) != origin or urlsplit(url).fragment:
            raise ValueError("a path begins with a slash and stays on the service's origin")
        return url

    def _api_origin(self) -> Flow[str]:
        manifest = yield from self.known()
        return self.api or origin_of(str(manifest.get("resource_origin") or self.service))

    def about_session(self, endpoint: str, body: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        """A request about the session, at an endpoint of the service."""
        url = yield from self.endpoint(endpoint)
        session = yield from self.renew()
        send = json_request("POST", url, {"session_id": session.id, **body}).with_headers({"aap-version": VERSION})
        answer = yield from exchange(SessionCredential(self), send)
        if not answer.is_success:
            refusal = refused(answer)
            self._apply(refusal)
            raise refusal
        return dict(answer.json())

    def undo(self, undo_url: str) -> Flow[dict[str, Any]]:
        """Undoes a call within its window, at the address that its response named."""
        if origin_of(undo_url) not in (self.service, (yield from self._api_origin())):
            raise NotUsable("the address to undo is not on the service's own origin")
        send = Send("POST", undo_url, headers={"aap-version": VERSION})
        answer = yield from exchange(SessionCredential(self), send)
        if not answer.is_success:
            raise refused(answer)
        return dict(answer.json())

    # -- Refusals ----------------------------------------------------------------------------------------------

    def _apply(self, refusal: Refused) -> None:
        """Drops what no longer holds. After the end of its access an agent sends nothing more."""
        if isinstance(refusal, AccessEnded):
            self.ended, self.session, self.delegation_token = refusal, None, None
        elif isinstance(refusal, ReconnectNeeded):
            self.session = self.delegation_token = None
        elif isinstance(refusal, ConsentOver):
            self.session = None

    def _refuse_if_ended(self) -> None:
        if self.ended is not None:
            raise self.ended

    def _post(self, url: str, body: Mapping[str, Any], proof: _ProofOnly | None = None) -> Flow[dict[str, Any]]:
        send = json_request("POST", url, body).with_headers({"aap-version": VERSION})
        answer: Answer = (yield from exchange(proof, send)) if proof else (yield send)
        if not answer.is_success:
            raise refused(answer)
        document = answer.json()
        if not isinstance(document, dict):
            raise BadAnswer(urlsplit(url).path)
        return document


class SessionCredential:
    """The session's access token with a proof for each request, renewed before it expires."""

    def __init__(self, state: AgentState, echo: bool = False) -> None:
        self._state, self._echo = state, echo

    def prepare(self) -> Flow[None]:
        yield from self._state.renew()

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        session = self._state.session
        assert session is not None
        proof = session.proofs.proof(method, url, session.token)
        headers = {"authorization": f"DPoP {session.token}", "dpop": proof, "aap-version": VERSION}
        if self._echo:
            delegation = {"x-agent-delegation": self._state.delegation_id or ""}
            headers.update({"x-agent-mode": MODE, "x-agent-session": session.id, **delegation})
        return headers

    def wants_again(self, url: str, answer: Answer) -> bool:
        session = self._state.session
        return session is not None and session.proofs.learn(url, answer)


class _ProofOnly:
    """Before there is a token."""

    def __init__(self, proofs: Proofs) -> None:
        self._proofs = proofs

    def prepare(self) -> Flow[None]:
        yield from ()

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        return {"dpop": self._proofs.proof(method, url)}

    def wants_again(self, url: str, answer: Answer) -> bool:
        return self._proofs.learn(url, answer)


def resource_refusal(answer: Answer) -> Refused | None:
    """Only the protocol's own refusals: those of the API itself are its response."""
    if answer.status < 400:
        return None
    envelope = answer.json()
    if isinstance(envelope, dict) and isinstance(envelope.get("request_id"), str):
        expected = STATUS.get(str(envelope.get("error")))
        if answer.status == expected or (answer.status == 428 and expected == 403):
            return refused(answer)
    if answer.status == 401 and "x-agent-revoke-reason" in answer.headers:
        return refused(answer)
    return None


def may_have_run(refusal: Refused) -> bool:
    """Whether a failed write may have had its effect: the service names the call, or says so."""
    named = refusal.call is not None or refusal.decision is not None
    told = re.search(r"may have", f"{refusal.description} {refusal.hint or ''}")
    return refusal.status >= 500 and (named or bool(told) or refusal.code == "upstream_timeout")


def is_intent_type(text: str) -> bool:
    """A word of the service's vocabulary: anything freer could carry a person's words to the service."""
    return re.fullmatch(r"[A-Z0-9_]{1,64}", text) is not None
