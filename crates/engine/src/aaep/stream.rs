//! The stream of a subscription, and the snapshot for a reader that joins late (S1).

use super::{
    hub::{Attached, Delivery, Ended, Joined, NextDelivery},
    subscribers::Listener,
};
use crate::{engine::Engine, projects::ProjectAt, runner::TRIES, services::Events, store::AaepSessionsOpenOfPerson};
use countersign_core::{
    aaep::late,
    env::Mint,
    records::{AaepSession, Decision, Subscription},
    refusal::Refusal,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// An item of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    Event {
        event_id: String,
        /// One line.
        json: Arc<str>,
    },
    /// The hub ends the stream; nothing comes after it.
    Closed { reason_code: String, reason_message: String },
}

/// The stream of one subscription, shaped to its terms. It runs in its reader's task; no other task is spawned for it.
pub struct EventStream {
    engine: Arc<Engine>,
    outlet: Arc<Delivery>,
    number: u64,
    wake: Arc<Notify>,
    is_over: bool,
}

impl EventStream {
    /// Waits for the next event; `None` once another stream of the subscription has taken over, or after `Closed`.
    /// Cancel-safe: nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Delivered> {
        while !self.is_over {
            let now = self.engine.now();
            match self.outlet.next_for(self.number, now) {
                NextDelivery::Event(spoken, form) => {
                    let event_id = spoken.event.envelope.event_id.clone();
                    return Some(Delivered::Event { event_id, json: spoken.json(&form) });
                }
                NextDelivery::Over(Ended { code, message }) => {
                    self.is_over = true;
                    return Some(Delivered::Closed { reason_code: code.into(), reason_message: message.into() });
                }
                NextDelivery::Replaced => self.is_over = true,
                NextDelivery::Wait(until) => self.wait(until, now).await,
            }
        }
        None
    }

    pub fn subscription_id(&self) -> &str {
        &self.outlet.id
    }

    async fn wait(&self, until: Option<UnixMillis>, now: UnixMillis) {
        let Some(until) = until else { return self.wake.notified().await };
        let left = u64::try_from(until.millis_since(now)).unwrap_or(0).max(1);
        tokio::select! {
            () = self.wake.notified() => {}
            () = tokio::time::sleep(Duration::from_millis(left)) => {}
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.engine.hub.detach(&self.outlet, self.number, self.engine.now());
    }
}

impl Events<'_> {
    /// The stream of a subscription that this person owns. A second one ends the first.
    ///
    /// With the id of an event that is still kept, it resumes after that event; otherwise it begins with a snapshot of
    /// the open sessions and questions.
    pub async fn stream(
        self,
        at: &ProjectAt,
        listener: &Listener,
        subscription_id: &str,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, Refusal> {
        let row = self.own_subscription(at, listener, subscription_id).await?;
        let (stream, resumes) = self.attach(at, listener, &row, last_event_id)?;
        // The stream is attached, so no event and no eviction is missed from here on.
        self.own_subscription(at, listener, subscription_id).await?;
        let again = self.reload_subscriber(&at.project, listener.owner).await?;
        let listener = again.ok_or_else(|| {
            Refusal::NotAuthorized("the subscriber is no longer entitled to this subscription".into())
        })?;
        self.hub.set_roles(row.key, listener.member.roles());
        if !resumes {
            let joined = self.snapshot(at, &listener).await?;
            stream.outlet.deliver_snapshot(stream.number, joined, self.now());
        }
        Ok(stream)
    }

    /// On another node, or after a restart, only the row exists, and a new outlet is made from it.
    fn attach(
        self,
        at: &ProjectAt,
        listener: &Listener,
        row: &Subscription,
        last_event_id: Option<&str>,
    ) -> Result<(EventStream, bool), Refusal> {
        // Not the runner's loop: nothing is committed.
        for _ in 0..TRIES {
            let (reader, now) = ((listener.owner, listener.until), self.now());
            if let Some((outlet, attached)) = self.hub.attach(row.key, reader, last_event_id, now) {
                let Attached { number, wake, resumes } = attached;
                let engine = Arc::clone(self.engine);
                return Ok((EventStream { engine, outlet, number, wake, is_over: false }, resumes));
            }
            let outlet = Arc::new(Delivery::new(row, self.terms_of(&at.project, row)?, now));
            self.hub.add(&outlet, listener.member.roles(), now);
        }
        Err(Refusal::Unavailable)
    }

    /// The snapshot for a person: the state of each open session, then its questions as they were raised.
    async fn snapshot(self, at: &ProjectAt, listener: &Listener) -> Result<Vec<Joined>, Refusal> {
        let (project, person) = (at.project.key, listener.person_key());
        // Sessions first: a question raised in between is then delivered twice rather than never.
        let own = self.find_all(AaepSessionsOpenOfPerson { project, person }).await?;
        let mut open: BTreeMap<RowKey, SessionSnapshot> =
            own.into_iter().map(|session| (session.key, SessionSnapshot::own(session))).collect();
        for item in self.decisions().open_questions(project, person, &listener.member.roles()).await? {
            let standing = open.entry(item.session.key).or_insert_with(|| SessionSnapshot::of_another(item.session));
            standing.questions.push(item.decision);
        }
        let (mut mint, now) = (self.env()?.mint(), self.now());
        open.into_values().filter_map(|standing| self.session_snapshot(standing, now, &mut mint).transpose()).collect()
    }

    fn session_snapshot(
        self,
        standing: SessionSnapshot,
        now: UnixMillis,
        mint: &mut Mint,
    ) -> Result<Option<Joined>, Refusal> {
        let SessionSnapshot { session, questions, floor } = standing;
        let summary = late::summary(&session, questions.len(), now, mint);
        let mut events: Vec<_> = summary.into_iter().map(Arc::new).collect();
        for question in &questions {
            let token = self.decisions().reply_token(&question.id)?;
            events.push(Arc::new(late::question(question, &session, &token)));
        }
        Ok((!events.is_empty()).then_some(Joined { session: session.key, floor, events }))
    }
}

/// A loaded session, with those of its questions that the person may see.
struct SessionSnapshot {
    session: AaepSession,
    questions: Vec<Decision>,
    floor: Option<i64>,
}

impl SessionSnapshot {
    /// Loaded before its questions: the snapshot covers everything up to here.
    fn own(session: AaepSession) -> Self {
        Self { floor: Some(session.said), session, questions: Vec::new() }
    }

    fn of_another(session: AaepSession) -> Self {
        Self { floor: None, session, questions: Vec::new() }
    }
}
