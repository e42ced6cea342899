"""LangGraph's interrupt and resume with its SQLite checkpointer, as an approval.

One node that asks and, once answered, acts: the cheapest of the usual ways (a node of its own for the action costs a
checkpoint more). Durability is the default: everything is on the disk when `invoke` returns.
"""

import os
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

import cycles
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

DOES_NOT_DO = [
    "let the first of two simultaneous answers win: two resumes at once can both run the action",
    "bind the yes to what was shown: the state may change before the resume, and the changed action runs",
    "make the yes durable before the action runs, or claim it once across a crash",
    "know who answered: whoever has the thread's id resumes it",
    "let a question expire",
    "tell anybody that a question waits, or wake the agent when it is answered",
    "keep an audit trail that shows tampering",
    "cross a network: agent, person and store share a process here",
]


class State(TypedDict):
    action: str
    approved: bool


class LangGraph:
    def __init__(self, saver, ran=None):
        self.ran = Counter() if ran is None else ran
        builder = StateGraph(State)
        builder.add_node("act", self.act)
        builder.add_edge(START, "act")
        builder.add_edge("act", END)
        self.graph = builder.compile(checkpointer=saver)

    def act(self, state):
        approved = interrupt({"action": state["action"]})
        if approved:
            self.ran[state["action"]] += 1
        return {"approved": approved}

    def ask(self, name):
        thread = {"configurable": {"thread_id": name}}
        told = self.graph.invoke({"action": name}, thread)
        cycles.expect("__interrupt__" in told, f"{name} was not interrupted")
        return thread

    def approve(self, asked):
        return Command(resume=True)

    def resume(self, asked, yes):
        told = self.graph.invoke(yes, asked)
        cycles.expect(told.get("approved") is True, f"{asked} did not end approved")


def check_that_it_waits_and_survives(peer, file):
    """Going on without an answer asks again, another connection finds the question, and a late answer runs nothing."""
    asked = peer.ask("checked")
    peer.graph.invoke(None, asked)
    cycles.expect(peer.ran["checked"] == 0, "it ran without an answer")
    with SqliteSaver.from_conn_string(file) as saver:
        again = LangGraph(saver, peer.ran)
        again.resume(asked, again.approve(asked))
    cycles.expect(peer.ran["checked"] == 1, "it did not run once after the answer")
    peer.graph.invoke(Command(resume=True), asked)
    cycles.expect(peer.ran["checked"] == 1, "a second answer ran it again")


def main():
    chosen = cycles.arguments()
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "checkpoints.db"))
        with SqliteSaver.from_conn_string(file) as saver:
            peer = LangGraph(saver)
            check_that_it_waits_and_survives(peer, file)
            about = {
                "peer": "langgraph",
                "version": f"{version('langgraph')} (checkpoint-sqlite {version('langgraph-checkpoint-sqlite')})",
                "durable": cycles.durability(saver.conn),
                "does_not_do": DOES_NOT_DO,
            }
            cycles.report(peer, chosen, about)


main()
