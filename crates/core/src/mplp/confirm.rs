//! A Confirm is a view of a decision: rendered from its row on request, and never stored (MPLP 2, 3).

use super::{
    PRODUCER, derived, members,
    roles::{Asking, NO_ROLE, requested_by},
    trace::{span_id, trace_id},
};
use crate::{
    decision::cancel::cancelled_for,
    records::{Ballot, CancelledFor, Decision, DecisionState, Question, Raiser},
};
use countersign_protocol::{
    hash::Digest,
    mplp::{BaseEvent, Confirm, ConfirmDecision, ConfirmStatus, DecisionStatus, Meta, MplpId, TargetType, TraceBase},
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

/// The decider of an expired decision (M-25).
pub const SYSTEM_TIMEOUT: &str = "system:timeout";
/// The record distinguishes expired from rejected (M-25).
pub const EXPIRED: &str = "expired";
/// A stored rejection has a reason, even if the person gave none (MPLP 2.4).
pub const NO_REASON: &str = "rejected without a reason";

/// Renders a decision as a Confirm.
pub fn document(decision: &Decision, project: &ProjectDocument) -> Confirm {
    let verdict = verdict(decision, project);
    let (target_type, target_id) = target(decision);
    let trace = trace(decision);
    Confirm {
        meta: meta(decision, verdict.as_ref()),
        confirm_id: confirm_id(decision),
        target_type,
        target_id,
        status: verdict.as_ref().map_or(ConfirmStatus::Pending, |verdict| verdict.status.into()),
        requested_by_role: requester(decision, project),
        requested_at: decision.asked_at,
        reason: Some(reason(decision)),
        decisions: verdict.iter().map(|verdict| verdict.record(decision)).collect(),
        events: events(decision, verdict.as_ref(), &trace),
        trace: Some(trace),
        governance: decision.governance.clone(),
    }
}

/// The 32 digits of the decision's id in UUID form. An id that is no UUID of version 4 is hashed into one.
pub fn confirm_id(decision: &Decision) -> MplpId {
    confirm_id_of(&decision.id)
}

pub fn confirm_id_of(decision_id: &str) -> MplpId {
    let digits = decision_id.strip_prefix("dec_").and_then(MplpId::from_simple);
    digits.unwrap_or_else(|| MplpId::of_hash(&Digest::of(decision_id.as_bytes())))
}

/// The decision that a Confirm is a view of.
pub fn decision_id(confirm_id: &MplpId) -> String {
    format!("dec_{}", confirm_id.simple())
}

/// A clarification has an answer, not an approval.
pub fn is_confirm(decision: &Decision) -> bool {
    matches!(decision.question, Question::Confirmation(_))
}

/// The target of the approval: an object with its own id, or the single action of the confirmation request (M-17).
pub fn target(decision: &Decision) -> (TargetType, MplpId) {
    match &decision.target {
        Some(target) => (target.target_type, target.target_id.clone()),
        None => (TargetType::Other, confirm_id(decision)),
    }
}

/// The result of a decision. All documents about it use the same timestamp (M-24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmVerdict {
    pub status: DecisionStatus,
    pub decided_by_role: String,
    pub at: UnixMillis,
    pub reason: Option<String>,
    /// Decided in spite of a lock (M-27).
    pub by_override: bool,
}

/// None while pending. An expired decision is cancelled, even if its default was applied: nobody approved it (M-25).
pub fn verdict(decision: &Decision, project: &ProjectDocument) -> Option<ConfirmVerdict> {
    match &decision.state {
        // A text answer approves nothing.
        DecisionState::Pending { .. } | DecisionState::Answered { .. } => None,
        DecisionState::Accepted { by, rationale } => {
            Some(ConfirmVerdict::of_person(DecisionStatus::Approved, by, non_blank(rationale), decision))
        }
        DecisionState::Rejected { by, rationale, .. } => {
            let reason = non_blank(rationale).unwrap_or_else(|| NO_REASON.into());
            Some(ConfirmVerdict::of_person(DecisionStatus::Rejected, by, Some(reason), decision))
        }
        DecisionState::Expired { at, .. } => {
            Some(ConfirmVerdict::without_person(SYSTEM_TIMEOUT, *at, Some(EXPIRED.into())))
        }
        DecisionState::Cancelled { by: Some(by), reason, .. } => {
            Some(ConfirmVerdict::of_person(DecisionStatus::Cancelled, by, non_blank(reason), decision))
        }
        DecisionState::Cancelled { at, why: CancelledFor::Withdrawn, by: None, reason } => {
            Some(ConfirmVerdict::without_person(requester(decision, project), *at, non_blank(reason)))
        }
        DecisionState::Cancelled { at, why, by: None, reason } => {
            let reason = non_blank(reason).unwrap_or_else(|| cancelled_for(*why).into());
            Some(ConfirmVerdict::without_person(cancelled_by(cancelled_for(*why)), *at, Some(reason)))
        }
    }
}

