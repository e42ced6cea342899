//! `POST /ssf/v1/events`: security events about people.

use super::operator::operator_refusal;
use crate::{
    engine::Tenancy,
    ports::OperatorError,
    projects::ProjectAt,
    services::Agents,
    store::{Outcome, SessionsOfDelegation},
};
use countersign_core::{
    aap::events::{Concerns, Event},
    records::{Person, Session, SessionState},
    refusal::Refusal,
    shared_signals::{CloseSession, PersonSignal, SignOut, counter, event_id, signals_of},
    step::Operation as _,
};
use countersign_jose::{Peek, SecurityEventRefusal, Unsigned, peek, verify_security_event};
use countersign_protocol::{aap::policy::LifecycleEvent, facts::VerifiedSecurityEvent, project::SignalTransmitter};

/// A refused token, with the code of RFC 8935 2.4.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignalRefusal {
    #[error("{0}")]
    InvalidRequest(String),
    #[error("{0}")]
    InvalidKey(String),
    #[error("no transmitter with this issuer is configured here")]
    InvalidIssuer,
    #[error("the token is for another receiver")]
    InvalidAudience,
    #[error("{0}")]
    AuthenticationFailed(String),
    #[error("{0}")]
    Other(#[from] Refusal),
}

impl SignalRefusal {
    /// None for an error of this service.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::InvalidRequest(_) => Some("invalid_request"),
            Self::InvalidKey(_) => Some("invalid_key"),
            Self::InvalidIssuer => Some("invalid_issuer"),
            Self::InvalidAudience => Some("invalid_audience"),
            Self::AuthenticationFailed(_) => Some("authentication_failed"),
            Self::Other(_) => None,
        }
    }
}

