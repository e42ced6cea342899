//! The pending questions of a person, derived only from events. Pure: events and times in, announcements out.

use super::{
    announcement::{Announcement, AnnouncementKind, AnnouncementText, Ending, SaidBy},
    question::ReceivedQuestion,
    received::{Other, Ours, Received, shown, summary, urgency, visible},
    recent::Recent,
    trust::{EventTrust, Trust},
};
use countersign_protocol::{
    aaep::event::{Event, Payload, StateChanged},
    time::UnixMillis,
};
use std::{collections::BTreeSet, sync::Arc};

/// The number of remembered event ids, so that a resumed stream repeats none as new.
const REMEMBERED: usize = 4 * 1024;
/// How long to wait for the producer's own statement after a deadline.
const GRACE_MS: i64 = 2_000;
/// How long after a new subscription a pending question must have been repeated (S1).
const COMES_AGAIN_MS: i64 = 10_000;

/// The pending questions of one subscriber.
#[derive(Clone, Debug)]
pub struct Inbox {
    trust: Trust,
    open: Vec<InboxQuestion>,
    seen: Recent,
    /// The ids of questions, which no flood of other events evicts.
    asked: Recent,
    /// Questions considered over without a statement of the producer.
    overdue: Recent,
    refused: Recent,
}

#[derive(Clone, Debug)]
struct InboxQuestion {
    question: Arc<ReceivedQuestion>,
    /// Since when it is uncertain whether it is still pending.
    doubted: Option<UnixMillis>,
}

impl Inbox {
    pub fn new(trust: Trust) -> Self {
        let (seen, asked) = (Recent::with_room_for(REMEMBERED), Recent::with_room_for(REMEMBERED));
        Self {
            trust,
            open: Vec::new(),
            seen,
            asked,
            overdue: Recent::with_room_for(256),
            refused: Recent::with_room_for(256),
        }
    }

    /// The pending questions, oldest first.
    pub fn questions(&self) -> impl Iterator<Item = &Arc<ReceivedQuestion>> {
        self.open.iter().map(|open| &open.question)
    }

    /// The pending question with this id: its decision's or its event's.
    pub fn question(&self, id: &str) -> Option<&Arc<ReceivedQuestion>> {
        self.questions().find(|question| question.id() == id || question.event_id() == id)
    }

    /// Applies a received message. A repeated event changes nothing (AAEP 8.2.4).
    pub fn apply(&mut self, received: &Received, now: UnixMillis) -> Vec<Announcement> {
        let mut told = match received {
            Received::Event(event) => self.event(event, now),
            Received::Other(other) => self.other_event(other),
            Received::Closed { .. } => Vec::new(),
        };
        told.extend(self.tick(now));
        told
    }

    /// Applies the passing of time.
    pub fn tick(&mut self, now: UnixMillis) -> Vec<Announcement> {
        let expired = |open: &InboxQuestion| now >= open.question.deadline().plus_millis(GRACE_MS);
        let missed = |open: &InboxQuestion| open.doubted.is_some_and(|since| now >= since.plus_millis(COMES_AGAIN_MS));
        let mut told = self.close(Ending::Expired, SettlementEvent::Nothing, expired);
        told.extend(self.close(Ending::Missed, SettlementEvent::Nothing, missed));
        for over in &told {
            if let Announcement::Over { question, .. } = over {
                self.overdue.is_new(question.event_id());
            }
        }
        told
    }

    /// A new subscription replaced a lost one: pending questions will be repeated, and the rest is over.
    pub fn reset(&mut self, now: UnixMillis) {
        self.open.iter_mut().for_each(|open| open.doubted = Some(now));
    }

    /// Applies the producer's list of pending questions; unlisted ones are over.
    pub fn reconcile(&mut self, listed: &BTreeSet<&str>) -> Vec<Announcement> {
        self.close(Ending::Missed, SettlementEvent::Nothing, |open| {
            open.question.decision_id().is_some_and(|id| !listed.contains(id))
        })
    }

