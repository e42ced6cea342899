"""An AAP agent against the real binary: connected, registered, held, approved, renewed and cut off."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import PASSWORD, ROOT, Folder, Node, eventually, in_background
from countersign import AccessEnded, ConfirmationNeeded, OutcomeUnknown, Refused, Rejected
from countersign.aap import Agent, AsyncAgent, NotRegistered, NotUsable
from countersign.jws import NotVerified, SigningKey, verify
from operator_host import Operator, Site

VECTORS = json.loads((ROOT / "tests/data/aap-vectors.json").read_text())

SHOP = """
id = "shop"
credential_ttl = 1800

[[upstreams]]
id = "shop"
url = "http://ADDRESS"
credential = "shop"

[[scopes]]
id = "shop.help"
description = "Look at your orders, and prepare refunds that you confirm one by one"
allows = ["orders.read", "refunds.send"]
intent_types = ["HELP_CUSTOMER"]

[[routes]]
id = "read-order"
method = "GET"
path = "/orders/{order}"
action = "orders.read"

[[routes]]
id = "send-refund"
method = "POST"
path = "/refunds"
action = "refunds.send"
irreversible = true
describe.action = "Refund {body.amount} for payment {body.payment_id}"

[[scopes]]
id = "shop.notes"
description = "Send notes, each one only after you have confirmed it"
allows = ["notes.send"]
irreversible = true
undo_window_s = 600
intent_types = ["HELP_CUSTOMER"]

[[routes]]
id = "send-note"
method = "POST"
path = "/notes"
action = "notes.send"
irreversible = true
undo = { by = "hold" }
describe.action = "Send the note {body.text}"
"""

CONFIG = """
[gateway.credentials.shop]
value = "Bearer the-shops-own"

[outbound]
extra_roots = ["ca.pem"]