impl Agents<'_> {
    /// Verifies a security event token and applies its events. A repeated token changes nothing.
    pub async fn receive_security_event(self, at: &ProjectAt, jwt: &str) -> Result<(), SignalRefusal> {
        let (token, transmitter) = self.prove_security_event(at, jwt).await?;
        for signal in signals_of(&token, transmitter) {
            self.apply_signal(at, &token, &signal).await.map_err(send_again)?;
        }
        Ok(())
    }

    async fn prove_security_event<'a>(
        self,
        at: &'a ProjectAt,
        jwt: &str,
    ) -> Result<(VerifiedSecurityEvent, &'a SignalTransmitter), SignalRefusal> {
        let now = self.decision_time()?;
        let Peek { kid, iss, .. } = peek(jwt).map_err(|why| SignalRefusal::InvalidRequest(why.to_string()))?;
        let transmitter = at.project.document.shared_signals.iter().find(|transmitter| transmitter.issuer == iss);
        // Local accounts are shared by all projects, so no transmitter of one of several reports about them.
        let allowed =
            |transmitter: &&SignalTransmitter| transmitter.people.is_none() || self.settings.tenancy == Tenancy::Single;
        let transmitter = transmitter.filter(allowed).ok_or(SignalRefusal::InvalidIssuer)?;
        let keys = self.operators.key_set(&transmitter.jwks_uri, &kid, now).await.map_err(|trouble| match trouble {
            OperatorError::UnknownKid => SignalRefusal::InvalidKey("the transmitter publishes no such key".into()),
            OperatorError::BadKeys(why) => SignalRefusal::InvalidKey(why),
            // The transmitter sends the token again.
            OperatorError::Unreachable => Refusal::Unavailable.into(),
            other => operator_refusal(other).into(),
        })?;
        let expected = (transmitter.issuer.as_str(), transmitter.audience.as_str());
        let verified = verify_security_event(jwt, &keys, expected, now);
        let token = verified.map_err(|why| match &why {
            SecurityEventRefusal::Unsigned(Unsigned::NoKey(_) | Unsigned::Algorithm) => {
                SignalRefusal::InvalidKey(why.to_string())
            }
            SecurityEventRefusal::Unsigned(_) => SignalRefusal::AuthenticationFailed(why.to_string()),
            SecurityEventRefusal::WrongIssuer => SignalRefusal::InvalidIssuer,
            SecurityEventRefusal::WrongAudience => SignalRefusal::InvalidAudience,
            _ => SignalRefusal::InvalidRequest(why.to_string()),
        })?;
        Ok((token, transmitter))
    }

    async fn apply_signal(
        self,
        at: &ProjectAt,
        token: &VerifiedSecurityEvent,
        signal: &PersonSignal,
    ) -> Result<(), Refusal> {
        let (issuer, subject) = signal.person.clone();
        let id = event_id(token, signal.event);
        if let Some(event) = signal.lifecycle {
            let concerns = Concerns::User { issuer: Some(issuer.clone()), subject: subject.clone() };
            let event = Event { event, id: id.clone(), concerns, by_own_provider: true };
            match self.apply(&at.project, token.issuer(), &event).await {
                // Offboarding signs out in the step that ends everything else.
                Ok(_) if event.event == LifecycleEvent::UserOffboarded => return Ok(()),
                // Begun as another event, under an earlier version of the document: the sign-out has a record of its own.
                Ok(_) | Err(Refusal::EventIdTaken) => {}
                // Nobody in this project.
                Err(Refusal::NotFound(_)) => return Ok(()),
                Err(refusal) => return Err(refusal),
            }
        }
        let Some(person) = self.person_in(&at.project, issuer, subject).await? else { return Ok(()) };
        self.sign_out_by_event(at, &person, (&id, signal.event.as_str()), token.issuer()).await
    }

    /// When this returns, no node honours the sign-in sessions, subscriber tokens and AAP sessions of before.
    async fn sign_out_by_event(
        self,
        at: &ProjectAt,
        person: &Person,
        (id, event): (&str, &'static str),
        by: &str,
    ) -> Result<(), Refusal> {
        let place = (at.project.key, at.project.id.clone());
        if self.store.count(&counter(&place, id)).await? > 0 {
            return Ok(());
        }
        let ending = self.subscribe_acknowledgements();
        let open = self.open_sessions_of(at, person).await?;
        for session in &open {
            self.run(|| async {
                let current: Option<Session> = self.get(session.key).await?;
                CloseSession.decide(&self.cancel_view(&at.project, None, current).await?, &self.env()?)
            })
            .await?;
        }
        let attempt = || async {
            let person: Option<Person> = self.get(person.key).await?;
            let view = (place.clone(), person.ok_or(Refusal::Unavailable)?);
            let out = SignOut { event_id: id, event, by, sessions: open.len() };
            Ok::<_, Refusal>(((), out.decide(&view, &self.env()?)?))
        };
        match self.run_to_outcome(attempt).await? {
            (Outcome::Committed | Outcome::LimitReached { .. }, ()) => {}
            _ => return Err(Refusal::Unavailable),
        }
        for session in &open {
            self.end_late_decisions_of_session(&at.project, session.key).await?;
        }
        let holders: Vec<_> = open.iter().map(|session| session.key).collect();
        self.wait_for_inflight_writes(&holders, ending, self.now()).await;
        Ok(())
    }

    async fn open_sessions_of(self, at: &ProjectAt, person: &Person) -> Result<Vec<Session>, Refusal> {
        let (project, mut open) = (at.project.key, Vec::new());
        for delegation in self.people().delegations_of(project, person.key).await? {
            let lookup = SessionsOfDelegation { project, delegation: delegation.key };
            let found: Vec<Session> = self.find_all(lookup).await?;
            open.extend(found.into_iter().filter(|session| session.state == SessionState::Open));
        }
        Ok(open)
    }
}

/// A step that was not committed for any reason is no fault of the token.
fn send_again(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Conflict(_) => Refusal::Unavailable,
        refusal => refusal,
    }
}
