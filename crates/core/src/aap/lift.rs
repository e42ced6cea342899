//! Lifting a suspension (C-86, R-36): by the delegation's person, an admin, at the service's command line, or by the operator
//! if its delegation was used from two networks. A thief of its key can sign as the operator, so the operator also shows the
//! acknowledgement that only its webhook received.

use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    people::Actor,
    records::{ApiKey, Delegation, DelegationState, Record, Role, SuspendReason},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};

/// Reactivates a suspended delegation. Any other delegation stays unchanged.
pub struct LiftDelegation {
    /// `None` at the command line of the service.
    pub actor: Option<Actor>,
    /// Whether the actor showed the acknowledgement of exactly this suspension.
    pub acknowledged: bool,
}

impl Operation for LiftDelegation {
    type View = (ProjectRef, Delegation);
    type Answer = Delegation;
    type Refusal = Refusal;

    fn decide(self, (place, delegation): &Self::View, env: &Env) -> Result<Step<Delegation>, Refusal> {
        // Another person's delegation looks like an unknown one (C-61).
        let by = self.lifting_role(delegation).ok_or(Refusal::DelegationNotFound)?;
        let DelegationState::Suspended { why, .. } = delegation.state else {
            return Ok(Step::answer(delegation.clone()));
        };
        // Only a person knows whether it was revoked since the backup.
        if by == "operator" && why == SuspendReason::Restored {
            let why = "after a restore, the user or an admin lifts the suspension";
            return Err(Refusal::NotAuthorized(why.into()));
        }
        if by == "operator" && !self.acknowledged {
            let why = "an operator lifts a suspension with the acknowledgement in the notice to its webhook; without it, the user \
                       or an admin lifts it";
            return Err(Refusal::NotAuthorized(why.into()));
        }
        let state = DelegationState::Active;
        let lifted = Delegation { state, version: delegation.version + 1, ..delegation.clone() };
        let entry = DraftEntry::new((place.0, &place.1), "delegation_lifted", env.now)
            .under_delegation(delegation.key, &delegation.id)
            .open("operator", delegation.operator.as_str())
            .open("by", by)
            .about(delegation)
            .seal(&mut env.mint())?;
        let mut effects = Effects {
            puts: vec![Record::Delegation(lifted.clone())],
            evidence: vec![entry],
            news: vec![Signal::Lifted { delegation: delegation.key }],
            ..Effects::default()
        };
        if let Some(Actor::Person(member)) = &self.actor {
            effects.guards = member.guards();
        }
        Ok(Step { answer: lifted, effects })
    }
}

impl LiftDelegation {
    fn lifting_role(&self, delegation: &Delegation) -> Option<&'static str> {
        match &self.actor {
            None => Some("service"),
            Some(Actor::Person(member)) if member.person.key == delegation.person => Some("user"),
            Some(Actor::Person(member)) if member.has_role(Role::Admin) => Some("admin"),
            Some(Actor::AdminKey(key)) if key.project == delegation.project => Some("admin"),
            Some(Actor::Operator(domain)) if *domain == delegation.operator => Some("operator"),
            Some(_) => None,
        }
    }
}

/// Lifts the suspension of an API key, at the command line of the service.
pub struct LiftKey;

impl Operation for LiftKey {
    type View = (ProjectRef, ApiKey);
    type Answer = ApiKey;
    type Refusal = Refusal;

    fn decide(self, (place, key): &Self::View, env: &Env) -> Result<Step<ApiKey>, Refusal> {
        if key.suspended_at.is_none() {
            return Ok(Step::answer(key.clone()));
        }
        let lifted = ApiKey { suspended_at: None, version: key.version + 1, ..key.clone() };
        let entry = DraftEntry::new((place.0, &place.1), "api_key_lifted", env.now).open("key_id", key.id.as_str());
        let evidence = vec![entry.seal(&mut env.mint())?];
        let effects = Effects { puts: vec![Record::ApiKey(lifted.clone())], evidence, ..Effects::default() };
        Ok(Step { answer: lifted, effects })
    }
}
