//! Which entries a bundle has.

use crate::{
    services::Evidence,
    store::{AuditBy, AuditQuery, AuditRow, DecisionById, DelegationById, ExecutionById, SessionsBySessionId},
};
use countersign_core::{
    records::{Decision, Execution, Question},
    refusal::Refusal,
};
use countersign_evidence::bundle::{MAX_LEAVES, Subject, SubjectKind};
use countersign_protocol::ids::RowKey;
use serde_json::{Map, Value};

/// Entries of one read.
const AT_ONCE: usize = 500;

/// Entries about the delegation itself, which every call under it rests on.
const OF_DELEGATION: [&str; 5] =
    ["delegation_granted", "delegation_revoked", "delegation_suspended", "delegation_lifted", "auto_revoked"];
/// Entries about the session itself.
const OF_SESSION: [&str; 6] = [
    "session_started",
    "session_mode_added",
    "session_key_added",
    "session_reopened",
    "session_cancelled",
    "task_completed",
];

pub(super) struct Scope {
    by: AuditBy,
    /// Of a decision or an execution; otherwise all entries are wanted.
    pub(super) decision: Option<Decision>,
}

impl Evidence<'_> {
    pub(super) async fn bundle_scope(self, project: RowKey, subject: &Subject) -> Result<Scope, Refusal> {
        let unknown = || Refusal::NotFound(format!("no {} has this id", subject.kind.as_str()));
        let id = subject.id.clone();
        match subject.kind {
            SubjectKind::Decision => {
                let found = self.find_one(DecisionById { project, id }).await?;
                Scope::of_decision(found.ok_or_else(unknown)?)
            }
            SubjectKind::Execution => {
                let found: Execution = self.find_one(ExecutionById { project, id }).await?.ok_or_else(unknown)?;
                Scope::of_decision(self.get::<Decision>(found.decision).await?.ok_or_else(unknown)?)
            }
            SubjectKind::Delegation => {
                let found = self.find_one(DelegationById { project, id }).await?.ok_or_else(unknown)?;
                Ok(Scope { by: AuditBy::Delegation(vec![found.key]), decision: None })
            }
            SubjectKind::Session => {
                let found = self.find_all(SessionsBySessionId { project, session_id: id }).await?;
                let keys: Vec<RowKey> = found.iter().map(|session| session.key).collect();
                if keys.is_empty() { Err(unknown()) } else { Ok(Scope { by: AuditBy::Session(keys), decision: None }) }
            }
        }
    }

    /// The entries under the scope, all pages of them.
    pub(super) async fn bundle_rows(self, project: RowKey, scope: &Scope) -> Result<Vec<AuditRow>, Refusal> {
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let by = scope.by.clone();
            let query = AuditQuery { project, by, from: None, to: None, event_type: None, after, limit: AT_ONCE };
            let page = self.store.audit(query).await?;
            after = page.rows.last().map(|row| row.place);
            rows.extend(page.rows.into_iter().filter(|row| scope.has(row)));
            if rows.len() > MAX_LEAVES {
                return Err(Refusal::invalid(format!(
                    "it has more than {MAX_LEAVES} entries: export its decisions one by one"
                )));
            }
            if !page.more {
                return Ok(rows);
            }
        }
    }
}

impl Scope {
    fn of_decision(decision: Decision) -> Result<Self, Refusal> {
        let delegation = decision.raised_by.delegation;
        let delegation = delegation.ok_or_else(|| {
            Refusal::invalid("this decision was raised with an API key: its entries are under no delegation, and cannot be exported yet")
        })?;
        Ok(Self { by: AuditBy::Delegation(vec![delegation]), decision: Some(decision) })
    }

    fn has(&self, row: &AuditRow) -> bool {
        let Some(decision) = &self.decision else { return true };
        if OF_DELEGATION.contains(&row.event_type.as_str()) {
            return true;
        }
        if OF_SESSION.contains(&row.event_type.as_str()) {
            return row.session == decision.raised_by.session;
        }
        row.stored().open_members().is_ok_and(|members| is_about(decision, &members))
    }
}

fn is_about(decision: &Decision, members: &Map<String, Value>) -> bool {
    let is = |name: &str, id: &str| members.get(name).and_then(Value::as_str) == Some(id);
    let clarified = match &decision.question {
        Question::Confirmation(asked) => asked.facts.clarification.as_ref().map(|facts| facts.session_id.as_str()),
        Question::Clarification(_) => None,
    };
    let plan = decision.target.as_ref().map(|target| target.target_id.as_str());
    is("decision_id", &decision.id)
        || clarified.is_some_and(|id| is("clarification_session_id", id))
        || plan.is_some_and(|id| is("plan_id", id))
}
