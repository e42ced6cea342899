//! Disables an account: everything that a person holds or is responsible for ends in one step.
//!
//! The person's generation ends all sign-in sessions and subscriber tokens, regardless of their number; delegations,
//! API keys and their open decisions are rows of the same step. Creating another one guards on the person's row, so
//! none can slip in between.

use super::api_keys::end_key;
use crate::{
    aap::revoke::{AutoRevokeTrigger, auto_revoke},
    decision::{ProjectRef, cancel::Live},
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{ApiKey, Delegation, Person, Record, SubscriberToken},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::aap::policy::LifecycleEvent;

/// Disabling again ends anything created in between.
pub struct Disable {
    /// The actor for the record: a person's subject, or `operator` at the command line.
    pub by: String,
}

pub struct DisableView {
    pub person: Person,
    pub projects: Vec<HeldInProject>,
}

/// A person's holdings in one project.
pub struct HeldInProject {
    pub place: ProjectRef,
    pub is_member: bool,
    /// Their delegations, each with the open decisions and allowances of its agents.
    pub delegations: Vec<(Delegation, Live)>,
    /// The API keys that they are responsible for.
    pub keys: Vec<(ApiKey, Live)>,
    /// Their active subscriber tokens.
    pub tokens: Vec<SubscriberToken>,
}

/// The result, with the number of ended items.
#[derive(Clone, Debug, PartialEq)]
pub struct Disabled {
    pub person: Person,
    pub delegations: usize,
    pub keys: usize,
    pub tokens: usize,
    pub questions: usize,
    pub approvals: usize,
}

impl Operation for Disable {
    type View = DisableView;
    type Answer = Disabled;
    type Refusal = Refusal;

    fn decide(self, view: &DisableView, env: &Env) -> Result<Step<Disabled>, Refusal> {
        let person = Person {
            version: view.person.version + 1,
            disabled: true,
            generation: view.person.generation + 1,
            ..view.person.clone()
        };
        let mut effects = Effects {
            puts: vec![Record::Person(person.clone())],
            news: vec![Signal::Standing { person: person.key }],
            ..Effects::default()
        };
        let mut ended = Disabled { person, delegations: 0, keys: 0, tokens: 0, questions: 0, approvals: 0 };
        let mut mint = env.mint();
        for held in &view.projects {
            ended.add(held);
            end_holdings(&view.person, held, ("person_disabled", &self.by), env, &mut mint, &mut effects)?;
        }
        Ok(Step { answer: ended, effects })
    }
}

/// Ends everything that a person holds in one project, with one entry for it; nothing if they hold nothing there.
pub(crate) fn end_holdings(
    person: &Person,
    held: &HeldInProject,
    (event_type, by): (&'static str, &str),
    env: &Env,
    mint: &mut Mint,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    let (delegations, keys) = (held.active(), &held.keys);
    if !held.is_member && delegations.is_empty() && keys.is_empty() {
        return Ok(());
    }
    let entry = DraftEntry::new((held.place.0, &held.place.1), event_type, env.now)
        .open("delegations", delegations.len())
        .open("api_keys", keys.len())
        .open("subscriber_tokens", held.tokens.len())
        .hidden("subject", person.subject.as_str())
        .hidden("by", by);
    effects.evidence.push(entry.seal(mint)?);
    // A deactivated account is an offboarded user (AAP 8.3).
    let offboarded = (AutoRevokeTrigger::Event(LifecycleEvent::UserOffboarded), env.now);
    for (delegation, live) in delegations {
        auto_revoke(&held.place, (delegation, live), offboarded, env, mint, effects)?;
    }
    for (key, live) in keys {
        end_key(&held.place, (key, live), env, mint, effects)?;
    }
    Ok(())
}

impl HeldInProject {
    fn active(&self) -> Vec<&(Delegation, Live)> {
        self.delegations.iter().filter(|(delegation, _)| !delegation.is_ended()).collect()
    }
}

impl Disabled {
    fn add(&mut self, held: &HeldInProject) {
        let lives = held.active().into_iter().map(|(_, live)| live).chain(held.keys.iter().map(|(_, live)| live));
        for live in lives {
            self.questions += live.decisions.iter().filter(|decision| decision.is_pending()).count();
            self.approvals += live.allowances.iter().filter(|allowance| allowance.is_open()).count();
        }
        self.delegations += held.active().len();
        self.keys += held.keys.len();
        self.tokens += held.tokens.len();
    }
}
