//! Revoking a delegation (AAP 8.2, 17.3). After the 200 response the delegation is unusable.

use crate::{
    aap::webhooks,
    decision::{ProjectRef, cancel::Live},
    env::{Env, Mint},
    evidence::DraftEntry,
    people::{Actor, ProjectMember},
    records::{CancelledFor, Delegation, DelegationState, Project, Record, RevokeReason, Role},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{
        policy::{LifecycleEvent, PolicySource},
        revoke::RevokeResponse,
    },
    time::UnixMillis,
};
use std::collections::BTreeSet;

pub struct Revoke {
    pub actor: Actor,
    pub reason: Option<Reason>,
}

/// The reason given by the caller (AAP 17.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    UserRequested,
    AdminRequested,
    TaskComplete,
    PolicyTriggered,
}

pub struct RevokeView {
    pub project: Project,
    pub delegation: Option<Delegation>,
    /// Open records of its agents.
    pub live: Live,
}

impl Operation for Revoke {
    type View = RevokeView;
    type Answer = RevokeResponse;
    type Refusal = Refusal;

    fn decide(self, view: &RevokeView, env: &Env) -> Result<Step<RevokeResponse>, Refusal> {
        let delegation = view.delegation.as_ref().filter(|d| d.project == view.project.key);
        // An unknown delegation and another person's look the same (C-61).
        let delegation = delegation.ok_or(Refusal::DelegationNotFound)?;
        let by = role_of(&self.actor, delegation).ok_or(Refusal::DelegationNotFound)?;
        if let DelegationState::Revoked { at, .. } | DelegationState::AutoRevoked { at, .. } = delegation.state {
            return Ok(Step::answer(answer(delegation, at)));
        }
        let (place, mut effects) = ((view.project.key, view.project.id.clone()), Effects::default());
        let ends = (delegation, &view.live);
        end_delegation(&place, ends, (by, self.reason), env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer: answer(delegation, env.now), effects })
    }
}

/// The end of a delegation by its policy (AAP 8.3): it is recorded, and ends all open records, without an actor.
pub enum PolicyEnd {
    /// Its time or its inactivity is due.
    Due { last_request_at: Option<UnixMillis> },
    /// A call would have exceeded its usage budget.
    UsedUp,
}

impl Operation for PolicyEnd {
    type View = RevokeView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &RevokeView, env: &Env) -> Result<Step<()>, Refusal> {
        let live = |delegation: &&Delegation| !delegation.is_ended();
        let Some(delegation) = view.delegation.as_ref().filter(live) else { return Ok(Step::answer(())) };
        let (trigger, at) = match self {
            Self::UsedUp => (AutoRevokeTrigger::UsageBudget, env.now),
            Self::Due { last_request_at } => match due_end(delegation, last_request_at, env.now) {
                DueEnd::Now(trigger, at) => (trigger, at),
                DueEnd::Later => return Ok(Step::answer(())),
                DueEnd::CheckAt(at) => {
                    let idle_check_at = Some(at);
                    let postponed = Delegation { idle_check_at, version: delegation.version + 1, ..delegation.clone() };
                    let puts = vec![Record::Delegation(postponed)];
                    return Ok(Step { answer: (), effects: Effects { puts, ..Effects::default() } });
                }
            },
        };
        let mut effects = Effects { not_before: Some(at), ..Effects::default() };
        let place = (view.project.key, view.project.id.clone());
        let ends = (delegation, &view.live);
        auto_revoke(&place, ends, (trigger, at), env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer: (), effects })
    }
}

enum DueEnd {
    Now(AutoRevokeTrigger, UnixMillis),
    /// There were requests: inactivity is judged again then.
    CheckAt(UnixMillis),
    Later,
}

/// The earlier of both ends counts, also if this node was down when it came.
fn due_end(delegation: &Delegation, last_request_at: Option<UnixMillis>, now: UnixMillis) -> DueEnd {
    let expires_at = delegation.policy_expires_at;
    let active = delegation.state == DelegationState::Active;
    let idle_at = delegation.policy.inactivity_timeout.filter(|_| active).map(|period| {
        last_request_at.map_or(delegation.granted_at, |at| at.max(delegation.granted_at)).plus_secs(period)
    });
    match idle_at {
        Some(idle_at) if now >= idle_at && idle_at < expires_at => DueEnd::Now(AutoRevokeTrigger::Inactivity, idle_at),
        _ if now >= expires_at => DueEnd::Now(AutoRevokeTrigger::Expiry, expires_at),
        Some(idle_at) if delegation.needs_idle_check(now) => DueEnd::CheckAt(idle_at),
        _ => DueEnd::Later,
    }
}

/// The cause of an auto-revoke: a member of the effective policy, or a lifecycle event (AAP 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoRevokeTrigger {
    Expiry,
    Inactivity,
    TaskCompletion,
    UsageBudget,
    Event(LifecycleEvent),
}

