"""Approvals through the real binary: asked, answered, claimed, reported, over kills and restarts."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import Stage, eventually, in_background
from countersign import (
    AsyncCountersign,
    Cancelled,
    Conflict,
    Countersign,
    Expired,
    FileJournal,
    KeyInUse,
    KeyReused,
    NotCanonical,
    NotPermitted,
    OutcomeNotRecorded,
    OutcomeUnknown,
    Refused,
    Rejected,
    StillPending,
    Unreachable,
)


@pytest.fixture()
def client(stage: Stage) -> Countersign:
    return Countersign(stage.origin, stage.key)


def letters(client: Countersign, **terms: Any) -> tuple[Any, list[str]]:
    """A guarded tool, and the letters that it has really sent."""
    sent: list[str] = []

    @client.require_approval("mail.send", action="Send “{text}”", **terms)
    def send(text: str) -> str:
        sent.append(text)
        return f"sent {text}"

    return send, sent


def test_a_tool_runs_after_an_approval_and_its_outcome_is_recorded(stage: Stage, client: Countersign) -> None:
    send, sent = letters(client)
    running = in_background(send, "hello")
    asked = stage.asked()
    assert not sent and stage.questions()[0]["action"].startswith("Runs mail.send with text: “hello”.")
    stage.answers(asked, "approve")
    assert running.result() == "sent hello"
    decision = client.get(asked)
    assert decision.execution is not None and decision.execution.state == "committed"
    assert sent == ["hello"]


def test_a_rejection_is_an_exception_with_the_persons_reason_and_nothing_runs(
    stage: Stage, client: Countersign
) -> None:
    send, sent = letters(client)
    running = in_background(send, "rude words")
    stage.answers(stage.asked(), "reject", "--reason", "too rude")
    with pytest.raises(Rejected, match="a person rejected it: too rude") as told:
        running.result()
    assert told.value.reason == "too rude" and not sent


def test_silence_is_expired_and_not_rejected(client: Countersign) -> None:
    send, sent = letters(client, timeout_seconds=1)
    with pytest.raises(Expired, match="nobody answered in time"):
        send("unheard")
    assert not sent


def test_a_withdrawn_question_is_cancelled(stage: Stage, client: Countersign) -> None:
    send, sent = letters(client)
    running = in_background(send, "never mind")
    client.withdraw(stage.asked(), "not needed any more")
    with pytest.raises(Cancelled):
        running.result()
    assert not sent


def test_an_error_of_the_tool_is_reported_as_failed_and_raised(stage: Stage, client: Countersign) -> None:
    @client.require_approval("mail.send")
    def send(text: str) -> None:
        raise ValueError(f"no such address in {text}")

    running = in_background(send, "misaddressed")
    asked = stage.asked()
    stage.answers(asked, "approve")
    with pytest.raises(ValueError, match="no such address"):
        running.result()
    execution = client.get(asked).execution
    assert execution is not None and execution.state == "failed"


def test_a_lost_answer_is_surfaced_as_unknown_and_the_call_is_never_repeated(stage: Stage, client: Countersign) -> None:
    tried: list[str] = []

    @client.require_approval("mail.send")
    def send(text: str) -> None:
        tried.append(text)
        raise TimeoutError("the mail server did not answer")

    running = in_background(send, "into the dark")
    asked = stage.asked()
    stage.answers(asked, "approve")
    with pytest.raises(OutcomeUnknown) as told:
        running.result()
    assert told.value.decision_id == asked
    # Asked again, the service names the decision instead of asking a person.
    with pytest.raises(OutcomeUnknown) as again:
        send("into the dark")
    assert again.value.decision_id == asked and len(tried) == 1 and not stage.questions()


def test_what_runs_is_what_was_approved_even_if_the_caller_changes_it_meanwhile(
    stage: Stage, client: Countersign
) -> None:
    sent: list[str] = []

    @client.require_approval("mail.send", unbound=("log",))
    def send(to: list[str], log: list[str], *, copies: int = 1, **more: Any) -> None:
        log.extend(to)

    to = ["acme"]
    running = in_background(lambda: send(to, sent, urgent=True))
    asked = stage.asked()
    assert "copies" in stage.questions()[0]["action"] and "urgent" in stage.questions()[0]["action"]
    to.append("everybody")
    stage.answers(asked, "approve")
    running.result()
    assert sent == ["acme"]


def test_a_claim_for_another_call_is_refused(stage: Stage, client: Countersign) -> None:
    asked = client.ask("Send a letter", "It is gone", tool="mail.send", arguments={"text": "nice"})
    stage.answers(asked.decision_id, "approve")
    client.wait(asked.decision_id)
    with pytest.raises(Refused) as told:
        client.claim(asked.decision_id, tool="mail.send", arguments={"text": "nasty"})
    assert told.value.code == "confirmation_invalid" and told.value.hint
    claimed = client.claim(asked.decision_id, tool="mail.send", arguments={"text": "nice"})
    assert claimed.execution is not None
    client.report(asked.decision_id, "committed", execution_id=claimed.execution.execution_id)
    with pytest.raises(Conflict):
        client.claim(asked.decision_id, tool="mail.send", arguments={"text": "nice"})


def test_arguments_without_a_canonical_form_are_refused_before_anybody_is_asked(
    stage: Stage, client: Countersign
) -> None:
    send, sent = letters(client)
    with pytest.raises(NotCanonical):
        send(object())
    assert not sent and not stage.questions()


def test_a_pending_question_is_reported_as_such_and_waited_for_again(stage: Stage, client: Countersign) -> None:
    asked = client.ask("Send it", "It is gone", tool="mail.send", arguments={"text": "later"})
    with pytest.raises(StillPending):
        client.wait(asked.decision_id, timeout=0.3)
    assert client.ask("Send it", "It is gone", tool="mail.send", arguments={"text": "later"}) == asked
    assert len(stage.questions()) == 1
    client.withdraw(asked.decision_id)


def test_refusals_are_typed_and_name_the_next_step(stage: Stage, client: Countersign) -> None:
    with pytest.raises(NotPermitted) as told:
        Countersign(stage.origin, "csk_wrong", patience=0).ask("Send it", "It is gone")
    assert told.value.hint and told.value.request_id
    with pytest.raises(Refused) as told_too:
        client.ask("Pay", "It is gone", tool="payments.send", arguments={})
    assert told_too.value.status == 403 and told_too.value.hint
    with pytest.raises(Unreachable) as away:
        Countersign("http://127.0.0.1:9", stage.key, patience=0).ask("Send it", "It is gone")
    assert not away.value.may_have_arrived
    assert [action["name"] for action in client.actions()] == ["mail.send"]


def test_a_clarification_returns_the_answer_of_the_person(stage: Stage, client: Countersign) -> None:
    asking = in_background(lambda: client.clarify("Which account?", choices={"m": "Main", "s": "Savings"}))
    stage.responds(stage.asked(), "s")
    assert asking.result() == "s"


def test_a_key_makes_a_clarification_durable(stage: Stage, tmp_path: Path) -> None:
    def ask() -> Any:
        client = Countersign(stage.origin, stage.key, journal=FileJournal(tmp_path))
        return client.clarify("Which city?", idempotency_key="trip-1")

    asking = in_background(ask)
    stage.responds(stage.asked(), "Graz")
    assert asking.result() == "Graz"
    assert ask() == "Graz" and not stage.questions()


def test_an_asynchronous_tool_is_guarded_by_either_client(stage: Stage, client: Countersign) -> None:
    @client.require_approval("mail.send")
    async def send(text: str) -> str:
        return f"sent {text}"

    async def by_the_other() -> str:
        async with AsyncCountersign(stage.origin, stage.key) as other:

            @other.require_approval("mail.send")
            def send_blocking(text: str) -> str:
                return f"sent {text} from a thread"

            return await send_blocking("tea")

    running = in_background(lambda: asyncio.run(send("coffee")))
    stage.answers(stage.asked(), "approve")
    assert running.result() == "sent coffee"
    running = in_background(lambda: asyncio.run(by_the_other()))
    stage.answers(stage.asked(), "approve")
    assert running.result() == "sent tea from a thread"


def test_a_cancelled_task_leaves_its_outcome_unknown(stage: Stage) -> None:
    begun = threading.Event()

    async def run() -> None:
        async with AsyncCountersign(stage.origin, stage.key) as client:

            @client.require_approval("mail.send")
            async def send(text: str) -> None:
                begun.set()
                await asyncio.Event().wait()

            sending = asyncio.create_task(send("half a letter"))
            await asyncio.to_thread(begun.wait, 60)
            sending.cancel()
            await sending

    running = in_background(lambda: asyncio.run(run()))
    asked = stage.asked()
    stage.answers(asked, "approve")
    with pytest.raises(asyncio.CancelledError):
        running.result()
    execution = Countersign(stage.origin, stage.key).get(asked).execution
    assert execution is not None and execution.state == "claimed"


def test_a_long_tool_keeps_its_claim_alive(stage: Stage, client: Countersign) -> None:
    @client.require_approval("mail.send", renew_every=0.05)
    def send(text: str) -> str:
        def lease() -> str | None:
            execution = client.get(asked).execution
            return execution and execution.lease_until

        first = lease()
        eventually(lambda: lease() != first, "a renewal")
        return "at last"

    running = in_background(send, "a long letter")
    asked = stage.asked()
    stage.answers(asked, "approve")
    assert running.result() == "at last"


# -- Restarts of the agent -----------------------------------------------------------------------------------------


AGENT = """
import sys
from countersign import Countersign, FileJournal
service, key, folder, mode, text = sys.argv[1:]
client = Countersign(service, key, journal=FileJournal(folder))

