"""Asking, waiting, claiming and reporting: the flows behind `Countersign` and `AsyncCountersign`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from ._steps import Backoff, Flow, Pause
from ._wire import Wire, patiently, pause_after, segment
from .decision import Decision
from .errors import (
    AlreadyRan,
    ApprovalLapsed,
    BadAnswer,
    Cancelled,
    Conflict,
    Expired,
    OutcomeUnknown,
    Rejected,
    ServiceFailed,
    StillPending,
    TooManyRequests,
    Unreachable,
)

#: The wait of one request. Below the service's limit of 55 s and the timeouts of many proxies.
POLL_SECONDS = 50
#: The extra time for the response to a long poll.
MARGIN_SECONDS = 8.0


def ask(wire: Wire, path: str, question: Mapping[str, Any], patience: float) -> Flow[Decision]:
    """Raises a question. The same one is never raised twice, so it may be sent again."""
    body = {name: value for name, value in question.items() if value is not None}
    try:
        return _read(path, (yield from patiently(lambda: wire.post(path, body), patience)))
    except Conflict as why:
        under_way = re.search(r"dec_[0-9a-f]{32}", why.description)
        if under_way and "progress" in why.description:
            raise OutcomeUnknown(under_way[0], "exactly this call was claimed before, and has no outcome yet") from why
        raise


def get(wire: Wire, decision_id: str, wait: int = 0) -> Flow[Decision]:
    path = _path(decision_id, f"?wait={wait}" if wait else "")
    return _read(path, (yield from wire.get(path, timeout=wait + MARGIN_SECONDS + 22)))


def wait(wire: Wire, decision_id: str, timeout: float | None) -> Flow[Decision]:
    """Waits by repeated long polls, over restarts of either side: the decision is a record at the service.

    `timeout` of None waits until the question is settled, at its deadline at the latest.
    """
    until = None if timeout is None else time.monotonic() + timeout
    backoff = Backoff()
    while True:
        left = POLL_SECONDS if until is None else until - time.monotonic()
        try:
            decision = yield from get(wire, decision_id, int(min(POLL_SECONDS, max(0, left))))
            if not decision.is_pending:
                return decision
            backoff.reset()
            pause = 0.05
        except (Unreachable, ServiceFailed, TooManyRequests) as why:
            pause = pause_after(why, backoff)
        if until is not None and time.monotonic() + pause >= until:
            raise StillPending(decision_id)
        yield Pause(pause)


def claim(wire: Wire, decision_id: str, call: Mapping[str, Any], patience: float) -> Flow[Decision]:
    """Claims an approval for exactly this call. Only after it returns may the call run, once.

    A claim whose response was lost is not sent again while the decision shows an execution: that may be this one.
    """
    until, backoff = time.monotonic() + patience, Backoff()
    path = _path(decision_id, "/claim")
    while True:
        try:
            return _read(path, (yield from wire.post(path, call)))
        except (Unreachable, ServiceFailed) as why:
            pause, lost = pause_after(why, backoff), why
        if time.monotonic() + pause > until:
            if isinstance(lost, Unreachable) and not lost.may_have_arrived:
                raise lost
            raise OutcomeUnknown(decision_id, "the response to the claim was lost") from lost
        yield Pause(pause)
        if isinstance(lost, ServiceFailed) or lost.may_have_arrived:
            decision = yield from patiently(lambda: get(wire, decision_id), patience)
            held = decision.execution is not None and decision.execution.state in ("claimed", "unknown")
            if held or not decision.may_be_claimed:
                raise OutcomeUnknown(decision_id, "the response to the claim was lost, and it is claimed") from lost


def report(
    wire: Wire, decision_id: str, status: str, execution_id: str | None, message: str | None, patience: float
) -> Flow[Decision]:
    """Reports an outcome. The same report again changes nothing, so it is repeated while the service is away."""
    path = _path(decision_id, "/outcome")
    members = {"status": status, "execution_id": execution_id, "error_message": message}
    body = {name: value for name, value in members.items() if value is not None}
    return _read(path, (yield from patiently(lambda: wire.post(path, body), patience)))


def withdraw(wire: Wire, decision_id: str, reason: str | None) -> Flow[Decision]:
    path = _path(decision_id, "/withdraw")
    return _read(path, (yield from wire.post(path, {"reason": reason} if reason else {})))


def require_approval(decision: Decision) -> None:
    """Returns if the approval can be claimed; otherwise the error says why not."""
    if decision.may_be_claimed:
        return
    execution = decision.execution
    if execution is not None and execution.state in ("claimed", "unknown"):
        raise OutcomeUnknown(decision.decision_id, f"its execution is {execution.state}")
    if execution is not None and execution.state in ("committed", "failed"):
        raise AlreadyRan(decision, execution.state)
    if decision.is_pending:
        raise StillPending(decision.decision_id)
    raise _not_approved(decision)


def require_answer(decision: Decision) -> Any:
    """The answer to a clarification request, also a default that applied in time."""
    if decision.state == "answered" or (decision.state == "expired" and decision.expired_as == "default_response"):
        return decision.response
    if decision.is_pending:
        raise StillPending(decision.decision_id)
    raise _not_approved(decision)


def _not_approved(decision: Decision) -> Rejected | Expired | Cancelled | ApprovalLapsed:
    if decision.state == "rejected":
        return Rejected(decision)
    if decision.state == "cancelled":
        return Cancelled(decision)
    if decision.state == "expired" and decision.expired_as != "accept":
        return Expired(decision)
    return ApprovalLapsed(decision)


def _path(decision_id: str, below: str = "") -> str:
    return f"/v1/decisions/{segment(decision_id)}{below}"


def _read(path: str, document: Any) -> Decision:
    try:
        return Decision.read(document)
    except (KeyError, TypeError) as why:
        raise BadAnswer(path) from why
