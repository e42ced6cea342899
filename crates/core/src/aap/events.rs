//! Lifecycle events end delegations (AAP 8.3): those whose effective policy lists the event. `user.offboarded` ends all
//! of a user's, with their membership, API keys, subscriber tokens and sign-in, whatever the policies say.

use super::revoke::{AutoRevokeTrigger, auto_revoke};
use crate::{
    decision::{ProjectRef, cancel::Live},
    env::Env,
    evidence::DraftEntry,
    people::{
        accounts::LOCAL,
        disable::{HeldInProject, end_holdings},
    },
    records::{
        Delegation, EndedByEvent, LifecycleReport, Membership, Person, Record, Stored as _, SubscriberToken, Table,
    },
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{events::LifecycleEventRequest, policy::LifecycleEvent},
    hash::Digest,
    ids::RowKey,
};

/// How long the ids of events are known.
const KNOWN_S: i64 = 30 * 86400;

/// A well-formed event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub event: LifecycleEvent,
    pub id: String,
    pub concerns: Concerns,
    /// Whether the user's own identity provider reports it. A user that it offboards is signed out of every project.
    pub by_own_provider: bool,
}

impl Event {
    /// Equal ids are the same report.
    pub fn same(&self) -> Digest {
        Digest::of(self.id.as_bytes())
    }

    /// The event and those it concerns.
    fn content(&self) -> Digest {
        let (kind, issuer, subject) = match &self.concerns {
            Concerns::User { issuer, subject } => ("user", issuer.as_deref().unwrap_or(LOCAL), subject.as_str()),
            Concerns::Delegation { id } => ("delegation", "", id.as_str()),
            Concerns::Everyone => ("everyone", "", ""),
        };
        Digest::of([self.event.as_str(), kind, issuer, subject].join("\0").as_bytes())
    }
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
    Ok(Event { event, id, concerns, by_own_provider: false })
}

pub fn applies(event: LifecycleEvent, delegation: &Delegation) -> bool {
    !delegation.is_ended() && (event == LifecycleEvent::UserOffboarded || delegation.policy.on_events.contains(&event))
}

/// The counter of an event that was applied before reports were rows. It is kept for 30 days.
pub fn earlier_counter(project: RowKey, event: &Event) -> String {
    format!("{project}/lifecycle-event/{}", event.id)
}

/// Records the id of an event before anything ends, so that an interrupted report can be sent again.
pub struct Begin<'a> {
    pub event: &'a Event,
}

pub struct BeginView {
    pub project: RowKey,
    /// The report with the same id.
    pub known: Option<LifecycleReport>,
    /// Whether the event is counted at [`earlier_counter`].
    pub is_counted: bool,
}

impl Operation for Begin<'_> {
    type View = BeginView;
    /// None if the event was applied before.
    type Answer = Option<LifecycleReport>;
    type Refusal = Refusal;

    fn decide(self, view: &BeginView, env: &Env) -> Result<Step<Option<LifecycleReport>>, Refusal> {
        if let Some(known) = &view.known {
            if known.content != self.event.content() {
                return Err(Refusal::EventIdTaken);
            }
            return Ok(Step::answer(Some(known.clone()).filter(|known| known.applied_at.is_none())));
        }
        if view.is_counted {
            return Ok(Step::answer(None));
        }
        let report = LifecycleReport {
            key: env.mint().key(),
            version: 1,
            project: view.project,
            same: self.event.same(),
            content: self.event.content(),
            ended: EndedByEvent::default(),
            applied_at: None,
            expires_at: env.now.plus_secs(KNOWN_S),
        };
        let effects = Effects { puts: vec![Record::LifecycleReport(report.clone())], ..Effects::default() };
        Ok(Step { answer: Some(report), effects })
    }
}

/// Ends delegations, and adds them to the report: whoever continues it completes their end.
pub struct EndByEvent<'a> {
    pub event: &'a Event,
    pub report: &'a LifecycleReport,
}

