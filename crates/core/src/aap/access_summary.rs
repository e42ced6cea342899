//! The current access of agents (AAP 14.3, 17.5): the active delegations that the caller may see.

use super::{audit::may_read, delegate, validity};
use crate::{people::Actor, project::USER_DELEGATED, records::Delegation, refusal::Refusal};
use countersign_protocol::{
    aap::access_summary::{AccessSummary, AgentAccess, CallerAccess, DelegationAccess},
    time::UnixMillis,
};
use std::collections::BTreeSet;

/// A delegation, and the time of the last request under it.
pub type UsedDelegation = (Delegation, Option<UnixMillis>);

/// The delegation that the caller names. An unknown one and another person's look the same (C-61).
pub fn named(actor: &Actor, found: Option<Delegation>) -> Result<Delegation, Refusal> {
    found.filter(|delegation| may_read(actor, delegation)).ok_or(Refusal::DelegationNotFound)
}

/// `all`: the candidates, oldest first. With `named` only those of the same operator and person count.
pub fn summarize(
    actor: &Actor,
    named: Option<&Delegation>,
    all: &[UsedDelegation],
    page: impl Fn(&Delegation) -> String,
    now: UnixMillis,
) -> AccessSummary {
    let is_of_agent = |delegation: &Delegation| {
        named.is_none_or(|named| named.operator == delegation.operator && named.person == delegation.person)
    };
    let active: Vec<&UsedDelegation> = all
        .iter()
        .filter(|(delegation, _)| is_of_agent(delegation) && is_shown(actor, named, delegation))
        .filter(|(delegation, _)| validity::check_delegation(delegation, now).is_ok())
        .collect();
    let delegations = active.iter().map(|used| access(used)).collect();
    let Some(named) = named else { return AccessSummary::OfCaller(CallerAccess { delegations }) };
    let scopes: BTreeSet<&String> = active.iter().flat_map(|(delegation, _)| &delegation.scopes).collect();
    AccessSummary::OfAgent(Box::new(AgentAccess {
        agent: named.operator.to_string(),
        acting_for: named.subject.clone(),
        active_since: active.iter().map(|(delegation, _)| delegation.granted_at).min().unwrap_or(named.granted_at),
        current_scopes: scopes.into_iter().cloned().collect(),
        effective_policy: delegate::effective_policy(named),
        effective_policy_sources: named.policy_sources.clone(),
        last_active: active.iter().filter_map(|(_, used)| *used).max(),
        revoke_url: page(named),
        delegations,
    }))
}

/// An agent sees the other delegations of its operator for the person of the named one, which is its own.
fn is_shown(actor: &Actor, named: Option<&Delegation>, delegation: &Delegation) -> bool {
    may_read(actor, delegation) || (named.is_some() && matches!(actor, Actor::Agent(_)))
}

fn access((delegation, last_used): &UsedDelegation) -> DelegationAccess {
    DelegationAccess {
        delegation_id: delegation.id.clone(),
        operator: delegation.operator.to_string(),
        mode: USER_DELEGATED.into(),
        scopes: delegation.scopes.clone(),
        granted_at: delegation.granted_at,
        last_used: *last_used,
        effective_policy: delegate::effective_policy(delegation),
        effective_policy_sources: delegation.policy_sources.clone(),
    }
}
