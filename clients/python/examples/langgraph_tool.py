"""LangGraph: a tool that runs only after a person has approved exactly its arguments, in place of `interrupt`.

The graph needs no checkpoint for it and no second invocation: the question is kept by the service, and a graph that is
run again after a crash goes on with the same one. A rejection reaches the model, with the person's reason.
"""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from countersign import Countersign, NotApproved


def graph(model: BaseChatModel, client: Countersign) -> Any:
    @tool
    @client.require_approval("mail.send", action="Send “{text}” to {to}", consequence="The letter is gone")
    def send_mail(to: str, text: str) -> str:
        """Sends a letter."""
        return f"sent “{text}” to {to}"

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def next_node(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    def told(why: NotApproved) -> str:
        return str(why)

    built = StateGraph(MessagesState)
    built.add_node("think", think)
    built.add_node("tools", ToolNode([send_mail], handle_tool_errors=told))
    built.add_edge(START, "think")
    built.add_conditional_edges("think", next_node, ["tools", END])
    built.add_edge("tools", "think")
    return built.compile()
