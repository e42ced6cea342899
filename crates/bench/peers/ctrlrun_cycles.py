"""ctrlrun's approvals with its SQLite store.

The agent's call is refused with the id of a request, a person grants it through a store of their own on the same
file (as `ctrlrun approve` does), and the agent calls again and presents the id. No event sink: the store alone.
"""

import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import cycles
from ctrlrun import (
    ApprovalMismatch,
    ApprovalRequired,
    Control,
    Policy,
    SQLiteStateStore,
    context,
    protect,
    with_approval,
)

POLICY = """
schema: ctrlrun.policy/v2
actions:
  mail.send:
    effect: "mail:{message}"
    decision: approve
"""

DOES_NOT_DO = [
    "sync a commit: see durable",
    "tell anybody that a question waits, or wake the agent when it is answered (its own wait polls every 0.5 s)",
    "know a pending question again: the same call asks anew each time",
    "check who answers, unless an identity provider is added: here a name is handed in",
    "cross a network: agent, person and store share a process here",
]


class Ctrlrun:
    def __init__(self, agent, person):
        self.ran = Counter()
        self.person = person
        control = Control(Policy.from_yaml(POLICY, source="the benchmark"), agent)
        self.send = protect("mail.send", effect="mail:{message}", control=control)(self.act)

    def act(self, message: str) -> str:
        self.ran[message] += 1
        return message

    def ask(self, name):
        try:
            with context(agent="agent"):
                self.send(message=name)
        except ApprovalRequired as pending:
            return name, pending.request_id
        raise cycles.NotAnApproval(f"{name} was not held back")

    def approve(self, asked):
        _, request = asked
        granted = self.person.grant_approval(request, "human:person")
        cycles.expect(granted is not None, f"{request} was not granted")
        return request

    def resume(self, asked, yes):
        name, _ = asked
        with context(agent="agent"), with_approval(yes):
            cycles.expect(self.send(message=name) == name, f"{name} gave something else")


def check_that_it_waits_and_spends_once(peer):
    """No answer, another action and a spent answer are each refused."""
    asked = name, request = peer.ask("checked")
    refused(lambda: peer.resume(asked, request), "it ran without an answer")
    yes = peer.approve(asked)
    refused(lambda: peer.resume(("another", request), yes), "a yes to one action ran another")
    peer.resume(asked, yes)
    refused(lambda: peer.resume(asked, yes), "a spent yes was taken again")
    cycles.expect(peer.ran == {name: 1}, f"it ran as {dict(peer.ran)}")


def refused(call, otherwise):
    try:
        call()
    except ApprovalMismatch:
        return
    raise cycles.NotAnApproval(otherwise)


def main():
    chosen = cycles.arguments()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "state.db")
        agent, person = SQLiteStateStore(file), SQLiteStateStore(file)
        try:
            peer = Ctrlrun(agent, person)
            check_that_it_waits_and_spends_once(peer)
            about = {
                "peer": "ctrlrun",
                "version": version("ctrlrun"),
                # The store has no public way to ask how it syncs.
                "durable": cycles.durability(agent._connection()),
                "does_not_do": DOES_NOT_DO,
            }
            cycles.report(peer, chosen, about)
        finally:
            person.close()
            agent.close()


main()
