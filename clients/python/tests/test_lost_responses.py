"""Which requests are sent again after a lost response, and which never are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from countersign import AlreadyRan, Countersign, MemoryJournal, OutcomeUnknown, TooManyRequests, Unreachable
from countersign.canonical import digest
from countersign.journal import Entry

OPEN = {"state": "open", "uses_left": 1, "until": "2030-01-01T00:00:00Z"}
CLAIMED = {"execution_id": "exe_1", "state": "claimed"}


def document(**more: Any) -> httpx.Response:
    decision = {"decision_id": "dec_1", "kind": "confirmation", "state": "accepted", "digest": "00", "page": "/"}
    return httpx.Response(200, json={**decision, **more})


class Service:
    """Plays a script: each response, or error, for the next request with that method and path."""

    def __init__(self, script: list[tuple[str, httpx.Response | Exception]]) -> None:
        self.script = script

    def __call__(self, request: httpx.Request) -> httpx.Response:
        wanted, response = self.script.pop(0)
        assert f"{request.method} {request.url.path.rsplit('/', 1)[1]}" == wanted
        if isinstance(response, Exception):
            raise response
        return response


def played(script: list[tuple[str, httpx.Response | Exception]], act: Callable[[Countersign], Any]) -> Any:
    service = Service(script)
    http = httpx.Client(transport=httpx.MockTransport(service))
    try:
        return act(Countersign("https://plane.example", "csk_x", http=http, patience=5))
    finally:
        assert not service.script


def claim(client: Countersign) -> Any:
    return client.claim("dec_1", tool="t", arguments={})


LOST, NEVER_SENT = httpx.ReadError("lost"), httpx.ConnectError("refused")


def test_a_lost_claim_is_not_repeated_while_the_decision_shows_an_execution() -> None:
    with pytest.raises(OutcomeUnknown):
        played([("POST claim", LOST), ("GET dec_1", document(execution=CLAIMED))], claim)


def test_a_claim_that_did_not_arrive_is_repeated() -> None:
    held = document(execution=CLAIMED)
    assert played([("POST claim", NEVER_SENT), ("POST claim", held)], claim).execution.state == "claimed"
    script = [("POST claim", LOST), ("GET dec_1", document(allowance=OPEN)), ("POST claim", held)]
    assert played(script, claim).execution.execution_id == "exe_1"


def test_a_claim_without_any_answer_is_unknown_and_one_that_was_never_sent_is_not() -> None:
    lost = [("POST claim", LOST)]
    client = Countersign(
        "https://plane.example", "csk_x", http=httpx.Client(transport=httpx.MockTransport(Service(lost))), patience=0
    )
    with pytest.raises(OutcomeUnknown):
        claim(client)
    never = [("POST claim", NEVER_SENT)]
    client = Countersign(
        "https://plane.example", "csk_x", http=httpx.Client(transport=httpx.MockTransport(Service(never))), patience=0
    )
    with pytest.raises(Unreachable):
        claim(client)


def test_too_many_questions_are_reported_with_the_time_to_wait_and_not_repeated() -> None:
    limited = httpx.Response(429, headers={"retry-after": "30"}, json={"error": "too_many_requests"})
    with pytest.raises(TooManyRequests) as told:
        played([("POST confirmations", limited)], lambda client: client.ask("Send it", "It is gone"))
    assert told.value.retry_after == 30


def test_a_report_is_repeated_until_it_arrives() -> None:
    failed = httpx.Response(503, json={"error": "service_unavailable"})
    script = [("POST outcome", LOST), ("POST outcome", failed), ("POST outcome", document())]
    assert played(script, lambda client: client.report("dec_1", "committed")).decision_id == "dec_1"


def test_a_foreign_text_in_an_error_cannot_forge_lines() -> None:
    answer = httpx.Response(400, text=json.dumps({"error": "x", "error_description": "a\nb\x1b[31m"}))
    with pytest.raises(Exception, match=r"a b \[31m"):
        played([("POST confirmations", answer)], lambda client: client.ask("Send it", "It is gone"))


def test_a_key_whose_call_ran_under_a_standing_approval_does_not_use_it_again() -> None:
    journal = MemoryJournal()
    call = digest({"tool": "t", "arguments": {"n": 1}})
    journal.save("k", Entry(call, "dec_1", claiming=True, execution_id="exe_1"))
    ran = document(allowance=OPEN, execution={**CLAIMED, "state": "committed"})
    service = Service([("GET dec_1", ran)])
    http = httpx.Client(transport=httpx.MockTransport(service))
    client = Countersign("https://plane.example", "csk_x", http=http, journal=journal)
    with pytest.raises(AlreadyRan), client.approval("t", {"n": 1}, key="k"):
        pytest.fail("it ran again")


def test_of_two_runs_of_one_call_the_slower_is_told_what_became_of_it() -> None:
    taken = httpx.Response(409, json={"error": "conflict", "error_description": "it was already claimed"})
    for state, error in (("claimed", OutcomeUnknown), ("committed", AlreadyRan)):
        ran = document(execution={**CLAIMED, "state": state})
        script = [("POST confirmations", document(allowance=OPEN)), ("POST claim", taken), ("GET dec_1", ran)]
        with pytest.raises(error):
            played(script, lambda client: client.require_approval("t")(lambda: pytest.fail("it ran twice"))())


def test_a_wait_goes_on_by_bounded_long_polls_while_the_service_comes_and_goes() -> None:
    waits: list[str | None] = []
    answers = [document(state="pending"), LOST, httpx.Response(503, json={}), document(state="rejected", reason="no")]

    def service(request: httpx.Request) -> httpx.Response:
        waits.append(request.url.params.get("wait"))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    http = httpx.Client(transport=httpx.MockTransport(service))
    assert Countersign("https://plane.example", "csk_x", http=http).wait("dec_1").reason == "no"
    assert waits == ["50"] * 4
