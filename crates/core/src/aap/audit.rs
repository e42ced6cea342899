//! Read access to the audit (AAP 17.4, C-61, C-62). An id selects entries; it is never a credential.

use crate::{
    people::Actor,
    records::{Delegation, Mode, Role, Session},
    refusal::Refusal,
};
use countersign_protocol::ids::RowKey;

/// The requested records, as far as they exist.
pub struct AuditView {
    pub project: RowKey,
    pub delegation_asked: bool,
    pub delegation: Option<Delegation>,
    pub account_asked: bool,
    /// The grants of the requested service account.
    pub accounts: Vec<Delegation>,
    pub session_asked: bool,
    /// Operators choose session ids, so several sessions may have the requested one.
    pub sessions: Vec<Session>,
    /// The delegations of those sessions.
    pub session_delegations: Vec<Delegation>,
}

/// The rows with readable entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Delegations(Vec<RowKey>),
    Sessions(Vec<RowKey>),
}

pub fn select(actor: &Actor, view: &AuditView) -> Result<Selection, Refusal> {
    if !view.delegation_asked && !view.session_asked && !view.account_asked {
        return Err(Refusal::invalid("name a delegation_id, a session_id or an account_id"));
    }
    let mut named: Vec<RowKey> = Vec::new();
    if view.delegation_asked {
        named.push(visible_delegation(actor, view)?.key);
    }
    if view.account_asked {
        let readable = view.accounts.iter().filter(|d| d.project == view.project && may_read(actor, d));
        let readable: Vec<RowKey> = readable.map(|d| d.key).collect();
        named = if view.delegation_asked {
            named.into_iter().filter(|key| readable.contains(key)).collect()
        } else {
            readable
        };
    }
    if (view.delegation_asked || view.account_asked) && named.is_empty() {
        return Err(Refusal::DelegationNotFound);
    }
    if !view.session_asked {
        return Ok(Selection::Delegations(named));
    }
    let of_named = |session: &Session| {
        named.is_empty()
            || [Mode::UserDelegated, Mode::ServiceAccount]
                .into_iter()
                .any(|mode| session.delegation_in(mode).is_some_and(|key| named.contains(&key)))
    };
    let wanted = |session: &&Session| visible_session(actor, view, session) && of_named(session);
    let keys: Vec<RowKey> = view.sessions.iter().filter(wanted).map(|session| session.key).collect();
    if keys.is_empty() { Err(Refusal::SessionNotFound) } else { Ok(Selection::Sessions(keys)) }
}

fn visible_delegation<'v>(actor: &Actor, view: &'v AuditView) -> Result<&'v Delegation, Refusal> {
    let delegation = view.delegation.as_ref().filter(|d| d.project == view.project && may_read(actor, d));
    delegation.ok_or(Refusal::DelegationNotFound)
}

fn visible_session(actor: &Actor, view: &AuditView, session: &Session) -> bool {
    // Each mode of a session has its own; a person who may read only one of them reads no mixed session.
    let own = |mode| session.delegation_in(mode);
    let of = |key: RowKey| view.session_delegations.iter().find(|d| d.key == key);
    let both = own(Mode::UserDelegated).into_iter().chain(own(Mode::ServiceAccount));
    let mut delegations = both.map(of).peekable();
    let by_delegation = delegations.peek().is_some() && delegations.all(|d| d.is_some_and(|d| may_read(actor, d)));
    let own = match actor {
        Actor::Operator(domain) => *domain == session.operator,
        Actor::Agent(mine) => mine.key == session.key,
        Actor::Person(member) => member.has_role(Role::Admin) || member.has_role(Role::Auditor),
        Actor::AdminKey(key) => key.project == session.project,
        Actor::Service => true,
        Actor::OtherKey => false,
    };
    session.project == view.project && (by_delegation || own)
}

pub(super) fn may_read(actor: &Actor, delegation: &Delegation) -> bool {
    match actor {
        Actor::Person(member) => {
            (member.person.key == delegation.person && delegation.service_account.is_none())
                || member.has_role(Role::Admin)
                || member.has_role(Role::Auditor)
        }
        Actor::AdminKey(key) => key.project == delegation.project,
        Actor::Operator(domain) => *domain == delegation.operator,
        Actor::Agent(session) => session.delegation == Some(delegation.key),
        Actor::Service => true,
        Actor::OtherKey => false,
    }
}
