//! The decision document of the requesting agent (`/v1`).

use super::settle::permits_execution;
use crate::records::{
    AaepSession, Allowance, AllowanceState, Ballot, Decision, DecisionState, Defaulted, Execution, ExecutionState,
    Question, UndoableCall,
};
use countersign_protocol::{
    decisions::{
        AllowanceDocument, CancelledFor, ClaimStatus, DecisionDocument, DecisionKind, ExecutionDocument, ExpiredAs,
        State, UndoDocument, UndoState,
    },
    mplp::AllowanceStatus,
};
use serde_json::Value;

/// The records behind a decision document.
#[derive(Clone, Debug)]
pub struct Whole {
    pub decision: Decision,
    pub session: AaepSession,
    pub allowance: Option<Allowance>,
    pub execution: Option<Execution>,
    /// The last call that its upstream can undo, or could.
    pub undoable: Option<UndoableCall>,
}

impl Whole {
    /// Whether the agent can stop polling.
    pub fn is_settled(&self) -> bool {
        !self.decision.is_pending()
    }

    pub fn document(&self, page: String) -> DecisionDocument {
        let decision = &self.decision;
        let mut document = DecisionDocument {
            decision_id: decision.id.clone(),
            kind: match decision.question {
                Question::Confirmation(_) if decision.expansion.is_some() => DecisionKind::ScopeExpansion,
                Question::Confirmation(_) => DecisionKind::Confirmation,
                Question::Clarification(_) => DecisionKind::Clarification,
            },
            state: state(decision),
            session_id: self.session.id.clone(),
            digest: decision.digest.hex(),
            risk_level: decision.terms.risk,
            irreversible: decision.terms.irreversible,
            asked_at: decision.asked_at,
            deadline: None,
            settled_at: None,
            assurance: None,
            reason: None,
            proposal: None,
            response: None,
            plan_id: decision.target.as_ref().filter(|target| target.plan.is_some()).map(|it| it.target_id.clone()),
            expired_as: None,
            cancelled_for: None,
            allowance: self.allowance.as_ref().filter(|_| permits_execution(decision)).map(allowance),
            execution: self.execution.as_ref().map(execution),
            last_ran_at: decision.last_ran_at,
            page,
            confirm_token: None,
            redeem: None,
            undo: self
                .undoable
                .as_ref()
                .and_then(UndoableCall::window)
                .or_else(|| self.allowance.as_ref().and_then(undo)),
        };
        settle(&decision.state, &mut document);
        document
    }
}

fn settle(state: &DecisionState, document: &mut DecisionDocument) {
    match state {
        DecisionState::Pending { deadline, .. } => document.deadline = Some(*deadline),
        DecisionState::Accepted { by, rationale } => {
            decided(by, document);
            document.reason.clone_from(rationale);
        }
        DecisionState::Rejected { by, rationale, proposal } => {
            decided(by, document);
            document.reason.clone_from(rationale);
            document.proposal.clone_from(proposal);
        }
        DecisionState::Answered { by, response, .. } => {
            decided(by, document);
            document.response = Some(response.clone());
        }
        DecisionState::Expired { at, as_if } => {
            document.settled_at = Some(*at);
            let (expired_as, response) = match as_if {
                Defaulted::Accept => (ExpiredAs::Accept, None),
                Defaulted::Reject => (ExpiredAs::Reject, None),
                Defaulted::Response { response } => (ExpiredAs::DefaultResponse, Some(response.clone())),
                Defaulted::Unavailable => (ExpiredAs::Unavailable, None),
            };
            document.expired_as = Some(expired_as);
            document.response = response.map(Value::String);
        }
        DecisionState::Cancelled { at, why, reason, .. } => {
            document.reason.clone_from(reason);
            document.settled_at = Some(*at);
            document.cancelled_for = Some(*why);
        }
    }
}

fn decided(by: &Ballot, document: &mut DecisionDocument) {
    document.settled_at = Some(by.at);
    document.assurance = Some(by.assurance);
}

fn state(decision: &Decision) -> State {
    match decision.state {
        DecisionState::Pending { .. } => State::Pending,
        DecisionState::Accepted { .. } => State::Accepted,
        DecisionState::Rejected { .. } => State::Rejected,
        DecisionState::Answered { .. } => State::Answered,
        DecisionState::Expired { .. } => State::Expired,
        DecisionState::Cancelled { .. } => State::Cancelled,
    }
}

fn allowance(allowance: &Allowance) -> AllowanceDocument {
    let state = match allowance.state {
        AllowanceState::Open => AllowanceStatus::Open,
        AllowanceState::Spent => AllowanceStatus::Spent,
        AllowanceState::Lapsed { .. } => AllowanceStatus::Lapsed,
        AllowanceState::Cancelled { .. } => AllowanceStatus::Cancelled,
    };
    AllowanceDocument { state, uses_left: allowance.tally.uses - allowance.tally.used, until: allowance.until }
}

/// The undo window of a held call; its URL is the engine's to add.
fn undo(allowance: &Allowance) -> Option<UndoDocument> {
    let queued = allowance.queued.as_ref()?;
    let state = match allowance.state {
        AllowanceState::Open => UndoState::Open,
        AllowanceState::Spent => UndoState::Closed,
        AllowanceState::Cancelled { why: CancelledFor::Undone, .. } => UndoState::Undone,
        AllowanceState::Lapsed { .. } | AllowanceState::Cancelled { .. } => UndoState::NotSent,
    };
    Some(UndoDocument { state, undo_url: None, expires_at: queued.closes_at })
}

fn execution(execution: &Execution) -> ExecutionDocument {
    let (state, lease_until) = match execution.state {
        ExecutionState::Claimed { lease_until } => (ClaimStatus::Claimed, Some(lease_until)),
        ExecutionState::Committed { .. } => (ClaimStatus::Committed, None),
        ExecutionState::Failed { .. } => (ClaimStatus::Failed, None),
        ExecutionState::Released { .. } => (ClaimStatus::Released, None),
        ExecutionState::Unknown { .. } => (ClaimStatus::Unknown, None),
    };
    let conflict = execution.conflict.is_some();
    ExecutionDocument { execution_id: execution.id.clone(), state, lease_until, conflict }
}
