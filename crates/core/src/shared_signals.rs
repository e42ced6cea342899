//! Security events about people (OpenID Shared Signals, CAEP, RISC), and their effects.
//!
//! A transmitter reports about its own people: the issuer of a subject is the transmitter's. The project's document may
//! map them to local accounts, by subject. `account-disabled` and `account-purged` are `user.offboarded`; `session-revoked`
//! and `credential-change` sign the person out and end the AAP sessions of their agents, and leave the delegations: an
//! agent registers again. The document may say that these are a lifecycle event as well.

use crate::{
    aap::cancel::CancelView,
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    people::sign_in::end_everywhere,
    records::{CancelledFor, Person, Record, Session, SessionEnd, SessionState},
    refusal::Refusal,
    step::{Count, Effects, Operation, Step},
};
use countersign_protocol::{
    aap::policy::LifecycleEvent, facts::VerifiedSecurityEvent, hash::Digest, project::SignalTransmitter,
};
use serde_json::Value;

/// How long the ids of events are known: longer than a token is accepted.
const KNOWN_S: i64 = 30 * 86_400;

/// The known events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityEvent {
    SessionRevoked,
    CredentialChange,
    AccountDisabled,
    AccountPurged,
}

impl SecurityEvent {
    const ALL: [Self; 4] = [Self::SessionRevoked, Self::CredentialChange, Self::AccountDisabled, Self::AccountPurged];

    /// Its type without the schema's prefix.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionRevoked => "session-revoked",
            Self::CredentialChange => "credential-change",
            Self::AccountDisabled => "account-disabled",
            Self::AccountPurged => "account-purged",
        }
    }

    fn parse(uri: &str) -> Option<Self> {
        let schema = |event: &Self| match event {
            Self::SessionRevoked | Self::CredentialChange => "https://schemas.openid.net/secevent/caep/event-type/",
            Self::AccountDisabled | Self::AccountPurged => "https://schemas.openid.net/secevent/risc/event-type/",
        };
        Self::ALL.into_iter().find(|event| uri.strip_prefix(schema(event)) == Some(event.as_str()))
    }

    const fn lifecycle(self, transmitter: &SignalTransmitter) -> Option<LifecycleEvent> {
        match self {
            Self::SessionRevoked => transmitter.session_revoked,
            Self::CredentialChange => transmitter.credential_change,
            Self::AccountDisabled | Self::AccountPurged => Some(LifecycleEvent::UserOffboarded),
        }
    }
}

/// One event about one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonSignal {
    pub event: SecurityEvent,
    /// Issuer and subject of the person here.
    pub person: (String, String),
    /// The lifecycle event that it is. Each but `user.offboarded` leaves the sign-out to be done.
    pub lifecycle: Option<LifecycleEvent>,
}

/// The known events of a token. Unknown ones have no effect, and neither have subjects of other issuers.
pub fn signals_of(token: &VerifiedSecurityEvent, transmitter: &SignalTransmitter) -> Vec<PersonSignal> {
    let issuer = transmitter.people.as_deref().unwrap_or_else(|| token.issuer());
    let signal = |(uri, body): (&String, &Value)| {
        let event = SecurityEvent::parse(uri)?;
        let subject = subject_of(token.sub_id().or_else(|| body.get("subject"))?, token.issuer())?;
        Some(PersonSignal { event, person: (issuer.to_owned(), subject), lifecycle: event.lifecycle(transmitter) })
    };
    token.events().iter().filter_map(signal).collect()
}

/// The formats `iss_sub` and `opaque` (RFC 9493), alone or as the user of a complex subject.
fn subject_of(sub_id: &Value, issuer: &str) -> Option<String> {
    let text = |member: &str| sub_id.get(member).and_then(Value::as_str).map(str::to_owned);
    match text("format")?.as_str() {
        "iss_sub" => text("sub").filter(|_| text("iss").as_deref() == Some(issuer)),
        "opaque" => text("id"),
        "complex" => subject_of(sub_id.get("user").filter(|user| user.get("user").is_none())?, issuer),
        _ => None,
    }
}

/// The id of a token's event, the same for every delivery.
pub fn event_id(token: &VerifiedSecurityEvent, event: SecurityEvent) -> String {
    let id = format!("{}\0{}\0{}", token.issuer(), token.jti(), event.as_str());
    format!("ssf-{}", Digest::of(id.as_bytes()).hex())
}

/// The counter of an event: it is applied once.
pub fn counter(place: &ProjectRef, event_id: &str) -> String {
    format!("{}/security-event/{event_id}", place.0)
}

/// Ends every sign-in session and subscriber token of a person, once for each event.
pub struct SignOut<'a> {
    pub event_id: &'a str,
    pub event: &'static str,
    /// The transmitter.
    pub by: &'a str,
    /// The number of AAP sessions that ended before.
    pub sessions: usize,
}

impl Operation for SignOut<'_> {
    type View = (ProjectRef, Person);
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, (place, person): &Self::View, env: &Env) -> Result<Step<()>, Refusal> {
        let entry = DraftEntry::new((place.0, &place.1), "person_signed_out", env.now)
            .open("event", self.event)
            .open("sessions", self.sessions)
            .hidden("event_id", self.event_id)
            .hidden("subject", person.subject.as_str())
            .hidden("by", self.by);
        let mut effects = end_everywhere(person);
        effects.evidence.push(entry.seal(&mut env.mint())?);
        let until = env.now.plus_secs(KNOWN_S);
        effects.counts.push(Count {
            name: "security_event",
            key: counter(place, self.event_id),
            by: 1,
            limit: 1,
            until,
        });
        Ok(Step { answer: (), effects })
    }
}

/// Ends an AAP session because its person was signed out; the delegation stays.
pub struct CloseSession;

impl Operation for CloseSession {
    type View = CancelView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<()>, Refusal> {
        let Some(session) = view.session.as_ref().filter(|session| session.state == SessionState::Open) else {
            return Ok(Step::answer(()));
        };
        let state = SessionState::Closed { at: env.now, why: SessionEnd::Cancelled };
        let closed = Session { state, version: session.version + 1, ..session.clone() };
        let entry = DraftEntry::new((view.project.key, &view.project.id), "session_cancelled", env.now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "identity_provider")
            .hidden_if("acting_for", session.subject.clone());
        let entry = match &view.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        };
        let mut mint = env.mint();
        let evidence = vec![entry.seal(&mut mint)?];
        let mut effects = Effects { puts: vec![Record::Session(closed)], evidence, ..Effects::default() };
        let place = (view.project.key, view.project.id.clone());
        view.live.cancel(&place, CancelledFor::SessionOver, env, &mut mint, &mut effects)?;
        Ok(Step { answer: (), effects })
    }
}