    /// When to call [`Self::tick`] next, if nothing else happens.
    pub fn next_due(&self) -> Option<UnixMillis> {
        let due = |open: &InboxQuestion| {
            let expires = open.question.deadline().plus_millis(GRACE_MS);
            open.doubted.map_or(expires, |since| expires.min(since.plus_millis(COMES_AGAIN_MS)))
        };
        self.open.iter().map(due).min()
    }

    fn event(&mut self, event: &Event, now: UnixMillis) -> Vec<Announcement> {
        let envelope = &event.envelope;
        let standing = self.trust.of_agent(&envelope.producer.agent_id);
        if standing == EventTrust::Refused {
            return self.refuse(&envelope.producer.agent_id);
        }
        let known = standing == EventTrust::Known;
        if let Some(question) = ReceivedQuestion::of(event, known) {
            let first = self.asked.is_new(&envelope.event_id);
            return if first { self.add_question(question) } else { self.repeat_question(question, now) };
        }
        if !self.seen.is_new(&envelope.event_id) {
            return Vec::new();
        }
        let (closed, told) = match &event.payload {
            payload if payload.is_terminal() => self.session_over(event),
            Payload::StateChanged(changed) => self.state_changed(event, changed),
            Payload::ProgressUpdated(progress) => {
                let left = progress.eta_ms.map(|eta| envelope.timestamp.plus_millis(eta));
                return self.update_deadline(event, left).unwrap_or_else(|| announce(event, known));
            }
            _ => (false, Vec::new()),
        };
        if closed { told } else { [told, announce(event, known)].concat() }
    }

    fn other_event(&mut self, other: &Other) -> Vec<Announcement> {
        let standing = self.trust.of_agent(&other.agent_id);
        if standing == EventTrust::Refused {
            return self.refuse(&other.agent_id);
        }
        if !self.seen.is_new(&other.event_id) {
            return Vec::new();
        }
        let Some(text) = other.summary.clone() else { return Vec::new() };
        vec![Announcement::Said(AnnouncementText {
            session_id: other.session_id.clone(),
            agent_id: other.agent_id.clone(),
            known_producer: standing == EventTrust::Known,
            said_by: SaidBy::Agent,
            urgency: other.urgency,
            kind: AnnouncementKind::Message,
            text,
            folded: 0,
        })]
    }

    fn refuse(&mut self, agent_id: &str) -> Vec<Announcement> {
        let first = self.refused.is_new(agent_id);
        first.then(|| Announcement::ProducerRefused { agent_id: agent_id.to_owned() }).into_iter().collect()
    }

    fn add_question(&mut self, question: ReceivedQuestion) -> Vec<Announcement> {
        let question = Arc::new(question);
        self.open.push(InboxQuestion { question: Arc::clone(&question), doubted: None });
        vec![Announcement::Asked(question)]
    }

    /// A repetition after our reconnection (S1): the question is pending, perhaps with a later deadline.
    fn repeat_question(&mut self, again: ReceivedQuestion, now: UnixMillis) -> Vec<Announcement> {
        let deadline = again.deadline();
        if let Some(open) = self.open.iter_mut().find(|open| open.question.event_id() == again.event_id()) {
            open.doubted = None;
            if deadline <= open.question.deadline() {
                return Vec::new();
            }
            Arc::make_mut(&mut open.question).extend_to(deadline);
            return vec![Announcement::MoreTime { question: Arc::clone(&open.question), deadline }];
        }
        if deadline <= now || !self.overdue.forget(again.event_id()) {
            return Vec::new();
        }
        let question = Arc::new(again);
        self.open.push(InboxQuestion { question: Arc::clone(&question), doubted: None });
        vec![Announcement::MoreTime { question, deadline }]
    }

    /// The end of a session ends all of its pending questions (AAEP 6.8).
    fn session_over(&mut self, event: &Event) -> (bool, Vec<Announcement>) {
        let session = event.envelope.session_id.as_str();
        let ending = match event.payload {
            Payload::SessionCancelled(_) => Ending::Withdrawn,
            _ => Ending::SessionOver,
        };
        let told = self.close(ending, SettlementEvent::By(event), |open| open.question.session_id() == session);
        (!told.is_empty() && ending == Ending::Withdrawn, told)
    }

