//! Event writer: stamps every event of a session and keeps it consistent with the previous one (AAEP 4.5, R-2).

use super::texts::{LANGUAGES, Notice};
use crate::{
    decision::render,
    env::Mint,
    records::{AaepSession, AaepSessionState, Decision, OpenOutput, OpenTool},
    signals::{AaepSignal, Audience, Signal},
};
use countersign_protocol::{
    aaep::{
        envelope::{CONTEXT, EventEnvelope, LocalizationHints, Urgency, VERSION, Verbosity},
        event::{Event, Payload, ProgressUpdated, SessionStarted, StateChanged, Summaries},
        extension::{self, HUB, SAID_BY},
    },
    ids::RowKey,
    time::UnixMillis,
};
use serde_json::{Map, Value};

pub const IDLE: &str = "idle";
pub const AWAITING_INPUT: &str = "awaiting_input";
pub const CALLING_TOOL: &str = "calling_tool";
pub const THINKING: &str = "thinking";
pub const DECIDING: &str = "deciding";

/// Adds events to an AAEP session within one step.
pub struct EventWriter {
    session: AaepSession,
    now: UnixMillis,
    news: Vec<Signal>,
}

/// The envelope members that an agent may set in its own events.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub urgency: Option<Urgency>,
    pub verbosity: Option<Verbosity>,
    pub localization_hints: Option<LocalizationHints>,
    pub correlation_id: Option<String>,
    pub extensions: Map<String, Value>,
    /// Further contexts that declare the prefixes of those extensions.
    pub contexts: Vec<Value>,
}

impl EventWriter {
    /// Continues an existing session, writing its next version.
    pub fn resume(session: &AaepSession, now: UnixMillis) -> Self {
        let session = AaepSession { version: session.version + 1, ..session.clone() };
        Self { session, now, news: Vec::new() }
    }

    /// Opens a session for a question that came without one.
    pub fn open(session: AaepSession, now: UnixMillis, to: &Audience, mint: &mut Mint) -> Self {
        let mut talk = Self { session, now, news: Vec::new() };
        talk.announce(to, mint, Map::new(), |words| {
            let summaries = Summaries::normal(words(&Notice::Asking));
            Payload::SessionStarted(SessionStarted { summaries, ..SessionStarted::default() })
        });
        talk
    }

    pub fn session(&self) -> &AaepSession {
        &self.session
    }

    /// The updated record and the signals to send.
    pub fn finish(self) -> (AaepSession, Vec<Signal>) {
        (self.session, self.news)
    }

    pub fn state(&self) -> &str {
        match &self.session.state {
            AaepSessionState::Open { at, .. } => at,
            AaepSessionState::Over { .. } => IDLE,
        }
    }

    pub fn is_ended(&self) -> bool {
        matches!(self.session.state, AaepSessionState::Over { .. })
    }

    /// The pending questions of the session.
    pub fn pending(&self) -> &[RowKey] {
        match &self.session.state {
            AaepSessionState::Open { waiting, .. } => waiting,
            AaepSessionState::Over { .. } => &[],
        }
    }

    pub fn add_pending(&mut self, decision: RowKey) {
        if let AaepSessionState::Open { waiting, .. } = &mut self.session.state {
            waiting.push(decision);
        }
    }

    pub fn remove_pending(&mut self, decision: RowKey) {
        if let AaepSessionState::Open { waiting, .. } = &mut self.session.state {
            waiting.retain(|key| *key != decision);
        }
    }

    /// Adds an event of the agent, in its own language.
    pub fn publish(&mut self, to: &Audience, mint: &mut Mint, payload: Payload, chosen: Chosen, id: Option<String>) {
        let event_id = id.unwrap_or_else(|| mint.id("evt"));
        let event = self.event(event_id, payload, chosen);
        self.push(to, event, Vec::new());
    }

    /// Adds a question to a person: the requester's texts, with the hub's own texts in each of its languages.
    pub fn publish_question(
        &mut self,
        to: &Audience,
        decision: &Decision,
        reply_token: &str,
        correlation_id: Option<&String>,
    ) {
        let said = |language: &str| {
            let payload = render::payload(decision, reply_token, language);
            let chosen = render::chosen(decision, correlation_id.cloned(), language);
            self.event(decision.event_id.clone(), payload, chosen)
        };
        let first = said(render::own_language(decision));
        let others = render::other_languages(decision).map(|language| (language.to_owned(), said(language))).collect();
        self.push(to, first, others);
    }

    /// Adds an event of the hub, in each of its languages.
    pub fn announce(
        &mut self,
        to: &Audience,
        mint: &mut Mint,
        extension: Map<String, Value>,
        payload: impl Fn(&dyn Fn(&Notice) -> String) -> Payload,
    ) {
        let event_id = mint.id("evt");
        let mut extension = extension;
        extension.insert(SAID_BY.into(), HUB.into());
        let mut said = LANGUAGES.iter().map(|language| {
            let words = |notice: &Notice| notice.text(language);
            let chosen =
                Chosen { localization_hints: Some(hints(language)), ..Chosen::with_extension(extension.clone()) };
            ((*language).to_owned(), self.event(event_id.clone(), payload(&words), chosen))
        });
        let Some((_, first)) = said.next() else { return };
        let translations = said.collect();
        self.push(to, first, translations);
    }

