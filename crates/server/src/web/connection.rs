//! A delegation as its person sees it.

use super::visit::name_of;
use crate::{
    App,
    pages::{AgentConnection, ConnectionState, EndReason, EndRules, OperatorLabel, ScopeWords, SuspendedBy},
};
use countersign_engine::{
    Delegation, DelegationState, Project, ProjectAt, Refusal, RevokeReason, SignedIn, SuspendReason,
    held::scope_window_s,
};
use countersign_protocol::time::UnixMillis;

pub(super) async fn of(app: &App, at: &ProjectAt, delegation: &Delegation) -> Result<AgentConnection, Refusal> {
    Ok(AgentConnection {
        delegation_id: delegation.id.clone(),
        prefix: at.prefix(),
        operator: OperatorLabel::new(delegation.operator.clone(), &delegation.operator_name),
        service: name_of(&at.project).into(),
        scopes: delegation.scopes.iter().map(|id| scope(&at.project, id)).collect(),
        since: delegation.granted_at,
        until: delegation.policy_expires_at,
        ends: EndRules { policy: delegation.policy.clone(), sources: delegation.policy_sources.clone() },
        last_used: app.engine.agents().last_used(delegation).await?,
        state: state(delegation, app.engine.now()),
    })
}

/// A person's own delegation. An unknown one and another person's are indistinguishable (C-61).
pub(super) async fn find(app: &App, at: &ProjectAt, who: &SignedIn, id: &str) -> Result<Delegation, Refusal> {
    let all = app.engine.people().delegations_of(at.project.key, who.person.key).await?;
    all.into_iter().find(|delegation| delegation.id == id).ok_or(Refusal::DelegationNotFound)
}

pub(super) fn is_live(delegation: &Delegation, now: UnixMillis) -> bool {
    !matches!(state(delegation, now), ConnectionState::Ended { .. })
}

/// Revoked by a person, not expired.
pub(super) fn is_cut_off(connection: &AgentConnection) -> bool {
    matches!(connection.state, ConnectionState::Ended { why: EndReason::ManualRevoke, .. })
}

fn state(delegation: &Delegation, now: UnixMillis) -> ConnectionState {
    match delegation.state {
        DelegationState::Revoked { at, reason } | DelegationState::AutoRevoked { at, reason } => {
            ConnectionState::Ended { at, why: why(reason) }
        }
        DelegationState::Active | DelegationState::Suspended { .. } if now >= delegation.policy_expires_at => {
            ConnectionState::Ended { at: delegation.policy_expires_at, why: EndReason::PolicyExpired }
        }
        DelegationState::Active => ConnectionState::Active,
        DelegationState::Suspended { why: SuspendReason::Restored, .. } => {
            ConnectionState::Suspended(SuspendedBy::Restore)
        }
        DelegationState::Suspended { why: SuspendReason::ConcurrentUse, .. } => {
            ConnectionState::Suspended(SuspendedBy::ConcurrentUse)
        }
    }
}

fn why(reason: RevokeReason) -> EndReason {
    match reason {
        RevokeReason::PolicyExpired => EndReason::PolicyExpired,
        RevokeReason::Inactivity => EndReason::Inactivity,
        RevokeReason::TaskComplete => EndReason::TaskComplete,
        RevokeReason::EventTriggered => EndReason::EventTriggered,
        RevokeReason::ManualRevoke => EndReason::ManualRevoke,
        RevokeReason::KeyRotation => EndReason::KeyRotation,
    }
}

/// A scope as the project defines it now: the current definition is in force (AAP 12.3).
pub(super) fn scope(project: &Project, id: &str) -> ScopeWords {
    let offered = project.document.scopes.iter().find(|scope| scope.id == id);
    offered.map_or_else(
        || ScopeWords::no_longer_offered(id),
        |scope| ScopeWords::of(scope, scope_window_s(&project.document, scope)),
    )
}
