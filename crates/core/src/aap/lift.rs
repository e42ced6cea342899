//! Lifting a suspension (C-86, R-36): by the delegation's person, an admin, or at the service's command line.

use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    people::Actor,
    records::{ApiKey, Delegation, DelegationState, Record, Role},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};

/// Reactivates a suspended delegation. Any other delegation stays unchanged.
pub struct LiftDelegation {
    /// `None` at the command line of the service.
    pub actor: Option<Actor>,
}

impl Operation for LiftDelegation {
    type View = (ProjectRef, Delegation);
    type Answer = Delegation;
    type Refusal = Refusal;

    fn decide(self, (place, delegation): &Self::View, env: &Env) -> Result<Step<Delegation>, Refusal> {
        // Another person's delegation looks like an unknown one (C-61).
        let by = self.lifting_role(delegation).ok_or(Refusal::DelegationNotFound)?;
        if !matches!(delegation.state, DelegationState::Suspended { .. }) {
            return Ok(Step::answer(delegation.clone()));
        }
        let state = DelegationState::Active;
        let lifted = Delegation { state, version: delegation.version + 1, ..delegation.clone() };
        let entry = DraftEntry::new((place.0, &place.1), "delegation_lifted", env.now)
            .under_delegation(delegation.key, &delegation.id)
            .open("operator", delegation.operator.as_str())
            .open("by", by)
            .hidden("acting_for", delegation.subject.as_str())
            .seal(&mut env.mint())?;
        let mut effects =
            Effects { puts: vec![Record::Delegation(lifted.clone())], evidence: vec![entry], ..Effects::default() };
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