@client.require_approval("mail.send", key="letter-{text}")
def send(text):
    print("begun", flush=True)
    if mode == "stuck":
        sys.stdin.read()
    return "sent"

try:
    print(send(text), flush=True)
except Exception as why:
    print(type(why).__name__, flush=True)
"""


class Agent:
    """An agent in a process of its own."""

    def __init__(self, stage: Stage, folder: Path, mode: str) -> None:
        command = [sys.executable, "-c", AGENT, stage.origin, stage.key, str(folder), mode, folder.name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def says(self) -> str:
        assert self.process.stdout is not None
        return in_background(self.process.stdout.readline).result().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def test_an_agent_killed_while_it_waits_goes_on_with_the_same_question(stage: Stage, tmp_path: Path) -> None:
    first = Agent(stage, tmp_path, "quick")
    asked = stage.asked()
    first.kill()
    stage.answers(asked, "approve")
    second = Agent(stage, tmp_path, "quick")
    assert [second.says(), second.says()] == ["begun", "sent"]
    # Under the same key nothing is asked or run again.
    third = Agent(stage, tmp_path, "quick")
    assert third.says() == "AlreadyRan" and not stage.questions()


def test_an_agent_killed_while_it_acts_does_not_act_again(stage: Stage, tmp_path: Path) -> None:
    first = Agent(stage, tmp_path, "stuck")
    stage.answers(stage.asked(), "approve")
    assert first.says() == "begun"
    first.kill()
    second = Agent(stage, tmp_path, "quick")
    assert second.says() == "OutcomeUnknown" and not stage.questions()


def test_a_key_stands_for_one_call_and_for_one_at_a_time(stage: Stage, tmp_path: Path) -> None:
    client = Countersign(stage.origin, stage.key, journal=FileJournal(tmp_path))
    send, sent = letters(client, key="the-only")
    running = in_background(send, "first")
    asked = stage.asked()
    with pytest.raises(KeyInUse):
        send("first")
    stage.answers(asked, "reject")
    with pytest.raises(Rejected):
        running.result()
    with pytest.raises(Rejected):
        send("first")
    with pytest.raises(KeyReused):
        send("second")
    assert not sent and not stage.questions()
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


# -- Restarts of the node ------------------------------------------------------------------------------------------


def test_a_node_killed_while_the_agent_waits_and_again_while_it_acts_loses_nothing(stage: Stage) -> None:
    client = Countersign(stage.origin, stage.key)
    begun, go_on = threading.Event(), threading.Event()

    @client.require_approval("mail.send")
    def send(text: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return "sent"

    running = in_background(send, "through the storm")
    asked = stage.asked()
    stage.node.kill()
    stage.node.start()
    stage.answers(asked, "approve")
    assert begun.wait(60)
    stage.node.kill()
    go_on.set()
    stage.node.start()
    assert running.result() == "sent"
    execution = client.get(asked).execution
    assert execution is not None and execution.state == "committed"


def test_an_outcome_that_cannot_be_reported_is_surfaced_with_the_result(stage: Stage) -> None:
    client = Countersign(stage.origin, stage.key, patience=0.2)

    @client.require_approval("mail.send")
    def send_and_lose_the_node(text: str) -> str:
        stage.node.kill()
        return "sent"

    running = in_background(send_and_lose_the_node, "and then silence")
    stage.answers(stage.asked(), "approve")
    with pytest.raises(OutcomeNotRecorded) as told:
        running.result()
    assert told.value.result == "sent" and told.value.status == "committed"
    stage.node.start()
    decision = client.report(told.value.decision_id, "committed")
    assert decision.execution is not None and decision.execution.state == "committed"
