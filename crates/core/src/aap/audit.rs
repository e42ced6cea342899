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
    pub account_asked: bool,
    /// The grants of the requested service account.
    pub accounts: Vec<Delegation>,
    pub session_asked: bool,
    /// Operators choose session ids, so several sessions may have the requested one.
    pub sessions: Vec<Session>,
    /// The delegations of those sessions, also of modes that left them.
    pub session_delegations: Vec<Delegation>,
}

/// The rows with readable entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Delegations(Vec<RowKey>),
    Sessions(Vec<RowKey>),
    /// The entries of sessions that are under these delegations. `None`: under no delegation.
    SessionsUnder {
        sessions: Vec<RowKey>,
        delegations: Vec<Option<RowKey>>,
    },
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
    of_sessions(actor, view, &named)
}

/// The entries of the requested sessions: under the named delegations, or else everything that the actor may read.
fn of_sessions(actor: &Actor, view: &AuditView, named: &[RowKey]) -> Result<Selection, Refusal> {
    let of_named = |session: &Session| named.is_empty() || session.delegations_ever().any(|key| named.contains(&key));
    let here = view.sessions.iter().filter(|session| session.project == view.project && of_named(session));
    let (whole, partly): (Vec<&Session>, Vec<&Session>) = here.partition(|session| reads_whole(actor, session));
    let whole = whole.into_iter().map(|session| session.key);
    if named.is_empty() && whole.len() > 0 {
        return Ok(Selection::Sessions(whole.collect()));
    }
    let parts = partly.into_iter().map(|session| (session.key, own_part(actor, view, session)));
    let (part, own): (Vec<RowKey>, Vec<_>) = parts.filter(|(_, own)| !own.is_empty()).unzip();
    let sessions: Vec<RowKey> = whole.chain(part).collect();
    if sessions.is_empty() {
        return Err(Refusal::SessionNotFound);
    }
    let named = named.iter().copied().map(Some);
    let delegations = if named.len() > 0 { named.collect() } else { own.concat() };
    Ok(Selection::SessionsUnder { sessions, delegations })
}

fn visible_delegation<'v>(actor: &Actor, view: &'v AuditView) -> Result<&'v Delegation, Refusal> {
    let delegation = view.delegation.as_ref().filter(|d| d.project == view.project && may_read(actor, d));
    delegation.ok_or(Refusal::DelegationNotFound)
}

/// Whether the actor reads both modes of a session.
fn reads_whole(actor: &Actor, session: &Session) -> bool {
    match actor {
        Actor::Operator(domain) => *domain == session.operator,
        Actor::Person(member) => member.has_role(Role::Admin) || member.has_role(Role::Auditor),
        Actor::AdminKey(key) => key.project == session.project,
        Actor::Service => true,
        Actor::Agent(_) | Actor::OtherKey => false,
    }
}

/// The delegations of a session that the actor may read: a person and an agent read their own mode's part alone, also after
/// the other mode has left the session. An agent without a delegation reads the entries without one.
fn own_part(actor: &Actor, view: &AuditView, session: &Session) -> Vec<Option<RowKey>> {
    if let Actor::Agent(mine) = actor
        && mine.key == session.key
    {
        return vec![mine.delegation];
    }
    let of = |key: RowKey| view.session_delegations.iter().find(|d| d.key == key && may_read(actor, d));
    session.delegations_ever().filter_map(of).map(|d| Some(d.key)).collect()
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
