//! Scopes beyond a consent receipt and within its delegation (AAP 12.3): the person approves them for one task, or the
//! project expands them without asking. The receipt stays as it was signed; the session has the scopes beside it.

mod approval;

pub use approval::{Widening, denied_until, document, has_approved, poll_path, question, same_request};
pub(crate) use approval::{record, widen};

use super::validity;
use crate::{
    env::Env,
    evidence::DraftEntry,
    records::{Delegation, Project, Receipt, Record, ScopeExpansion, Session, SessionState, Table},
    refusal::Refusal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    aap::access_summary::{ExpandedBy, ExpandedScope},
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::json;
use std::sync::Arc;

/// `scope_expansion` of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpansionMode {
    /// Every call beyond the receipt is refused.
    Reject,
    /// The person is asked.
    #[default]
    Notify,
    /// A call within the delegation passes, and the expansion is recorded.
    Silent,
}

impl ExpansionMode {
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Reject, Self::Notify, Self::Silent].into_iter().find(|mode| mode.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Notify => "notify",
            Self::Silent => "silent",
        }
    }

    /// A document is checked when it is applied. One with another value refuses.
    pub fn of(document: &ProjectDocument) -> Self {
        Self::parse(&document.scope_expansion).unwrap_or(Self::Reject)
    }

    /// Whether an expansion counts. A project that stops expanding silently no longer honours silent ones.
    pub fn honours(self, expansion: &ScopeExpansion) -> bool {
        match self {
            Self::Reject => false,
            Self::Notify => expansion.decision_id.is_some(),
            Self::Silent => true,
        }
    }
}

/// The end of a receipt or of its delegation, whichever is first.
pub fn ends_at(receipt: &Receipt, delegation: &Delegation) -> UnixMillis {
    validity::receipt_ends_at(receipt).min(delegation.policy_expires_at)
}

/// The scopes of a delegation's sessions beyond their receipts that count now.
pub fn in_force(
    document: &ProjectDocument,
    delegation: &Delegation,
    sessions: &[Session],
    now: UnixMillis,
) -> Vec<ExpandedScope> {
    let mode = ExpansionMode::of(document);
    let of_session = |session: &Session| -> Vec<ExpandedScope> {
        let open = session.state == SessionState::Open && session.delegation == Some(delegation.key);
        let receipt = session.receipt.as_ref().filter(|receipt| open && validity::check_receipt(receipt, now).is_ok());
        let Some(receipt) = receipt else { return Vec::new() };
        let counts =
            |expansion: &&ScopeExpansion| mode.honours(expansion) && delegation.scopes.contains(&expansion.scope);
        let shown = |expansion: &ScopeExpansion| ExpandedScope {
            session_id: session.session_id.clone(),
            scope: expansion.scope.clone(),
            by: if expansion.decision_id.is_some() { ExpandedBy::Approval } else { ExpandedBy::Silent },
            decision_id: expansion.decision_id.clone(),
            since: expansion.at,
            expires_at: ends_at(receipt, delegation),
        };
        session.expansions.iter().filter(counts).map(shown).collect()
    };
    sessions.iter().flat_map(of_session).collect()
}

/// Expands a session where the project does so without asking. Recorded before the first call that rests on it.
pub struct ExpandSilently {
    pub scope: String,
}

pub struct ExpandView {
    pub project: Arc<Project>,
    pub session: Session,
    pub delegation: Delegation,
}

impl Operation for ExpandSilently {
    type View = ExpandView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &ExpandView, env: &Env) -> Result<Step<()>, Refusal> {
        let ExpandView { project, session, delegation } = view;
        let held = session.expansions.iter().any(|expansion| expansion.scope == self.scope);
        let own = session.delegation == Some(delegation.key) && delegation.scopes.contains(&self.scope);
        let silent = ExpansionMode::of(&project.document) == ExpansionMode::Silent;
        // The call is decided again, and refused with its own reason.
        if held || !own || !silent || session.state != SessionState::Open || session.receipt.is_none() {
            return Ok(Step::answer(()));
        }
        let entry = DraftEntry::new((project.key, &project.id), "scope_expansion", env.now)
            .in_session(session.key, &session.session_id)
            .under_delegation(delegation.key, &delegation.id)
            .open("operator", delegation.operator.as_str())
            .open("outcome", "silent")
            .open("by", "service")
            .open("scopes", json!([self.scope]))
            .about(delegation);
        let effects = Effects {
            guards: vec![
                Guard { table: Table::Project, key: project.key, version: project.version },
                Guard { table: Table::Delegation, key: delegation.key, version: delegation.version },
            ],
            evidence: vec![entry.seal(&mut env.mint())?],
            puts: vec![Record::Session(expanded(session, [self.scope], None, env.now))],
            ..Effects::default()
        };
        Ok(Step { answer: (), effects })
    }
}

/// The session with further scopes. A person's approval replaces a silent expansion.
fn expanded(
    session: &Session,
    scopes: impl IntoIterator<Item = String>,
    decision_id: Option<&str>,
    at: UnixMillis,
) -> Session {
    let mut session = Session { version: session.version + 1, ..session.clone() };
    for scope in scopes {
        session.expansions.retain(|expansion| expansion.scope != scope);
        session.expansions.push(ScopeExpansion { scope, at, decision_id: decision_id.map(str::to_owned) });
    }
    session
}
