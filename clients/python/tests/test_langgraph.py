"""The example for LangGraph, with a scripted model and the real binary."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

from conftest import Stage, in_background
from countersign import Countersign

EXAMPLE = Path(__file__).resolve().parents[1] / "examples/langgraph_tool.py"


def example() -> Any:
    spec = importlib.util.spec_from_file_location("langgraph_tool", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answered(client: Countersign, text: str) -> list[Any]:
    """The messages of a model that calls the tool once, then stops."""
    call = {"name": "send_mail", "args": {"to": "acme", "text": text}, "id": "call-1"}
    model = FakeMessagesListChatModel(responses=[AIMessage("", tool_calls=[call]), AIMessage("done")])
    state = example().graph(model, client).invoke({"messages": [("user", "Answer them")]})
    return list(state["messages"])


def test_the_tool_of_a_graph_runs_after_an_approval_and_a_rejection_is_told_to_the_model(stage: Stage) -> None:
    client = Countersign(stage.origin, stage.key)
    running = in_background(answered, client, "We agree")
    stage.answers(stage.asked(), "approve")
    messages = running.result()
    assert [messages[2].content, messages[3].content] == ["sent “We agree” to acme", "done"]

    running = in_background(answered, client, "Never")
    stage.answers(stage.asked(), "reject", "--reason", "too short")
    messages = running.result()
    assert messages[2].content.startswith("a person rejected it: too short") and messages[2].status == "error"


def test_a_graph_that_is_run_again_after_a_crash_goes_on_with_the_same_question(stage: Stage) -> None:
    client, arguments = Countersign(stage.origin, stage.key), {"to": "acme", "text": "Once"}
    # All that a graph leaves behind that was killed while it waited.
    asked = client.ask("Send “Once” to acme", "The letter is gone", tool="mail.send", arguments=arguments)
    running = in_background(answered, client, "Once")
    stage.answers(asked.decision_id, "approve")
    assert running.result()[2].content == "sent “Once” to acme"
    assert not stage.questions()
