"""One approved run of a tool: asked, waited for, claimed, and its outcome reported. Durable with a journal."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from . import _decisions
from ._steps import Flow
from ._wire import Wire, patiently
from .canonical import canonical, digest
from .decision import Decision, Execution
from .errors import AlreadyRan, BadAnswer, Conflict, KeyReused, OutcomeNotRecorded, OutcomeUnknown, Refused, Unreachable
from .journal import Entry, Journal

#: Errors of a tool after which it may have taken effect all the same. Before Python 3.11 `asyncio` has its own timeout.
UNKNOWN_ON: tuple[type[BaseException], ...] = (
    TimeoutError,
    asyncio.TimeoutError,
    ConnectionError,
    httpx.TransportError,
    OutcomeUnknown,
)


@dataclass(frozen=True)
class Call:
    """The exact call that a person approves."""

    tool: str
    #: As JSON, detached from the values of the caller: this is what is approved and claimed.
    arguments: Mapping[str, Any]
    action: str
    consequence: str
    key: str | None = None
    #: Further members of the confirmation request, such as `timeout_seconds`.
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tool: str,
        arguments: Mapping[str, Any],
        action: str | Callable[..., str] | None = None,
        consequence: str | Callable[..., str] | None = None,
        key: str | Callable[..., str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Call:
        exact = json.loads(canonical(arguments))
        return cls(
            tool=tool,
            arguments=exact,
            action=_text(action, exact) or f"Run {tool}",
            consequence=_text(consequence, exact) or "It runs once, with exactly these arguments.",
            key=_text(key, exact),
            options=dict(options or {}),
        )

    def question(self) -> dict[str, Any]:
        about = {"action": self.action, "consequence": self.consequence, "idempotency_key": self.key}
        return {**about, **self.options, **self.claim()}

    def claim(self) -> dict[str, Any]:
        return {"tool": self.tool, "arguments": self.arguments}

    def digest(self) -> str:
        return digest(self.claim())


@dataclass
class Run:
    """A claimed run. It may take place, once."""

    call: Call
    decision: Decision
    execution: Execution
    entry: Entry
    #: What the tool returned, to be kept if its outcome cannot be recorded.
    result: Any = None


class BoundCall:
    """One call of a tool function: the arguments to approve, and the same to run."""

    def __init__(self, signature: inspect.Signature, args: Any, kwargs: Any, unbound: tuple[str, ...]) -> None:
        self._bound = signature.bind(*args, **kwargs)
        self._bound.apply_defaults()
        self.arguments: dict[str, Any] = {}
        for name, value in self._bound.arguments.items():
            if name in unbound:
                continue
            # The caller may change its objects while a person reads.
            own = self._bound.arguments[name] = copy.deepcopy(value)
            is_open = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            self.arguments.update(own if is_open else {name: own})

    def run(self, function: Callable[..., Any]) -> Any:
        return function(*self._bound.args, **self._bound.kwargs)


def obtain(wire: Wire, call: Call, journal: Journal, patience: float, timeout: float | None) -> Flow[Run]:
    """Everything before the tool may run."""
    entry = _entry_of(call, journal)
    if entry.decision_id is None:
        decision = yield from _decisions.ask(wire, "/v1/confirmations", call.question(), patience)
        entry.decision_id = decision.decision_id
        _save(journal, call, entry)
    else:
        known = entry.decision_id
        decision = yield from patiently(lambda: _decisions.get(wire, known), patience)
        yield from _check_earlier_run(wire, entry, decision, journal, call, patience)
    if decision.is_pending:
        decision = yield from _decisions.wait(wire, decision.decision_id, timeout)
    _decisions.require_approval(decision)
    entry.claiming = True
    _save(journal, call, entry)
    try:
        claimed = yield from _decisions.claim(wire, decision.decision_id, call.claim(), patience)
    except Conflict:
        # Another run of the same call was faster: the decision tells what became of it.
        known = decision.decision_id
        _decisions.require_approval((yield from patiently(lambda: _decisions.get(wire, known), patience)))
        raise
    if claimed.execution is None:
        raise BadAnswer("claim")
    entry.execution_id = claimed.execution.execution_id
    _save(journal, call, entry)
    return Run(call, claimed, claimed.execution, entry)


def settle(
    wire: Wire, run: Run, journal: Journal, status: str, error: BaseException | None, patience: float
) -> Flow[Decision]:
    """Reports the outcome, which the journal knows first."""
    run.entry.outcome = status
    _save(journal, run.call, run.entry)
    identifiers = (run.decision.decision_id, status, run.execution.execution_id)
    # Only the kind of an error: its text may contain what was meant for nobody.
    message = type(error).__name__ if error else None
    try:
        return (yield from _decisions.report(wire, *identifiers, message, patience))
    except (Unreachable, Refused) as why:
        raise OutcomeNotRecorded(run.decision.decision_id, status, result=run.result, error=error) from why


def renew(wire: Wire, run: Run) -> Flow[Decision]:
    """Reports that the tool is still running, so that its lease goes on."""
    identifiers = (run.decision.decision_id, "running", run.execution.execution_id)
    return (yield from _decisions.report(wire, *identifiers, None, 0))


def _check_earlier_run(
    wire: Wire, entry: Entry, decision: Decision, journal: Journal, call: Call, patience: float
) -> Flow[None]:
    """After a restart: a call that was or may have been begun is not begun again."""
    execution = decision.execution
    if entry.outcome is not None:
        if execution is not None and execution.state in ("claimed", "unknown"):
            report = (entry.outcome, entry.execution_id, None, patience)
            decision = yield from _decisions.report(wire, decision.decision_id, *report)
        raise AlreadyRan(decision, entry.outcome)
    if not entry.claiming:
        return
    settled = execution is None or execution.state in ("committed", "failed", "released")
    if entry.execution_id is None and settled and decision.may_be_claimed:
        return
    own = execution is not None and execution.execution_id == entry.execution_id
    if own and execution is not None and execution.state in ("committed", "failed"):
        entry.outcome = execution.state
        _save(journal, call, entry)
        raise AlreadyRan(decision, execution.state)
    raise OutcomeUnknown(decision.decision_id, "this agent was interrupted while it claimed or ran the call")


def _entry_of(call: Call, journal: Journal) -> Entry:
    known = journal.load(call.key) if call.key else None
    if known is not None and known.call != call.digest():
        raise KeyReused(call.key or "")
    return known or Entry(call.digest())


def _save(journal: Journal, call: Call, entry: Entry) -> None:
    if call.key:
        journal.save(call.key, entry)


def _text(text: str | Callable[..., str] | None, arguments: Mapping[str, Any]) -> str | None:
    """A text, a template with the arguments in braces, or a function of the arguments."""
    if text is None:
        return None
    return text(**arguments) if callable(text) else text.format_map(arguments)
