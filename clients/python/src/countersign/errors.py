"""Every way in which a request, an approval or an agent's access ends without a result.

Messages state the cause, then the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .decision import Decision


class CountersignError(Exception):
    """The base of all errors of this package."""


class Unreachable(CountersignError):
    """The service gave no response. `may_have_arrived` tells whether the request may have been processed."""

    def __init__(self, what: str, *, may_have_arrived: bool) -> None:
        super().__init__(f"the service could not be reached ({what}): try again later")
        self.may_have_arrived = may_have_arrived


class BadAnswer(CountersignError):
    """The response is not the document that it should be."""

    def __init__(self, where: str) -> None:
        super().__init__(f"the answer of {where} is not the document that it should be: report it to the service")


class StillPending(CountersignError):
    """Nobody has answered yet; the question stays pending at the service."""

    def __init__(self, decision_id: str) -> None:
        super().__init__(f"{decision_id} is still pending: wait for it again, the person is not asked twice")
        self.decision_id = decision_id


class KeyReused(CountersignError, ValueError):
    """An idempotency key stands for another call already."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the idempotency key {key!r} belongs to a call with other arguments: use another key")


# -- What a person, or the lack of one, decided --------------------------------------------------------------------


class NotApproved(CountersignError):
    """There is no approval, so nothing ran."""

    def __init__(self, why: str, decision: Decision) -> None:
        super().__init__(f"{why} ({decision.decision_id}): it did not run")
        self.decision = decision


class Rejected(NotApproved):
    """A person said no. `reason` has their words, `proposal` an alternative that needs a question of its own."""

    def __init__(self, decision: Decision) -> None:
        told = f": {decision.reason}" if decision.reason else ", without a reason"
        super().__init__(f"a person rejected it{told}", decision)
        self.reason = decision.reason
        self.proposal = decision.proposal


class Expired(NotApproved):
    """Nobody answered in time, which is not a rejection."""

    def __init__(self, decision: Decision) -> None:
        super().__init__("nobody answered in time", decision)


class Cancelled(NotApproved):
    """The question was withdrawn, or the access of its agent ended."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(f"the question was cancelled: {decision.cancelled_for or 'no reason was given'}", decision)


class ApprovalLapsed(NotApproved):
    """It was approved, and the approval was not claimed in time or was taken back."""

    def __init__(self, decision: Decision) -> None:
        super().__init__("the approval is over", decision)


class AlreadyRan(CountersignError):
    """The call of this approval or idempotency key is settled: `outcome` is `committed` or `failed`."""

    def __init__(self, decision: Decision, outcome: str) -> None:
        super().__init__(f"this call has run before ({decision.decision_id}, {outcome}): it is not repeated")
        self.decision = decision
        self.outcome = outcome


class OutcomeUnknown(CountersignError):
    """It may have run, or may be running. Never retry it: find out, or let a person reconcile the decision."""

    def __init__(self, decision_id: str | None, why: str) -> None:
        named = f" ({decision_id})" if decision_id else ""
        super().__init__(f"it may have run{named}: {why}; find out before anything is repeated")
        self.decision_id = decision_id


class OutcomeNotRecorded(CountersignError):
    """It ran, with `result` or `error`, and the service could not be told. The service will call it unknown."""

    def __init__(
        self, decision_id: str, status: str, *, result: Any = None, error: BaseException | None = None
    ) -> None:
        super().__init__(f"it {status}, and the service could not be told ({decision_id}): report the outcome later")
        self.decision_id = decision_id
        self.status = status
        self.result = result
        self.error = error


# -- Refusals of the service ---------------------------------------------------------------------------------------


class Refused(CountersignError):
    """A refusal, as the service worded it. Decide by `code`; `hint` is the next step."""

    def __init__(self, status: int, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        self.code = shown(envelope.get("error")) or "without a code"
        self.description = shown(envelope.get("error_description")) or "no reason was given"
        self.hint = shown(envelope.get("hint"))
        self.request_id = shown(envelope.get("request_id"))
        self.decision: Mapping[str, Any] | None = envelope.get("decision")
        self.call: Mapping[str, Any] | None = envelope.get("call")
        self.clarification: Mapping[str, Any] | None = envelope.get("clarification")
        self.scope_request: Mapping[str, Any] | None = envelope.get("scope_request")
        self.retry_after = _seconds(headers.get("retry-after"))
        #: Why a delegation ended (`X-Agent-Revoke-Reason`).
        self.revoke_reason = shown(headers.get("x-agent-revoke-reason"))
        #: Which limit is used up (`X-Agent-Limit-Reason`).
        self.limit_reason = shown(headers.get("x-agent-limit-reason"))
        hint = f"; {self.hint}" if self.hint else ""
        super().__init__(f"the service answered {status} {self.code}: {self.description}{hint}")

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later, without a change."""
        return self.status == 429 or self.status >= 500


class InvalidRequest(Refused):
    """400 and its kin: the request itself is wrong."""


class NotAuthenticated(Refused):
    """401: another credential may help."""


class NotPermitted(Refused):
    """403: no credential that the agent can get alone would help."""


class NotFound(Refused):
    """404: there is nothing there, or nothing that this caller may see."""


class Conflict(Refused):
    """409: another request was first, or the state has changed."""


class TooManyRequests(Refused):
    """429: wait for `retry_after` seconds."""


class ServiceFailed(Refused):
    """500 and above."""


class ConfirmationNeeded(NotPermitted):
    """A call at a gateway waits for a person: `decision_id`, and the `page` to answer on. Nothing was forwarded."""

    @property
    def decision_id(self) -> str | None:
        return (self.decision or {}).get("decision_id")

    @property
    def page(self) -> str | None:
        return (self.decision or {}).get("page")


class AccessEnded(NotAuthenticated):
    """The delegation was revoked or has ended by its policy. Tell the person, with `revoke_reason`; do not retry."""


class ReconnectNeeded(NotAuthenticated):
    """There is no delegation that holds: the person must connect the agent (again)."""


class ConsentOver(NotAuthenticated):
    """The consent to this task is missing or over: ask the person for a new receipt, and register with it."""


_ENDED = {"delegation_revoked", "auto_revoked"}
_RECONNECT = {"delegation_expired", "delegation_not_found", "delegation_invalid", "agent_auth_required"}
_CONSENT = {"consent_expired", "consent_invalid", "consent_missing"}
_BY_STATUS: dict[int, type[Refused]] = {
    401: NotAuthenticated,
    403: NotPermitted,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def refusal(status: int, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> Refused:
    """The error of a response with a status of 400 or above."""
    return _kind(status, str(envelope.get("error")), headers)(status, envelope, headers)


def _kind(status: int, code: str, headers: Mapping[str, str]) -> type[Refused]:
    if status == 401:
        # A withdrawn key of the operator is no act of a person: the next key repairs it.
        reason = headers.get("x-agent-revoke-reason")
        if code in _ENDED or (reason is not None and reason != "key_rotation"):
            return AccessEnded
        if code in _RECONNECT:
            return ReconnectNeeded
        if code in _CONSENT:
            return ConsentOver
    if code == "irreversible_requires_confirm":
        return ConfirmationNeeded
    return _BY_STATUS.get(status, ServiceFailed if status >= 500 else InvalidRequest)


def shown(text: Any) -> str | None:
    """A service's text, safe for display: one line, without control characters, limited in length."""
    if not isinstance(text, str):
        return None
    visible = "".join(c if c.isprintable() else " " for c in text[:1000]).strip()
    return visible or None


def _seconds(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
