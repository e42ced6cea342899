//! Sessions that emit valid event sequences for tests.

use crate::aaep::{
    negotiate::{Offer, SubscriptionTerms, negotiate},
    shape::Shaper,
    shared_event::SharedEvent,
};
use countersign_protocol::{
    aaep::{
        envelope::{CONTEXT, EventEnvelope, LocalizationHints, Producer, VERSION},
        event::*,
        handshake::{Capabilities, SubscriptionRequest},
    },
    ids::RowKey,
    time::UnixMillis,
};
use serde_json::Map;
use std::{collections::BTreeMap, sync::Arc};

pub(crate) const START: UnixMillis = UnixMillis::from_secs(1_800_000_000);

pub(crate) fn at(millis: i64) -> UnixMillis {
    START.plus_millis(millis)
}

pub(crate) fn terms(capabilities: Capabilities) -> Arc<SubscriptionTerms> {
    let request = SubscriptionRequest {
        aaep_version: VERSION.into(),
        subscriber_id: "listener".into(),
        capabilities,
        ..SubscriptionRequest::default()
    };
    Arc::new(negotiate(&request, &Offer::default()).unwrap())
}

pub(crate) fn event(session: RowKey, seq: i64, now: UnixMillis, payload: Payload) -> Event {
    let envelope = EventEnvelope {
        context: CONTEXT.into(),
        event_id: format!("evt_{session}x{seq}"),
        session_id: format!("sess_{session}"),
        timestamp: now,
        producer: Producer {
            agent_id: "agent".into(),
            agent_version: None,
            agent_name: None,
            model: None,
            manifest_uri: None,
        },
        aaep_version: VERSION.into(),
        sequence_number: Some(seq),
        verbosity: None,
        urgency: payload.urgency(),
        localization_hints: LocalizationHints::of("en"),
        correlation_id: None,
        extensions: Map::new(),
    };
    Event { envelope, payload }
}

/// Emits events in several sessions: sequence numbers, states and positions follow the previous events.
#[derive(Default)]
pub(crate) struct Speaker {
    seqs: BTreeMap<RowKey, i64>,
    states: BTreeMap<RowKey, String>,
    ends: BTreeMap<(RowKey, u8), i64>,
}

impl Speaker {
    pub(crate) fn say(&mut self, session: RowKey, now: UnixMillis, payload: Payload) -> Arc<SharedEvent> {
        let seq = self.seqs.entry(session).or_insert(-1);
        *seq += 1;
        Arc::new(SharedEvent::new(session, *seq, event(session, *seq, now, payload), Vec::new()))
    }

    pub(crate) fn state(&mut self, session: RowKey, now: UnixMillis, to: &str) -> Arc<SharedEvent> {
        let before = self.states.insert(session, to.into()).unwrap_or_else(|| "idle".into());
        let changed = StateChanged { from_state: before, to_state: to.into(), ..StateChanged::default() };
        self.say(session, now, Payload::StateChanged(changed))
    }

    pub(crate) fn progress(&mut self, session: RowKey, now: UnixMillis, percent: u8) -> Arc<SharedEvent> {
        let progress = Progress { percent: Some(percent.into()), ..Progress::default() };
        self.say(session, now, Payload::ProgressUpdated(ProgressUpdated { progress, ..ProgressUpdated::default() }))
    }

    pub(crate) fn text(
        &mut self,
        session: RowKey,
        now: UnixMillis,
        output: u8,
        chunk: &str,
        hint: Option<Boundary>,
        complete: bool,
    ) -> Arc<SharedEvent> {
        let end = self.ends.entry((session, output)).or_default();
        let position = *end;
        *end += i64::try_from(chunk.chars().count()).unwrap();
        let output = OutputStreaming {
            chunk: chunk.into(),
            position,
            complete,
            coalesce_hint: hint,
            output_id: Some(format!("out_{output}")),
            ..OutputStreaming::default()
        };
        self.say(session, now, Payload::OutputStreaming(output))
    }

    pub(crate) fn tool(&mut self, session: RowKey, now: UnixMillis, tool: &str) -> Arc<SharedEvent> {
        let summaries = Summaries::normal("looks something up");
        self.say(
            session,
            now,
            Payload::ToolInvoked(ToolInvoked { tool: tool.into(), summaries, ..ToolInvoked::default() }),
        )
    }

    pub(crate) fn question(&mut self, session: RowKey, now: UnixMillis) -> Arc<SharedEvent> {
        let asked = AwaitingConfirmation {
            action: "pay".into(),
            consequence: "money leaves".into(),
            reply_token: "rpl_1".into(),
            timeout_seconds: 60,
            default_decision: YesNo::Reject,
            summaries: Summaries::default(),
            risk_level: None,
            irreversible: None,
            reversibility: None,
            allowed_replies: None,
            extra_context: None,
        };
        self.say(session, now, Payload::AwaitingConfirmation(asked))
    }

    pub(crate) fn completed(&mut self, session: RowKey, now: UnixMillis) -> Arc<SharedEvent> {
        let completed = SessionCompleted { summaries: Summaries::normal("done"), ..SessionCompleted::default() };
        self.say(session, now, Payload::SessionCompleted(completed))
    }
}

/// A shaper with the current time, and all sent events with their sending times.
pub(crate) struct Listener {
    pub(crate) shaper: Shaper,
    pub(crate) now: UnixMillis,
    pub(crate) heard: Vec<(UnixMillis, Arc<SharedEvent>)>,
}

impl Listener {
    pub(crate) fn new(capabilities: Capabilities) -> Self {
        Self { shaper: Shaper::new(terms(capabilities), START), now: START, heard: Vec::new() }
    }

    /// The events sent at once because of this event.
    pub(crate) fn hears(&mut self, spoken: &Arc<SharedEvent>) -> Vec<Arc<SharedEvent>> {
        let mut out = Vec::new();
        self.shaper.push(spoken, self.now, &mut out);
        self.heard.extend(out.iter().map(|spoken| (self.now, Arc::clone(spoken))));
        out
    }

    /// Advances time, pulling whenever the shaper is due.
    pub(crate) fn until(&mut self, end: UnixMillis) -> Vec<Arc<SharedEvent>> {
        let before = self.heard.len();
        while let Some(due) = self.shaper.next_due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            let mut out = Vec::new();
            self.shaper.pull(self.now, &mut out);
            assert!(!out.is_empty(), "it woke up for nothing at {:?}", self.now);
            self.heard.extend(out.into_iter().map(|spoken| (self.now, spoken)));
        }
        self.now = self.now.max(end);
        self.heard[before..].iter().map(|(_, spoken)| Arc::clone(spoken)).collect()
    }
}

pub(crate) fn chunk(spoken: &SharedEvent) -> &OutputStreaming {
    match &spoken.event.payload {
        Payload::OutputStreaming(output) => output,
        other => panic!("not text but {}", other.type_name()),
    }
}

pub(crate) fn states(spoken: &SharedEvent) -> (&str, &str) {
    match &spoken.event.payload {
        Payload::StateChanged(state) => (&state.from_state, &state.to_state),
        other => panic!("not a state but {}", other.type_name()),
    }
}

pub(crate) fn seqs(heard: &[Arc<SharedEvent>]) -> Vec<i64> {
    heard.iter().map(|spoken| spoken.seq).collect()
}