impl AutoRevokeTrigger {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expiry => "expires_at",
            Self::Inactivity => "inactivity_timeout",
            Self::TaskCompletion => "on_task_completion",
            Self::UsageBudget => "after_use",
            Self::Event(event) => event.as_str(),
        }
    }

    /// The header's vocabulary has no word for a usage budget (C-38).
    pub const fn reason(self) -> RevokeReason {
        match self {
            Self::Expiry | Self::UsageBudget => RevokeReason::PolicyExpired,
            Self::Inactivity => RevokeReason::Inactivity,
            Self::TaskCompletion => RevokeReason::TaskComplete,
            Self::Event(_) => RevokeReason::EventTriggered,
        }
    }

    /// The party whose rule it is, or the event (C-17). Where several parties have the same rule, the service comes first.
    pub fn triggered_by(self, delegation: &Delegation) -> &'static str {
        let sources = &delegation.policy_sources;
        let first = |of: &BTreeSet<PolicySource>| of.first().map_or("service", |source| source.as_str());
        match self {
            Self::Expiry => first(&sources.expires_at),
            Self::Inactivity => first(&sources.inactivity_timeout),
            Self::TaskCompletion => first(&sources.on_task_completion),
            Self::UsageBudget => {
                first(if sources.max_requests.is_empty() { &sources.max_writes } else { &sources.max_requests })
            }
            Self::Event(event) => event.as_str(),
        }
    }
}

/// Ends a delegation without a person's act, and all open records of its agents. Every trigger uses it, so that each
/// auto-revoke is in the audit, and its message to the operator is durable together with it (AAP 8.5).
pub(crate) fn auto_revoke(
    place: &ProjectRef,
    (delegation, live): (&Delegation, &Live),
    (trigger, at): (AutoRevokeTrigger, UnixMillis),
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    let state = DelegationState::AutoRevoked { at, reason: trigger.reason() };
    let ended = Delegation { state, version: delegation.version + 1, ..delegation.clone() };
    let entry = DraftEntry::new((place.0, &place.1), "auto_revoked", env.now)
        .under_delegation(delegation.key, &delegation.id)
        .open("operator", delegation.operator.as_str())
        .open("by", "service")
        .open("reason", trigger.reason().as_str())
        .open("trigger", trigger.as_str())
        .about(delegation)
        .seal(mint)?;
    effects.puts.push(Record::Delegation(ended));
    effects.evidence.push(entry);
    if live.notifies_operator {
        effects.puts.push(Record::OutboxMessage(webhooks::notice(delegation, trigger, at, env.now, mint)));
    }
    live.cancel(place, CancelledFor::Revoked, env, mint, effects)
}

/// Ends a delegation and all open records of its agents, in the step that causes it.
pub(crate) fn end_delegation(
    place: &ProjectRef,
    (delegation, live): (&Delegation, &Live),
    (by, reason): (&str, Option<Reason>),
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    let state = DelegationState::Revoked { at: env.now, reason: revoke_reason(reason) };
    let revoked = Delegation { state, version: delegation.version + 1, ..delegation.clone() };
    let entry = DraftEntry::new((place.0, &place.1), "delegation_revoked", env.now)
        .under_delegation(delegation.key, &delegation.id)
        .open("operator", delegation.operator.as_str())
        .open("by", by)
        .about(delegation)
        .hidden_if("reason", reason.map(Reason::as_str))
        .seal(mint)?;
    effects.puts.push(Record::Delegation(revoked));
    effects.evidence.push(entry);
    live.cancel(place, CancelledFor::Revoked, env, mint, effects)
}

/// Whether the actor may end the delegation. To others it looks like an unknown one (C-61).
pub fn may_revoke(actor: &Actor, delegation: &Delegation) -> bool {
    role_of(actor, delegation).is_some()
}

/// The actor's right to end a delegation, if any, by its name in the audit.
fn role_of(actor: &Actor, delegation: &Delegation) -> Option<&'static str> {
    match actor {
        Actor::Person(member) if acts_for(member, delegation) => Some("user"),
        Actor::Person(member) if member.has_role(Role::Admin) => Some("admin"),
        Actor::AdminKey(key) if key.project == delegation.project => Some("admin"),
        Actor::Service => Some("service"),
        Actor::Operator(domain) if *domain == delegation.operator => Some("operator"),
        Actor::Agent(session) if session.delegation == Some(delegation.key) => Some("agent"),
        _ => None,
    }
}

/// Whether the delegation is this person's own. Nobody owns a service account (AAP-G-42).
fn acts_for(member: &ProjectMember, delegation: &Delegation) -> bool {
    member.person.key == delegation.person && delegation.service_account.is_none()
}

fn answer(delegation: &Delegation, revoked_at: UnixMillis) -> RevokeResponse {
    RevokeResponse { revoked_at, delegation_id: delegation.id.clone() }
}

/// The header's vocabulary is closed, so people's requests are all `manual_revoke` (C-39).
fn revoke_reason(reason: Option<Reason>) -> RevokeReason {
    match reason {
        Some(Reason::TaskComplete) => RevokeReason::TaskComplete,
        Some(Reason::PolicyTriggered) => RevokeReason::PolicyExpired,
        Some(Reason::UserRequested | Reason::AdminRequested) | None => RevokeReason::ManualRevoke,
    }
}

impl Reason {
    pub fn parse(text: &str) -> Option<Self> {
        [Self::UserRequested, Self::AdminRequested, Self::TaskComplete, Self::PolicyTriggered]
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserRequested => "user_requested",
            Self::AdminRequested => "admin_requested",
            Self::TaskComplete => "task_complete",
            Self::PolicyTriggered => "policy_triggered",
        }
    }
}