[outbound.static]
"acme.test" = "ADDRESS"
"""


class Person:
    """robin in a browser."""

    def __init__(self, origin: str) -> None:
        signed_in = httpx.post(f"{origin}/session", json={"name": "robin", "password": PASSWORD}).raise_for_status()
        # The cookie is for https only, unless a test carries it.
        cookie = signed_in.headers["set-cookie"].split(";")[0]
        self.http = httpx.Client(base_url=origin, headers={"cookie": cookie})
        self.csrf = signed_in.json()["csrf_token"]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.http.post(path, json=body, headers={"X-CSRF-Token": self.csrf}).raise_for_status().json()

    def agrees(self, page: str) -> str:
        """Opens the connect page and consents; returns the code to copy."""
        request = page.rsplit("/", 1)[1]
        shown = self.post("/agent/delegate", {"request_id": request})
        consent = {"request_id": request, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": True}
        return str(self.post("/agent/delegate", consent)["code"])

    def questions(self) -> list[dict[str, Any]]:
        return list(self.http.get("/aaep/v1/questions").raise_for_status().json()["questions"])

    def answers(self, decision_id: str, answer: str, **more: str) -> None:
        """Presses a button of the question's page."""
        page = self.http.get(f"/inbox/shop/{decision_id}").raise_for_status().text
        form = page[: page.index(f'value="{answer}"')].rpartition("<form")[2]
        hidden = dict(re.findall(r'type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form))
        hidden.update(re.findall(r'name="([^"]+)"[^>]*type="hidden"[^>]*value="([^"]*)"', form))
        told = self.http.post(f"/inbox/shop/{decision_id}", data={**hidden, "answer": answer, **more})
        assert told.status_code == 303, told.text


class Shop:
    """A node with a gateway in front of an API, an operator, robin, and a way to count what reached the API."""

    def __init__(self, path: Path) -> None:
        self.api = Site({"/orders/7": {"order": 7}, "/refunds": {"refunded": True}})
        self.operator = Operator(path)
        config = CONFIG.replace("ADDRESS", self.operator.site.address)
        self.folder = Folder(path, SHOP.replace("ADDRESS", self.api.address), config)
        self.folder.does("user add robin --role user")
        self.node = Node(self.folder, gateway=True)
        self.robin = Person(self.node.origin)

    def agent(self, **more: Any) -> Agent:
        return Agent(self.node.origin, self.operator, **more)

    def connected(self, **more: Any) -> Agent:
        agent = self.agent(**more)
        agent.finish(self.robin.agrees(agent.connect(["shop.help", "shop.notes"])))
        return agent

    def receipt(self, agent: Agent | AsyncAgent, **more: Any) -> str:
        claims = {
            "aud": self.node.origin,
            "sub": "robin",
            "delegation_id": agent.delegation_id,
            "session_id": f"sess_{secrets.token_hex(16)}",
            "intent_type": "HELP_CUSTOMER",
            "scopes": ["shop.help"],
        }
        return self.operator.receipt({**claims, **more})

    def registered(self, **more: Any) -> Agent:
        agent = self.connected(**more)
        agent.register(self.receipt(agent))
        return agent

    def writes(self) -> list[bytes]:
        return [body for method, _, body in self.api.requests if method == "POST"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = Shop(tmp_path_factory.mktemp("shop"))
    yield shop
    shop.node.kill()


def test_the_vectors_of_the_protocol_are_verified_and_the_failing_one_is_refused() -> None:
    jwk = VECTORS["jwks"]["keys"][0]
    assert SigningKey.from_scalar(VECTORS["private_d"]).jwk() == {name: jwk[name] for name in ("kty", "crv", "x", "y")}
    assert verify(VECTORS["operator_jwt"], jwk)["iss"] == "test-operator.aap.dev"
    assert verify(VECTORS["consent_receipt"], jwk)["session_id"] == "sess_testabc"
    with pytest.raises(NotVerified):
        verify(VECTORS["TV-F-02"], jwk)
    signed = SigningKey.from_scalar(VECTORS["private_d"]).sign({"alg": "ES256"}, {"a": 1})
    assert verify(signed, jwk) == {"a": 1}


def test_a_key_comes_back_from_its_pem_with_the_same_thumbprint() -> None:
    key = SigningKey.generate()
    assert SigningKey.from_pem(key.to_pem()).thumbprint() == key.thumbprint()


def test_a_read_passes_and_a_held_write_runs_once_after_the_persons_approval(shop: Shop) -> None:
    agent = shop.registered()
    assert agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER").json() == {"order": 7}
    refund, before = {"payment_id": "p-1", "amount": "19.90"}, len(shop.writes())
    with pytest.raises(ConfirmationNeeded) as held:
        agent.call("POST", "/refunds", json=refund, intent_type="HELP_CUSTOMER")
    assert held.value.decision_id and held.value.page and held.value.hint and len(shop.writes()) == before
    shop.robin.answers(held.value.decision_id, "reject")
    calling = in_background(lambda: agent.call_approved("POST", "/refunds", json=refund, intent_type="HELP_CUSTOMER"))
    # Only now: the same request after an approval that it does not know of would ask again.
    question = eventually(shop.robin.questions, "a question")[0]
    shop.robin.answers(question["decision_id"], "accept")
    assert calling.result().status == 201
    assert [json.loads(body) for body in shop.writes()[before:]] == [refund]


def test_a_rejected_call_raises_the_persons_reason_and_reaches_nobody(shop: Shop) -> None:
    agent, before = shop.registered(), len(shop.writes())
    refund = {"payment_id": "p-2", "amount": "5.00"}
    calling = in_background(lambda: agent.call_approved("POST", "/refunds", json=refund, intent_type="HELP_CUSTOMER"))
    question = eventually(shop.robin.questions, "a question")[0]
    shop.robin.answers(question["decision_id"], "reject", reason="not this one")
    with pytest.raises(Rejected, match="not this one"):
        calling.result()
    assert len(shop.writes()) == before


def test_a_session_is_registered_again_before_its_token_expires(shop: Shop) -> None:
    now = [1000.0]
    agent = shop.connected(clock=lambda: now[0])
    session = agent.register(shop.receipt(agent))
    token = agent._state.session.token
    now[0] += 1500
    agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")
    assert agent._state.session.token == token
    now[0] += 260
    agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")
    assert agent._state.session.token != token and agent.session_id == session


def test_each_session_has_a_key_of_its_own_and_keeps_it(shop: Shop) -> None:
    """AAP-18.1-01"""
    agent = shop.registered()
    assert agent.session_key
    first = agent.session_key.thumbprint()
    receipt = shop.receipt(agent)
    agent.register(receipt)
    second = agent.session_key.thumbprint()
    agent.register(receipt)
    assert first != second == agent.session_key.thumbprint()
    assert agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER").status == 200


def test_a_refused_token_is_replaced_once(shop: Shop) -> None:
    agent = shop.registered()
    agent._state.session.token = "unknown"
    assert agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER").status == 200


def test_refusals_are_typed_and_those_of_the_api_are_its_response(shop: Shop) -> None:
    agent = shop.registered()
    with pytest.raises(Refused) as told:
        agent.call("GET", "/orders/7", intent_type="SCHEDULE_EVENT")
    assert told.value.code == "intent_type_unknown" and told.value.hint
    with pytest.raises(Refused) as nowhere:
        agent.call("DELETE", "/orders/7", intent_type="HELP_CUSTOMER")
    assert nowhere.value.code in ("route_not_found", "method_not_allowed")
    assert agent.call("GET", "/orders/8", intent_type="HELP_CUSTOMER").status == 404
    for path in ("orders/7", "@evil.example/", "/orders/7#x"):
        with pytest.raises(ValueError):
            agent.call("GET", path)
    with pytest.raises(ValueError):
        agent.call("GET", "/orders/7", intent_type="please look at my orders")


def test_after_a_revocation_the_reason_is_surfaced_and_nothing_more_is_sent(shop: Shop) -> None:
    """AAP-8.5-04"""
    agent = shop.registered()
    shop.robin.post("/agent/revoke", {"delegation_id": agent.delegation_id})
    with pytest.raises(AccessEnded) as told:
        agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")
    assert told.value.revoke_reason == "manual_revoke" and agent.delegation_token is None
    shop.node.kill()
    try:
        with pytest.raises(AccessEnded):
            agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")
    finally:
        shop.node.start()


def test_an_agent_without_a_delegation_a_session_or_a_service_says_so(shop: Shop) -> None:
    """AAP-5.1-02"""
    agent = shop.agent()
    with pytest.raises(NotRegistered):
        agent.register()
    with pytest.raises(NotRegistered):
        agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")
    with pytest.raises(NotUsable):
        Agent(shop.node.origin.replace("127.0.0.1", "localhost"), shop.operator).discover()


def test_a_delegation_goes_on_after_a_restart_of_agent_and_node(shop: Shop) -> None:
    first = shop.connected()
    receipt = shop.receipt(first)
    session = first.register(receipt)
    assert first.delegation_token and first.session_key
    shop.node.kill()
    shop.node.start()
    second = shop.agent()
    second.restore(first.delegation_token)
    assert second.register(receipt, SigningKey.from_pem(first.session_key.to_pem())) == session
    assert second.call("GET", "/orders/7", intent_type="HELP_CUSTOMER").status == 200
    assert second.complete("done")["completed_at"]


def test_a_long_task_sends_heartbeats_previews_its_calls_and_is_cancelled(shop: Shop) -> None:
    agent, before = shop.connected(), len(shop.writes())
    agent.register(shop.receipt(agent, heartbeat_interval=60))
    assert agent.heartbeat("running", 40)["next_before"]
    refund = {"payment_id": "p-3", "amount": "1.00"}
    preview = agent.call("POST", "/refunds", json=refund, intent_type="HELP_CUSTOMER", dry_run=True)
    assert preview.status == 200 and preview.headers["x-agent-dry-run"] == "true"
    assert len(shop.writes()) == before and not shop.robin.questions()
    assert agent.cancel("not needed any more")["rollback_status"] == "completed"
    with pytest.raises(Refused) as over:
        agent.heartbeat()
    assert over.value.status == 401


def test_a_call_is_undone_within_its_window(shop: Shop) -> None:
    """AAP-14.1-07"""
    agent, before = shop.connected(), len(shop.writes())
    agent.register(shop.receipt(agent, scopes=["shop.notes"]))
    calling = in_background(
        lambda: agent.call_approved("POST", "/notes", json={"text": "hello"}, intent_type="HELP_CUSTOMER")
    )
    question = eventually(shop.robin.questions, "a question")[0]
    shop.robin.answers(question["decision_id"], "accept")
    held = calling.result()
    assert held.status == 202
    with pytest.raises(NotUsable):
        agent.undo("https://evil.example/undo")
    assert agent.undo(held.json()["undo_url"])["state"] == "undone"
    assert len(shop.writes()) == before


def test_the_asynchronous_agent_does_the_same(shop: Shop) -> None:
    async def work() -> None:
        async with AsyncAgent(shop.node.origin, shop.operator) as agent:
            page = await agent.connect(["shop.help"])
            await agent.finish(await asyncio.to_thread(shop.robin.agrees, page))
            await agent.register(shop.receipt(agent))
            assert (await agent.call("GET", "/orders/7", intent_type="HELP_CUSTOMER")).json() == {"order": 7}
            refund = {"payment_id": "p-4", "amount": "2.00"}
            calling = asyncio.create_task(
                agent.call_approved("POST", "/refunds", json=refund, intent_type="HELP_CUSTOMER")
            )
            question = await asyncio.to_thread(eventually, shop.robin.questions, "a question")
            await asyncio.to_thread(shop.robin.answers, question[0]["decision_id"], "accept")
            assert (await calling).status == 201
            await agent.complete()

    in_background(lambda: asyncio.run(work())).result()
    assert {"payment_id": "p-4", "amount": "2.00"} in [json.loads(body) for body in shop.writes()]


class Impolite:
    """A service that asks for a nonce, then loses the response to a write."""

    def __init__(self) -> None:
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if request.url.path == "/.well-known/agent-auth.json":
            endpoints = {"register": "/register"}
            return httpx.Response(200, json={"service": "https://plane.example", "endpoints": endpoints})
        claims = verify(request.headers["dpop"], self._jwk(request))
        if claims.get("nonce") != "n-1":
            headers = {"dpop-nonce": "n-1", "www-authenticate": 'DPoP error="use_dpop_nonce"'}
            return httpx.Response(401, headers=headers, json={"error": "dpop_invalid"})
        if request.url.path == "/register":
            token = {"access_token": "t", "token_type": "DPoP", "expires_in": 600}
            return httpx.Response(200, json={**token, "session_id": json.loads(request.content)["session_id"]})
        assert claims["htu"] == "https://plane.example/notes" and claims["htm"] == "POST" and "ath" in claims
        raise httpx.ReadError("the connection was closed")

    def _jwk(self, request: httpx.Request) -> dict[str, str]:
        import base64

        head = request.headers["dpop"].split(".")[0]
        return dict(json.loads(base64.urlsafe_b64decode(head + "=="))["jwk"])


def test_a_nonce_is_fetched_once_and_a_write_with_a_lost_response_is_never_sent_again() -> None:
    """AAP-18.3-02, AAP-18.3-06"""
    service = Impolite()
    operator = Operator.__new__(Operator)
    operator.operator_jwt = lambda service: "jwt"  # type: ignore[method-assign]
    agent = Agent("https://plane.example", operator, http=httpx.Client(transport=httpx.MockTransport(service)))
    agent.restore("e30." + "eyJkZWxlZ2F0aW9uX2lkIjoiZGVsXzEifQ" + ".x")
    agent.register()
    assert [request.url.path for request in service.seen[1:]] == ["/register", "/register"]
    with pytest.raises(OutcomeUnknown):
        agent.call("POST", "/notes?draft=1", json={"text": "hello"})
    assert [request.url.path for request in service.seen[3:]] == ["/notes"]
    headers = service.seen[-1].headers
    assert headers["aap-version"] == "2.0" and headers["authorization"] == "DPoP t"
    assert headers["x-agent-mode"] == "user_delegated" and headers["x-agent-delegation"] == "del_1"
    assert headers["x-agent-session"] == agent.session_id
