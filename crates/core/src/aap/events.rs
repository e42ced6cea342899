//! Lifecycle events end delegations (AAP 8.3): those whose effective policy lists the event. `user.offboarded` ends all
//! of a user's, with their membership and API keys, whatever the policies say.

use super::revoke::{AutoRevokeTrigger, auto_revoke};
use crate::{
    decision::{ProjectRef, cancel::Live},
    env::Env,
    evidence::DraftEntry,
    people::disable::{HeldInProject, end_holdings},
    records::{Delegation, Membership, Person, Stored as _, Table},
    refusal::Refusal,
    signals::Signal,
    step::{Count, Effects, Operation, Step},
};
use countersign_protocol::aap::{events::LifecycleEventRequest, policy::LifecycleEvent};

/// How long the ids of events are known.
const KNOWN_S: i64 = 30 * 86400;

/// A well-formed event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub event: LifecycleEvent,
    pub id: String,
    pub concerns: Concerns,
}

/// The delegations that an event may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concerns {
    User { issuer: Option<String>, subject: String },
    Delegation { id: String },
    Everyone,
}

/// Reads the form of an event; each problem names its member.
pub fn read(body: &LifecycleEventRequest) -> Result<Event, Refusal> {
    let names = LifecycleEvent::ALL.map(LifecycleEvent::as_str).join(", ");
    let event = body.event.as_deref().and_then(LifecycleEvent::parse);
    let event = event.ok_or_else(|| Refusal::invalid(format!("event must be one of {names}")))?;
    let id =
        body.event_id.clone().filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic()));
    let id = id.ok_or_else(|| Refusal::invalid("event_id must be 1 to 128 printable characters"))?;
    let concerns = match (event, &body.user, &body.delegation_id) {
        (_, Some(_), Some(_)) => return Err(Refusal::invalid("send user or delegation_id, not both")),
        (_, Some(subject), None) => Concerns::User { issuer: body.issuer.clone(), subject: subject.clone() },
        (LifecycleEvent::UserOffboarded | LifecycleEvent::UserRoleChanged, None, _) => {
            return Err(Refusal::invalid(format!("user is required for {}", event.as_str())));
        }
        (_, None, Some(id)) => Concerns::Delegation { id: id.clone() },
        (LifecycleEvent::OrgSubscriptionCancelled, None, None) => Concerns::Everyone,
        (LifecycleEvent::ResourceDeleted, None, None) => {
            return Err(Refusal::invalid("user or delegation_id is required for resource.deleted"));
        }
    };
    Ok(Event { event, id, concerns })
}

pub fn applies(event: LifecycleEvent, delegation: &Delegation) -> bool {
    !delegation.is_ended() && (event == LifecycleEvent::UserOffboarded || delegation.policy.on_events.contains(&event))
}

/// Ends delegations, unless the event was applied before.
pub struct EndByEvent<'a> {
    pub event: &'a Event,
}

pub struct EventView {
    pub place: ProjectRef,
    /// Those to which the event may apply.
    pub delegations: Vec<(Delegation, Live)>,
}

impl Operation for EndByEvent<'_> {
    type View = EventView;
    type Answer = Vec<String>;
    type Refusal = Refusal;

    fn decide(self, view: &EventView, env: &Env) -> Result<Step<Vec<String>>, Refusal> {
        let mut effects = Effects { counts: vec![count(&view.place, self.event, 0, env)], ..Effects::default() };
        let mut mint = env.mint();
        let mut ended = Vec::new();
        let (event, trigger) = (self.event.event, (AutoRevokeTrigger::Event(self.event.event), env.now));
        for (delegation, live) in view.delegations.iter().filter(|(delegation, _)| applies(event, delegation)) {
            auto_revoke(&view.place, (delegation, live), trigger, env, &mut mint, &mut effects)?;
            ended.push(delegation.id.clone());
        }
        Ok(Step { answer: ended, effects })
    }
}

/// Everything of an offboarded user in one project ends, in one step.
pub struct Offboard<'a> {
    pub event: &'a Event,
    pub by: String,
}

pub struct OffboardView {
    pub person: Person,
    pub membership: Option<Membership>,
    pub held: HeldInProject,
}

impl Operation for Offboard<'_> {
    type View = OffboardView;
    type Answer = Vec<String>;
    type Refusal = Refusal;

    fn decide(self, view: &OffboardView, env: &Env) -> Result<Step<Vec<String>>, Refusal> {
        let ended = view.held.delegations.iter().filter(|(delegation, _)| !delegation.is_ended());
        let answer = ended.map(|(delegation, _)| delegation.id.clone()).collect();
        let mut effects = Effects {
            counts: vec![count(&view.held.place, self.event, 0, env)],
            removes: view.membership.iter().map(|membership| (Table::Membership, membership.key())).collect(),
            news: vec![Signal::Standing { person: view.person.key }],
            ..Effects::default()
        };
        let entry = ("person_offboarded", self.by.as_str());
        end_holdings(&view.person, &view.held, entry, env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer, effects })
    }
}

/// The last step of an event: its record, and from then on its id is known.
pub fn applied(place: &ProjectRef, event: &Event, (by, ended): (&str, usize), env: &Env) -> Result<Effects, Refusal> {
    let entry = DraftEntry::new((place.0, &place.1), "lifecycle_event", env.now)
        .open("event", event.event.as_str())
        .open("revoked", ended)
        .hidden("event_id", event.id.as_str())
        .hidden("by", by);
    Ok(Effects {
        counts: vec![count(place, event, 1, env)],
        evidence: vec![entry.seal(&mut env.mint())?],
        ..Effects::default()
    })
}

/// Counts the applications of an event: at most one. Counting none only checks that there was none.
fn count(place: &ProjectRef, event: &Event, by: i64, env: &Env) -> Count {
    Count {
        name: "lifecycle_event",
        key: format!("{}/lifecycle-event/{}", place.0, event.id),
        by,
        limit: by,
        until: env.now.plus_secs(KNOWN_S),
    }
}