    /// Changes the state. Adds no event if the state is the same.
    pub fn set_state(
        &mut self,
        to: &Audience,
        mint: &mut Mint,
        next: &str,
        notice: &Notice,
        extension: Map<String, Value>,
    ) {
        let from = self.state().to_owned();
        if from == next {
            return;
        }
        self.announce(to, mint, extension, |words| {
            Payload::StateChanged(StateChanged {
                from_state: from.clone(),
                to_state: next.to_owned(),
                summaries: Summaries::normal(words(notice)),
                expected_duration_ms: None,
            })
        });
    }

    /// Announces the remaining time (AAEP 6.4.3).
    pub fn announce_time_left(
        &mut self,
        to: &Audience,
        mint: &mut Mint,
        notice: &Notice,
        percent_over: i64,
        left_ms: i64,
        extension: Map<String, Value>,
    ) {
        self.announce(to, mint, extension, |words| {
            let progress = countersign_protocol::aaep::event::Progress {
                percent: Some(percent_over.clamp(0, 100).into()),
                description: Some(words(notice)),
                ..Default::default()
            };
            Payload::ProgressUpdated(ProgressUpdated {
                progress,
                summaries: Summaries::normal(words(notice)),
                eta_ms: Some(left_ms.clamp(0, 86_400_000)),
            })
        });
    }

    fn event(&self, event_id: String, payload: Payload, chosen: Chosen) -> Event {
        stamp(&self.session, event_id, self.now.max(self.session.last_at), payload, chosen)
    }

    fn push(&mut self, to: &Audience, event: Event, translations: Vec<(String, Event)>) {
        // Only the hub translates.
        self.remember(&event.payload, !translations.is_empty());
        self.session.last_at = event.envelope.timestamp;
        let (project, session, seq) = (self.session.project, self.session.key, self.session.said);
        self.session.said += 1;
        let (to, event, translations) = (to.clone(), event.into(), translations.into());
        self.news.push(Signal::Said(Box::new(AaepSignal { project, session, seq, to, event, translations })));
    }

    /// Whether an announced tool call is still running.
    pub fn calls_tools(&self) -> bool {
        matches!(&self.session.state, AaepSessionState::Open { tools, .. } if !tools.is_empty())
    }

    /// Whether a tool call was announced and has not been completed.
    pub fn tool_is_open(&self, call_id: &str) -> bool {
        match &self.session.state {
            AaepSessionState::Open { tools, .. } => tools.iter().any(|tool| tool.call_id.as_deref() == Some(call_id)),
            AaepSessionState::Over { .. } => false,
        }
    }

    fn remember(&mut self, payload: &Payload, ours: bool) {
        if payload.is_terminal() {
            self.session.state = AaepSessionState::Over { at: self.now };
        }
        let AaepSessionState::Open { at, tools, outputs, .. } = &mut self.session.state else { return };
        match payload {
            Payload::StateChanged(changed) => at.clone_from(&changed.to_state),
            Payload::ToolInvoked(invoked) => {
                let claimed = ours;
                let (tool, call_id) = (invoked.tool.clone(), invoked.tool_call_id.clone());
                tools.push(OpenTool { tool, call_id, claimed });
            }
            Payload::ToolCompleted(done) => {
                let fits = |open: &OpenTool| match &done.tool_call_id {
                    Some(id) => open.call_id.as_ref() == Some(id),
                    None => open.tool == done.tool,
                };
                if let Some(found) = tools.iter().position(fits) {
                    tools.remove(found);
                }
            }
            Payload::OutputStreaming(chunk) => {
                let next = chunk.position + i64::try_from(chunk.chunk.chars().count()).unwrap_or(i64::MAX);
                let output = OpenOutput { id: chunk.output_id.clone(), next, complete: chunk.complete };
                outputs.retain(|open| open.id != output.id);
                outputs.push(output);
            }
            _ => {}
        }
    }
}

/// An event of a session. Producer, time and id are set by the hub.
pub fn stamp(session: &AaepSession, event_id: String, at: UnixMillis, payload: Payload, chosen: Chosen) -> Event {
    let Chosen { urgency, verbosity, localization_hints, correlation_id, extensions, contexts } = chosen;
    let context = match contexts.is_empty() {
        true => CONTEXT.into(),
        false => Value::Array([vec![Value::from(CONTEXT)], contexts].concat()),
    };
    let envelope = EventEnvelope {
        context,
        event_id,
        session_id: session.id.clone(),
        timestamp: at,
        producer: session.producer.clone(),
        aaep_version: VERSION.into(),
        sequence_number: Some(session.said),
        verbosity,
        urgency: urgency.filter(|_| payload.urgency() != Urgency::Critical).unwrap_or(payload.urgency()),
        localization_hints: with_language(localization_hints, &session.language),
        correlation_id,
        extensions,
    };
    Event { envelope, payload }
}

impl Chosen {
    /// An event with members of our extension.
    pub fn with_extension(members: Map<String, Value>) -> Self {
        if members.is_empty() {
            return Self::default();
        }
        let mut extensions = Map::new();
        extensions.insert(extension::PREFIX.into(), Value::Object(members));
        Self { extensions, contexts: vec![extension::CONTEXT.into()], ..Self::default() }
    }
}

fn hints(language: &str) -> LocalizationHints {
    LocalizationHints::of(language)
}

/// Events with text always name its language (C8).
fn with_language(hints: Option<LocalizationHints>, language: &str) -> LocalizationHints {
    let mut hints = hints.unwrap_or_else(|| LocalizationHints::of(language));
    hints.primary_language.get_or_insert_with(|| language.to_owned());
    hints
}
