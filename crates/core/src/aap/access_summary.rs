//! The current access of agents (AAP 14.3, 17.5): the active delegations that the caller may see.

use super::{audit::may_read, delegate, validity};
use crate::{people::Actor, records::Delegation, refusal::Refusal};
use countersign_protocol::{
    aap::{
        access_summary::{AccessSummary, AgentAccess, CallerAccess, DelegationAccess, ExpandedScope},
        heartbeat::WatchedTask,
    },
    mplp::AllowanceShown,
    time::UnixMillis,
};
use std::collections::BTreeSet;

/// A delegation and its use.
pub struct DelegationInUse {
    pub delegation: Delegation,
    /// The time of the last request under it.
    pub last_used: Option<UnixMillis>,
    /// The open ones.
    pub standing_approvals: Vec<AllowanceShown>,
    pub tasks: Vec<WatchedTask>,
    /// The scopes that its sessions have beyond their receipts.
    pub scope_expansions: Vec<ExpandedScope>,
}

/// The delegation that the caller names. An unknown one and another person's look the same (C-61).
pub fn named(actor: &Actor, found: Option<Delegation>) -> Result<Delegation, Refusal> {
    found.filter(|delegation| may_read(actor, delegation)).ok_or(Refusal::DelegationNotFound)
}

/// `all`: the candidates, oldest first. With `named` only those of the same operator and person count.
pub fn summarize(
    actor: &Actor,
    named: Option<&Delegation>,
    all: &[DelegationInUse],
    page: impl Fn(&Delegation) -> String,
    now: UnixMillis,
) -> AccessSummary {
    let is_of_agent = |delegation: &Delegation| {
        named.is_none_or(|named| {
            named.operator == delegation.operator
                && named.subject == delegation.subject
                && named.mode() == delegation.mode()
        })
    };
    let active: Vec<&DelegationInUse> = all
        .iter()
        .filter(|used| is_of_agent(&used.delegation) && may_read(actor, &used.delegation))
        .filter(|used| validity::check_delegation(&used.delegation, now).is_ok())
        .collect();
    let delegations = active.iter().map(|used| access(used)).collect();
    let Some(named) = named else { return AccessSummary::OfCaller(CallerAccess { delegations }) };
    let scopes: BTreeSet<&String> = active.iter().flat_map(|used| &used.delegation.scopes).collect();
    AccessSummary::OfAgent(Box::new(AgentAccess {
        agent: named.operator.to_string(),
        acting_for: named.subject.clone(),
        active_since: active.iter().map(|used| used.delegation.granted_at).min().unwrap_or(named.granted_at),
        current_scopes: scopes.into_iter().cloned().collect(),
        effective_policy: delegate::effective_policy(named),
        effective_policy_sources: named.policy_sources.clone(),
        last_active: active.iter().filter_map(|used| used.last_used).max(),
        revoke_url: page(named),
        delegations,
    }))
}

fn access(used: &DelegationInUse) -> DelegationAccess {
    let delegation = &used.delegation;
    let account = delegation.service_account.as_deref();
    DelegationAccess {
        delegation_id: delegation.id.clone(),
        operator: delegation.operator.to_string(),
        mode: delegation.mode().as_str().into(),
        scopes: delegation.scopes.clone(),
        account_id: account.map(|account| account.account_id.clone()),
        granted_scope: account.map(|account| account.granted_scope.clone()),
        usage_limits: account.map(|account| account.usage_limits),
        granted_at: delegation.granted_at,
        last_used: used.last_used,
        effective_policy: delegate::effective_policy(delegation),
        effective_policy_sources: delegation.policy_sources.clone(),
        standing_approvals: used.standing_approvals.clone(),
        tasks: used.tasks.clone(),
        scope_expansions: used.scope_expansions.clone(),
    }
}