pub struct EventView {
    pub place: ProjectRef,
    /// Those to which the event may apply.
    pub delegations: Vec<(Delegation, Live)>,
}

impl Operation for EndByEvent<'_> {
    type View = EventView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &EventView, env: &Env) -> Result<Step<()>, Refusal> {
        let (mut effects, mut mint, mut ended) = (Effects::default(), env.mint(), EndedByEvent::default());
        let (event, trigger) = (self.event.event, (AutoRevokeTrigger::Event(self.event.event), env.now));
        for (delegation, live) in view.delegations.iter().filter(|(delegation, _)| applies(event, delegation)) {
            auto_revoke(&view.place, (delegation, live), trigger, env, &mut mint, &mut effects)?;
            ended.delegations.push(delegation.key);
        }
        if !ended.delegations.is_empty() {
            effects.puts.push(Record::LifecycleReport(self.report.with_ended(ended)));
        }
        Ok(Step { answer: (), effects })
    }
}

/// Everything of an offboarded user in one project ends, in one step, for good: another membership revives none of it.
///
/// Their sign-in sessions end as well, but for members of other projects, whom only their own identity provider
/// signs out of all of them. The person's row changes in any case, so that nothing made at the same moment survives.
pub struct Offboard<'a> {
    pub event: &'a Event,
    pub report: &'a LifecycleReport,
    pub by: String,
}

pub struct OffboardView {
    pub person: Person,
    pub membership: Option<Membership>,
    pub held: HeldInProject,
    /// Whether the person has a role in another project.
    pub is_elsewhere: bool,
}

impl Operation for Offboard<'_> {
    type View = OffboardView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &OffboardView, env: &Env) -> Result<Step<()>, Refusal> {
        let delegations = view.held.delegations.iter().filter(|(delegation, _)| !delegation.is_ended());
        let ended = EndedByEvent {
            delegations: delegations.map(|(delegation, _)| delegation.key).collect(),
            api_keys: view.held.keys.iter().map(|(key, _)| key.key).collect(),
        };
        let signs_out = self.event.by_own_provider || !view.is_elsewhere;
        let person = Person {
            version: view.person.version + 1,
            generation: view.person.generation + i64::from(signs_out),
            ..view.person.clone()
        };
        let revoked = |token: &SubscriberToken| {
            let version = token.version + 1;
            Record::SubscriberToken(SubscriberToken { revoked_at: Some(env.now), version, ..token.clone() })
        };
        let tokens = view.held.tokens.iter().map(revoked);
        let mut effects = Effects {
            puts: [Record::Person(person), Record::LifecycleReport(self.report.with_ended(ended))]
                .into_iter()
                .chain(tokens)
                .collect(),
            removes: view.membership.iter().map(|membership| (Table::Membership, membership.key())).collect(),
            news: vec![Signal::Standing { person: view.person.key }],
            ..Effects::default()
        };
        let entry = ("person_offboarded", self.by.as_str());
        end_holdings(&view.person, &view.held, entry, env, &mut env.mint(), &mut effects)?;
        Ok(Step { answer: (), effects })
    }
}

/// The last step of an event: its record, and from then on it changes nothing any more. Everything that it ended has
/// ended completely before.
pub fn applied(
    place: &ProjectRef,
    (event, report): (&Event, &LifecycleReport),
    by: &str,
    env: &Env,
) -> Result<Effects, Refusal> {
    let entry = DraftEntry::new((place.0, &place.1), "lifecycle_event", env.now)
        .open("event", event.event.as_str())
        .open("revoked", report.ended.delegations.len())
        .hidden("event_id", event.id.as_str())
        .hidden("by", by);
    let report = LifecycleReport {
        ended: EndedByEvent::default(),
        applied_at: Some(env.now),
        version: report.version + 1,
        ..report.clone()
    };
    Ok(Effects {
        puts: vec![Record::LifecycleReport(report)],
        evidence: vec![entry.seal(&mut env.mint())?],
        ..Effects::default()
    })
}
