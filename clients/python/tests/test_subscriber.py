"""A person's own subscriber: receives questions of the real binary and answers them, over a kill of the node."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from conftest import Stage, in_background
from countersign import (
    AsyncSubscriber,
    Countersign,
    Event,
    Question,
    Rejected,
    Subscriber,
    SubscriptionRejected,
)
from countersign._sse import Decoder, TooLarge


def question(events: Iterator[Event]) -> Question:
    """The next question; the test's own timeout bounds the wait."""
    return in_background(lambda: next(event for event in events if isinstance(event, Question))).result()


def test_messages_are_read_across_any_packet_boundary() -> None:
    stream = "id: 7\r\nevent: a\rdata: x\ndata: y\n\n: comment\n\ndata:ä\n\n".encode()
    for cut in range(len(stream)):
        decoder = Decoder()
        found = decoder.push(stream[:cut]) + decoder.push(stream[cut:])
        assert [(message.event, message.data, message.id) for message in found] == [
            ("a", "x\ny", "7"),
            ("message", "ä", "7"),
        ]
    with pytest.raises(TooLarge):
        Decoder().push(b"x" * 3_000_000)


def test_questions_are_received_and_answered_also_after_a_kill_of_the_node(stage: Stage) -> None:
    agent, phone = Countersign(stage.origin, stage.key), Subscriber(stage.origin, stage.token)
    events = phone.events()
    asked = agent.ask("Send it", "It is gone", tool="mail.send", arguments={"text": "one"})
    received = question(events)
    assert received.decision_id == asked.decision_id and received.is_confirmation
    assert received.consequence and received.action and phone.questions()
    phone.approve(received)
    assert agent.wait(asked.decision_id).state == "accepted"

    stage.node.kill()
    stage.node.start()
    asked = agent.ask("Send it", "It is gone", tool="mail.send", arguments={"text": "two"})
    received = question(event for event in events if event.decision_id == asked.decision_id)
    phone.reject(received, "not today")
    assert agent.wait(asked.decision_id).reason == "not today"
    settled = in_background(lambda: next(event for event in events if event.settled)).result()
    assert settled.decision_id == asked.decision_id


def test_an_asynchronous_subscriber_answers_a_clarification(stage: Stage) -> None:
    async def answer() -> None:
        phone = AsyncSubscriber(stage.origin, stage.token)
        async for event in phone.events():
            if isinstance(event, Question) and event.question == "How many?":
                await phone.respond(event, 6)
                break
        await phone.close()

    asking = in_background(lambda: Countersign(stage.origin, stage.key).clarify("How many?", kinds=["numeric"]))
    asyncio.run(asyncio.wait_for(answer(), 60))
    assert asking.result() == 6


def test_an_unknown_token_ends_the_subscription(stage: Stage) -> None:
    with pytest.raises(SubscriptionRejected, match="the subscription was rejected"):
        next(Subscriber(stage.origin, "cst_wrong").events())


PLAN = "6f1c2b3a-4d5e-4f60-8a7b-9c0d1e2f3a4b"
STEP = "9c4f5e6d-7a8b-4c93-9d0e-2f3a4b5c6d7e"


def a_plan(text: str) -> dict:
    steps = [{"step_id": STEP, "description": "Write to the customer", "status": "pending"}]
    plan = {
        "meta": {"protocol_version": "1.0.0", "schema_version": "1.0.0"},
        "plan_id": PLAN,
        "context_id": STEP,
        "title": "Answer",
        "objective": "The customer knows",
        "status": "draft",
        "steps": steps,
    }
    return {"plan": plan, "actions": {STEP: {"tool": "mail.send", "arguments": {"text": text}, "uses": 1}}}


def test_a_call_of_an_approved_plan_runs_without_a_further_question_and_a_deviation_does_not(stage: Stage) -> None:
    agent, phone = Countersign(stage.origin, stage.key), Subscriber(stage.origin, stage.token)
    events = phone.events()
    sent = []

    @agent.require_approval("mail.send")
    def send(text: str) -> None:
        sent.append(text)

    plan, decision_id = agent.plans.submit(a_plan("as planned"), propose=True)
    assert plan["status"] == "proposed" and decision_id
    phone.approve(question(event for event in events if event.decision_id == decision_id))
    assert agent.wait(decision_id).state == "accepted"
    assert agent.plans.actions(PLAN)
    send("as planned")
    assert sent == ["as planned"] and agent.plans.get(PLAN)["status"] == "completed"
    sending = in_background(send, "not as planned")
    asked = question(event for event in events if event.decision_id != decision_id)
    phone.reject(asked)
    with pytest.raises(Rejected):
        sending.result()
    assert sent == ["as planned"]