    /// Our own service names the settled decision. Other producers only show that the agent left the state in which it
    /// waits for a person (AAEP 6.7.2, 6.8).
    fn state_changed(&mut self, event: &Event, changed: &StateChanged) -> (bool, Vec<Announcement>) {
        let (session, ours) = (event.envelope.session_id.as_str(), Ours::of(event));
        let told = match (ours.text("decision_id"), ours.text("settled")) {
            (Some(id), Some(settled)) => self.close(Ending::of(settled), SettlementEvent::By(event), |open| {
                open.question.session_id() == session && open.question.decision_id() == Some(id)
            }),
            _ if changed.from_state == "awaiting_input" && changed.to_state != "awaiting_input" => {
                self.close(Ending::Moved, SettlementEvent::By(event), |open| {
                    open.question.session_id() == session && open.question.decision_id().is_none()
                })
            }
            _ => Vec::new(),
        };
        (!told.is_empty(), told)
    }

    /// A countdown or an extension. Without our extension it is ordinary progress.
    fn update_deadline(&mut self, event: &Event, deadline: Option<UnixMillis>) -> Option<Vec<Announcement>> {
        let (id, deadline) = (Ours::of(event).text("decision_id")?, deadline?);
        let session = event.envelope.session_id.as_str();
        let open = self
            .open
            .iter_mut()
            .find(|open| open.question.session_id() == session && open.question.decision_id() == Some(id))?;
        // A countdown is rounded and may have been delayed; only a clearly later deadline is an extension.
        if deadline.millis_since(open.question.deadline()) > 1_000 {
            Arc::make_mut(&mut open.question).extend_to(deadline);
            return Some(vec![Announcement::MoreTime { question: Arc::clone(&open.question), deadline }]);
        }
        let seconds = open.question.seconds_left(event.envelope.timestamp);
        Some(vec![Announcement::TimeLeft { question: Arc::clone(&open.question), seconds }])
    }

    fn close(
        &mut self,
        ending: Ending,
        told: SettlementEvent<'_>,
        which: impl Fn(&InboxQuestion) -> bool,
    ) -> Vec<Announcement> {
        let (words, said_by) = match told {
            SettlementEvent::Nothing => (None, SaidBy::Hub),
            SettlementEvent::By(event) => (summary(&event.payload), Ours::of(event).author()),
        };
        let over =
            |open: InboxQuestion| Announcement::Over { question: open.question, ending, words: words.clone(), said_by };
        self.open.extract_if(.., |open| which(open)).map(over).collect()
    }
}

/// The statement about the end of a question.
enum SettlementEvent<'e> {
    Nothing,
    By(&'e Event),
}

fn announce(event: &Event, known_producer: bool) -> Vec<Announcement> {
    let (kind, text) = match &event.payload {
        Payload::StateChanged(_) => (AnnouncementKind::State, summary(&event.payload)),
        Payload::ProgressUpdated(progress) => {
            let described = || progress.progress.description.as_deref().map(shown);
            (AnnouncementKind::Progress, summary(&event.payload).or_else(described))
        }
        // Not trimmed: the next chunk may continue in the middle of a line.
        Payload::OutputStreaming(chunk) => {
            (AnnouncementKind::Output, Some(visible(&chunk.chunk)).filter(|text| !text.is_empty()))
        }
        payload => (AnnouncementKind::Message, summary(payload)),
    };
    let Some(text) = text else { return Vec::new() };
    vec![Announcement::Said(AnnouncementText {
        session_id: event.envelope.session_id.clone(),
        agent_id: event.envelope.producer.agent_id.clone(),
        known_producer,
        said_by: Ours::of(event).author(),
        urgency: urgency(event),
        kind,
        text,
        folded: 0,
    })]
}

#[cfg(test)]
mod tests;
