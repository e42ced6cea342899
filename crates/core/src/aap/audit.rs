//! Read access to the audit (AAP 17.4, C-61, C-62). An id selects entries; it is never a credential.

use crate::{
    people::Actor,
    records::{Delegation, Role, Session},
    refusal::Refusal,
};
use countersign_protocol::ids::RowKey;

/// The requested records, as far as they exist.
pub struct AuditView {
    pub project: RowKey,
    pub delegation_asked: bool,
    pub delegation: Option<Delegation>,
    pub session_asked: bool,
    /// Operators choose session ids, so several sessions may have the requested one.
    pub sessions: Vec<Session>,
    /// The delegations of those sessions.
    pub session_delegations: Vec<Delegation>,
}

/// The rows with readable entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Delegation(RowKey),
    Sessions(Vec<RowKey>),
}

pub fn select(actor: &Actor, view: &AuditView) -> Result<Selection, Refusal> {
    if !view.delegation_asked && !view.session_asked {
        return Err(Refusal::invalid("name a delegation_id or a session_id"));
    }
    let delegation = view.delegation_asked.then(|| visible_delegation(actor, view)).transpose()?;
    if !view.session_asked {
        return delegation.map(|d| Selection::Delegation(d.key)).ok_or(Refusal::DelegationNotFound);
    }
    let wanted = |session: &&Session| {
        visible_session(actor, view, session) && delegation.is_none_or(|d| session.delegation == Some(d.key))
    };
    let keys: Vec<RowKey> = view.sessions.iter().filter(wanted).map(|session| session.key).collect();
    if keys.is_empty() { Err(Refusal::SessionNotFound) } else { Ok(Selection::Sessions(keys)) }
}

fn visible_delegation<'v>(actor: &Actor, view: &'v AuditView) -> Result<&'v Delegation, Refusal> {
    let delegation = view.delegation.as_ref().filter(|d| d.project == view.project && may_read(actor, d));
    delegation.ok_or(Refusal::DelegationNotFound)
}

fn visible_session(actor: &Actor, view: &AuditView, session: &Session) -> bool {
    let delegation = view.session_delegations.iter().find(|d| Some(d.key) == session.delegation);
    let by_delegation = delegation.is_some_and(|d| may_read(actor, d));
    let own = match actor {
        Actor::Operator(domain) => *domain == session.operator,
        Actor::Agent(mine) => mine.key == session.key,
        Actor::Person(member) => member.has_role(Role::Admin) || member.has_role(Role::Auditor),
        Actor::AdminKey(key) => key.project == session.project,
        Actor::OtherKey => false,
    };
    session.project == view.project && (by_delegation || own)
}

pub(super) fn may_read(actor: &Actor, delegation: &Delegation) -> bool {
    match actor {
        Actor::Person(member) => {
            member.person.key == delegation.person || member.has_role(Role::Admin) || member.has_role(Role::Auditor)
        }
        Actor::AdminKey(key) => key.project == delegation.project,
        Actor::Operator(domain) => *domain == delegation.operator,
        Actor::Agent(session) => session.delegation == Some(delegation.key),
        Actor::OtherKey => false,
    }
}