/// The decider of a cancellation by neither a person nor an agent.
pub(super) fn cancelled_by(cancelled_for: &str) -> String {
    format!("system:{cancelled_for}")
}

impl ConfirmVerdict {
    fn of_person(status: DecisionStatus, by: &Ballot, reason: Option<String>, decision: &Decision) -> Self {
        let decided_by_role = by.role.clone().unwrap_or_else(|| NO_ROLE.into());
        let by_override = by.by_override && decision.is_locked();
        Self { status, decided_by_role, at: by.at, reason, by_override }
    }

    /// Without a decision by an entitled person, the only possible status is cancelled.
    fn without_person(role: impl Into<String>, at: UnixMillis, reason: Option<String>) -> Self {
        Self { status: DecisionStatus::Cancelled, decided_by_role: role.into(), at, reason, by_override: false }
    }

    fn record(&self, decision: &Decision) -> ConfirmDecision {
        ConfirmDecision {
            decision_id: record_id(&confirm_id(decision)),
            status: self.status,
            decided_by_role: self.decided_by_role.clone(),
            decided_at: self.at,
            reason: self.reason.clone(),
        }
    }

    fn event_type(&self) -> &'static str {
        match self.status {
            DecisionStatus::Approved => "confirm.approved",
            DecisionStatus::Rejected => "confirm.rejected",
            DecisionStatus::Cancelled => "confirm.cancelled",
        }
    }
}

/// The id of the single entry in `decisions`.
pub(super) fn record_id(confirm_id: &MplpId) -> MplpId {
    derived("decision", &[confirm_id.as_str()])
}

/// The requesting role: as stored with the target, else the agent's own (M-06).
fn requester(decision: &Decision, project: &ProjectDocument) -> String {
    match &decision.target {
        Some(target) => target.requested_by_role.clone(),
        None => requested_by(project, &requesting_agent(&decision.raised_by), None).unwrap_or_else(|_| NO_ROLE.into()),
    }
}

fn requesting_agent(raiser: &Raiser) -> Asking<'_> {
    let principal = raiser.principal.as_str();
    let key_principal = raiser.api_key.map(|_| principal);
    Asking { principal, operator: raiser.operator.as_ref().map(|domain| domain.as_str()), key_principal }
}

fn reason(decision: &Decision) -> String {
    let given = decision.target.as_ref().and_then(|target| non_blank(&target.reason));
    given.unwrap_or_else(|| match &decision.question {
        Question::Confirmation(asked) => format!("approval is needed: {}", asked.action),
        Question::Clarification(asked) => format!("an answer is needed: {}", asked.question),
    })
}

/// Drops a blank text.
fn non_blank(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.trim().is_empty())
}

fn meta(decision: &Decision, verdict: Option<&ConfirmVerdict>) -> Meta {
    let meta = Meta::ours(decision.asked_at, PRODUCER);
    match verdict {
        Some(verdict) => meta.updated(verdict.at, PRODUCER),
        None => meta,
    }
}

/// The requester's own trace, or a span in the trace of the target.
fn trace(decision: &Decision) -> TraceBase {
    if let Some(given) = decision.target.as_ref().and_then(|target| target.trace.clone()) {
        return given;
    }
    let own = confirm_id(decision);
    let (target_type, target_id) = target(decision);
    let (whole, parent) = match target_type {
        TargetType::Plan => (trace_id(&target_id), Some(span_id(&target_id))),
        _ => (trace_id(&own), None),
    };
    TraceBase { trace_id: whole, span_id: span_id(&own), parent_span_id: parent, context_id: None, attributes: None }
}

/// The events so far, with the same timestamps as the record (M-24).
fn events(decision: &Decision, verdict: Option<&ConfirmVerdict>, trace: &TraceBase) -> Vec<BaseEvent> {
    let own = confirm_id(decision);
    let event = |event_type: &str, timestamp, data| BaseEvent {
        event_id: derived("event", &[own.as_str(), event_type]),
        event_type: event_type.to_owned(),
        source: PRODUCER.into(),
        timestamp,
        trace_id: Some(trace.trace_id.clone()),
        data: Some(data),
    };
    let (target_type, target_id) = target(decision);
    let asked =
        members([("confirm_id", json!(own)), ("target_type", json!(target_type)), ("target_id", json!(target_id))]);
    let requested = event("confirm.requested", decision.asked_at, asked);
    let settled = verdict.map(|verdict| event(verdict.event_type(), verdict.at, event_data(&own, verdict)));
    std::iter::once(requested).chain(settled).collect()
}

fn event_data(own: &MplpId, verdict: &ConfirmVerdict) -> Map<String, Value> {
    let mut data = members([
        ("confirm_id", json!(own)),
        ("decision_id", json!(record_id(own))),
        ("decided_by_role", json!(verdict.decided_by_role)),
    ]);
    if let Some(reason) = &verdict.reason {
        data.insert("reason".into(), json!(reason));
    }
    if verdict.by_override {
        data.insert("override".into(), json!(true));
    }
    data
}
