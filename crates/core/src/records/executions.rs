//! Allowance and execution: the permission to run, and each of its uses.

use super::{CancelledFor, Point, Raiser};
use crate::bounded::{AmountUse, Pattern, Tally};
use countersign_protocol::{hash::Digest, ids::RowKey, mplp::MplpId, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// A permission to run: a number of uses of one digest or of a pattern. An approval of one action is one use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allowance {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub decision: RowKey,
    pub raised_by: Raiser,
    pub point: Point,
    /// The one request that was shown; none for a step of a plan.
    pub digest: Option<Digest>,
    /// A standing approval: every argument as shown, except those released by name, each within its bound.
    #[serde(default)]
    pub pattern: Option<Pattern>,
    #[serde(flatten)]
    pub tally: Tally,
    pub until: UnixMillis,
    /// The policy in force when it was requested.
    #[serde(default)]
    pub rules: Option<Digest>,
    pub lease_s: i64,
    /// The approver; none if a default approved it.
    #[serde(default)]
    pub decided_by: Option<RowKey>,
    /// The step of a plan that it covers.
    #[serde(default)]
    pub step: Option<OfPlan>,
    pub state: AllowanceState,
    /// The call that is held under it until its undo window closes; the row keeps it afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<Box<QueuedCall>>,
}

/// An approved call in its undo window (AAP 14.1). Its bytes are the stored request of the decision; the members here are
/// what else its decision depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedCall {
    pub since: UnixMillis,
    /// It can be undone before, and is sent from then on.
    pub closes_at: UnixMillis,
    /// When a node tries to send it next.
    pub due: UnixMillis,
    pub decision_id: String,
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub intent_type: Option<String>,
    /// SHA-256 of `X-Agent-Consent`, if it was present.
    #[serde(default)]
    pub consent: Option<Digest>,
}

impl QueuedCall {
    /// Whether a node has begun an attempt to send it: each moves the next one later.
    pub fn was_begun(&self) -> bool {
        self.due > self.closes_at
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfPlan {
    pub plan: RowKey,
    pub step: MplpId,
    pub tool: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum AllowanceState {
    Open,
    Spent,
    Lapsed { at: UnixMillis },
    Cancelled { at: UnixMillis, why: CancelledFor },
}

/// One use of an allowance, durable before anything runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub decision: RowKey,
    pub allowance: RowKey,
    pub raised_by: Raiser,
    /// The enforcement point that claimed it and may report its outcome.
    pub point: Point,
    /// The digest of the executed call, possibly allowed by a pattern.
    pub digest: Digest,
    #[serde(default)]
    pub effect: Option<Digest>,
    /// Its share of the sums of its allowance.
    #[serde(default)]
    pub taken: Vec<AmountUse>,
    #[serde(default)]
    pub step: Option<OfPlan>,
    pub lease_s: i64,
    /// Grows with every claim of the same effect, or of the same digest where there is no effect: an upstream that has
    /// seen a higher one refuses this one.
    #[serde(default)]
    pub fence: i64,
    /// The lane of the node that claimed it.
    pub node: i64,
    pub claimed_at: UnixMillis,
    /// `call_…`: names the tool call in the session's events.
    pub call_id: String,
    pub state: ExecutionState,
    /// How its upstream is asked what nobody knows; none once it has ended, or where its route has no probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<ExecutionProbe>>,
    /// A later observation that contradicts a person's finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<OutcomeConflict>,
    /// Whether an [`UndoableCall`](super::UndoableCall) was begun with it.
    #[serde(default)]
    pub undoable: bool,
}

/// How the upstream of an execution is asked whether it was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionProbe {
    /// Path and query of the probe, sealed under the project's key: they may hold personal data.
    pub sealed: String,
    pub route: String,
    /// Of the route's probe and its upstream at the claim; under others it says nothing.
    pub rules: Digest,
    /// How long a call may be carried out after its connection was closed.
    pub settling_s: i64,
    /// How long the enforcement point waits for the answer to the call itself.
    pub answer_within_s: i64,
    /// Counters that "not done" gives one back to, with the end of each.
    #[serde(default)]
    pub gives_back: Vec<(String, UnixMillis)>,
    /// None while the outcome may still come by itself.
    #[serde(default)]
    pub progress: Option<ProbeProgress>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeProgress {
    /// When the connection of the call was closed at the latest.
    pub closed_at: UnixMillis,
    /// When the upstream is asked next or, during a try, when that counts as lost.
    pub due: UnixMillis,
    /// Tries before the end of the settling time, and from then on.
    pub early: u32,
    pub late: u32,
    /// Whether the last answer was a "not done" that may be believed.
    pub not_done: bool,
}

/// A later fact beside a reconciliation. Neither replaces the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeConflict {
    pub at: UnixMillis,
    /// Whether the enforcement point saw that it ran.
    pub ran: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ExecutionState {
    Claimed {
        lease_until: UnixMillis,
    },
    Committed {
        at: UnixMillis,
        by: Reporter,
    },
    Failed {
        at: UnixMillis,
        by: Reporter,
        why: Option<String>,
    },
    /// Forwarded, and the effect was not observed.
    Released {
        at: UnixMillis,
    },
    /// The lease expired: it is unknown whether it ran. A person must reconcile it.
    Unknown {
        since: UnixMillis,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Reporter {
    Claimant,
    /// The upstream, when it was asked by the route's probe.
    Probe,
    /// A person determined the outcome.
    Person {
        person: RowKey,
        reason: String,
    },
}

impl Allowance {
    pub fn is_open(&self) -> bool {
        self.state == AllowanceState::Open
    }

    /// The call in its undo window, or about to be sent.
    pub fn queued_call(&self) -> Option<&QueuedCall> {
        self.queued.as_deref().filter(|_| self.is_open())
    }

    /// Whether it is a standing approval, listed and matched against calls.
    pub fn is_bounded(&self) -> bool {
        self.pattern.is_some()
    }
}

impl Execution {
    /// The digest that its fence number counts for.
    pub fn fence_of(&self) -> Digest {
        self.effect.unwrap_or(self.digest)
    }

    /// Whether the same digest must wait for this execution.
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, ExecutionState::Claimed { .. } | ExecutionState::Unknown { .. })
    }

    /// When its outcome was recorded; none while it is claimed or unknown.
    pub fn ended_at(&self) -> Option<UnixMillis> {
        let outcome = match self.state {
            ExecutionState::Claimed { .. } | ExecutionState::Unknown { .. } => return None,
            ExecutionState::Committed { at, .. } | ExecutionState::Failed { at, .. } => at,
            ExecutionState::Released { at } => at,
        };
        Some(self.conflict.as_ref().map_or(outcome, |conflict| outcome.max(conflict.at)))
    }

    /// When the claim expires unless renewed; none once it has ended.
    pub fn lease_until(&self) -> Option<UnixMillis> {
        match self.state {
            ExecutionState::Claimed { lease_until } => Some(lease_until),
            _ => None,
        }
    }

    /// When its upstream is asked next whether it was carried out.
    pub fn probe_due(&self) -> Option<UnixMillis> {
        self.probe.as_ref()?.progress.as_ref().map(|progress| progress.due)
    }
}

impl Reporter {
    /// As the evidence says it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Claimant => "claimant",
            Self::Probe => "probe",
            Self::Person { .. } => "person",
        }
    }
}
