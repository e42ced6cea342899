"""A decision as the requesting agent sees it (`GET /v1/decisions/{id}`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["pending", "accepted", "rejected", "answered", "expired", "cancelled"]
ExecutionState = Literal["claimed", "committed", "failed", "released", "unknown"]


@dataclass(frozen=True)
class Allowance:
    """The permission that an approval gave."""

    state: Literal["open", "spent", "lapsed", "cancelled"]
    uses_left: int
    until: str


@dataclass(frozen=True)
class Execution:
    """One claimed use of an approval."""

    execution_id: str
    state: ExecutionState
    lease_until: str | None = None
    conflict: bool = False


@dataclass(frozen=True)
class Decision:
    decision_id: str
    kind: str
    state: State
    digest: str
    page: str
    reason: str | None = None
    response: Any = None
    proposal: Mapping[str, Any] | None = None
    deadline: str | None = None
    expired_as: str | None = None
    cancelled_for: str | None = None
    last_ran_at: str | None = None
    allowance: Allowance | None = None
    execution: Execution | None = None
    #: The document as received, with every member.
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Decision:
        """Reads a received document. `KeyError` and `TypeError` mean that it is none."""
        plain = ("reason", "response", "proposal", "deadline", "expired_as", "cancelled_for", "last_ran_at")
        allowance, execution = document.get("allowance"), document.get("execution")
        return cls(
            decision_id=document["decision_id"],
            kind=document["kind"],
            state=document["state"],
            digest=document["digest"],
            page=document["page"],
            allowance=allowance and Allowance(allowance["state"], allowance["uses_left"], allowance["until"]),
            execution=execution and _execution(execution),
            document=document,
            **{name: document.get(name) for name in plain},
        )

    @property
    def is_pending(self) -> bool:
        return self.state == "pending"

    @property
    def may_be_claimed(self) -> bool:
        """Whether an approval is open. Only a successful claim permits to act."""
        return self.allowance is not None and self.allowance.state == "open"


def _execution(document: Mapping[str, Any]) -> Execution:
    lease, conflict = document.get("lease_until"), bool(document.get("conflict"))
    return Execution(document["execution_id"], document["state"], lease, conflict)
