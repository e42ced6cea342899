"""Ask a person before an agent acts.

```python
from countersign import Countersign

client = Countersign.from_environment()

@client.require_approval("mail.send", action="Send {text} to {to}")
def send(to: str, text: str) -> None: ...
```
"""

from .action import action_digest, agent_action, http_action, tool_action
from .approval import Approval, AsyncApproval
from .canonical import NotCanonical, canonical
from .client import AsyncCountersign, Countersign
from .decision import Allowance, Decision, Execution
from .errors import (
    AccessEnded,
    AlreadyRan,
    ApprovalLapsed,
    BadAnswer,
    Cancelled,
    ConfirmationNeeded,
    Conflict,
    ConsentOver,
    CountersignError,
    Expired,
    InvalidRequest,
    KeyReused,
    NotApproved,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    OutcomeNotRecorded,
    OutcomeUnknown,
    ReconnectNeeded,
    Refused,
    Rejected,
    ServiceFailed,
    StillPending,
    TooManyRequests,
    Unreachable,
)
from .journal import FileJournal, Journal, KeyInUse, MemoryJournal
from .subscriber import AsyncSubscriber, Event, Question, Subscriber, SubscriptionRejected

__all__ = [
    "AccessEnded",
    "Allowance",
    "AlreadyRan",
    "Approval",
    "ApprovalLapsed",
    "AsyncApproval",
    "AsyncCountersign",
    "AsyncSubscriber",
    "BadAnswer",
    "Cancelled",
    "ConfirmationNeeded",
    "Conflict",
    "ConsentOver",
    "Countersign",
    "CountersignError",
    "Decision",
    "Event",
    "Execution",
    "Expired",
    "FileJournal",
    "InvalidRequest",
    "Journal",
    "KeyInUse",
    "KeyReused",
    "MemoryJournal",
    "NotApproved",
    "NotAuthenticated",
    "NotCanonical",
    "NotFound",
    "NotPermitted",
    "OutcomeNotRecorded",
    "OutcomeUnknown",
    "Question",
    "ReconnectNeeded",
    "Refused",
    "Rejected",
    "ServiceFailed",
    "StillPending",
    "Subscriber",
    "SubscriptionRejected",
    "TooManyRequests",
    "Unreachable",
    "action_digest",
    "agent_action",
    "canonical",
    "http_action",
    "tool_action",
]
__version__ = "0.1.0"
