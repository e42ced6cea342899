//! Subscribes to all session events and asserts that each of them is legal (AAEP 4.5).

use crate::{decision_store::Store, decision_world::beside};
use countersign_core::{
    aaep::{
        event_writer::{AWAITING_INPUT, CALLING_TOOL, IDLE, THINKING},
        texts::{LANGUAGES, Notice},
    },
    decision::audience,
    records::{Decision, DecisionState, Defaulted},
    signals::AaepSignal,
};
use countersign_protocol::{
    aaep::{
        check,
        event::{Event, Payload},
    },
    ids::RowKey,
    time::UnixMillis,
};
use std::collections::{BTreeMap, BTreeSet};

/// The events received so far.
#[derive(Default)]
pub(crate) struct Listener {
    heard: usize,
    sessions: BTreeMap<RowKey, Session>,
    event_ids: BTreeSet<String>,
    /// Decisions with a published settlement: by a state change or by the end of the session.
    pub(crate) told: BTreeSet<String>,
}

#[derive(Default)]
struct Session {
    id: String,
    next: i64,
    at: String,
    last: UnixMillis,
    over: bool,
    /// Tool and call id of each invocation that is not completed.
    tools: Vec<(String, Option<String>)>,
    outputs: BTreeMap<Option<String>, (i64, bool)>,
    asked: BTreeSet<String>,
    invoked: BTreeSet<String>,
}

impl Listener {
    /// Receives the events published since the last call.
    pub(crate) fn listen(&mut self, store: &Store) {
        for said in &store.said[self.heard..] {
            self.hear(said, store);
        }
        self.heard = store.said.len();
    }

    /// The time of a session's last event; the next one must not be earlier.
    pub(crate) fn last(&self, session: RowKey) -> UnixMillis {
        self.sessions.get(&session).map_or(UnixMillis(0), |session| session.last)
    }

    fn hear(&mut self, said: &AaepSignal, store: &Store) {
        well_formed(said);
        let AaepSignal { session, event, seq, .. } = said;
        assert!(self.event_ids.insert(event.envelope.event_id.clone()), "an event id was given twice");
        let heard = self.sessions.entry(*session).or_default();
        heard.bracket(event, *seq);
        let decision = beside(event, "decision_id").map(|id| {
            store.decisions().find(|decision| decision.id == id).expect("what is said of a decision comes with it")
        });
        heard.follow(event, decision);
        if let (Some(decision), Some(settled)) = (decision, beside(event, "settled")) {
            settlement(event, decision, settled);
            reaches_all(said, decision);
            assert!(self.told.insert(decision.id.clone()), "{} was told as settled twice", decision.id);
        }
        if event.payload.is_terminal() {
            let open = heard.asked.iter().filter(|id| !self.told.contains(*id));
            let open: Vec<_> = open.map(|id| store.decisions().find(|decision| decision.id == *id).unwrap()).collect();
            open.iter().for_each(|decision| reaches_all(said, decision));
            self.told.extend(open.into_iter().map(|decision| decision.id.clone()));
        }
    }
}

/// The settlement reaches everyone entitled to answer (AAEP 6.7.2).
fn reaches_all(said: &AaepSignal, decision: &Decision) {
    let to = audience(decision);
    let people = to.people.iter().all(|person| said.to.people.contains(person));
    let roles = to.roles.iter().all(|role| said.to.roles.contains(role));
    assert!(people && roles, "not all who could answer {} hear of its end", decision.id);
}

/// Every event is valid AAEP in each of its languages and has the same content in all of them.
fn well_formed(said: &AaepSignal) {
    let original = serde_json::to_value(&said.event).unwrap();
    assert_eq!(check::event(&original), [], "{original}");
    for (language, translated) in said.translations.iter() {
        let value = serde_json::to_value(translated).unwrap();
        assert_eq!(check::event(&value), [], "{value}");
        if value.get("reply_token").is_some() {
            // A question keeps the language of its author; the language of our own texts is given in the extension.
            assert_eq!(value["localization_hints"], original["localization_hints"]);
            assert_eq!(beside(translated, "summary_language"), Some(language.as_str()));
        } else {
            assert_eq!(value["localization_hints"]["primary_language"], language.as_str());
        }
        let same = ["type", "event_id", "timestamp", "sequence_number", "from_state", "to_state", "tool_call_id"];
        for member in same.into_iter().chain(["reply_token", "allowed_replies", "default_decision", "choices"]) {
            assert_eq!(value.get(member), original.get(member), "a translation differs in {member}");
        }
    }
}

impl Session {
    /// `session.started` comes first and once; no holes in the numbering, no decreasing times, nothing after the end.
    fn bracket(&mut self, event: &Event, seq: i64) {
        assert!(!self.over, "something was said after the end: {event:?}");
        assert_eq!((seq, event.envelope.sequence_number), (self.next, Some(self.next)), "a hole in the sequence");
        assert_eq!(matches!(event.payload, Payload::SessionStarted(_)), seq == 0, "started is the first and only that");
        assert!(event.envelope.timestamp >= self.last, "time went backwards");
        if seq == 0 {
            self.id.clone_from(&event.envelope.session_id);
            self.at = IDLE.into();
        }
        assert_eq!(event.envelope.session_id, self.id);
        self.next += 1;
        self.last = event.envelope.timestamp;
        self.over = event.payload.is_terminal();
    }

    fn follow(&mut self, event: &Event, decision: Option<&Decision>) {
        match &event.payload {
            Payload::StateChanged(changed) => {
                assert_eq!(changed.from_state, self.at, "the chain of states is broken: {changed:?}");
                assert_ne!(changed.from_state, changed.to_state);
                self.at.clone_from(&changed.to_state);
            }
            Payload::AwaitingConfirmation(_) | Payload::AwaitingClarification(_) => {
                assert_eq!(self.at, AWAITING_INPUT, "asked without waiting");
                let id = &decision.expect("a question names its decision").id;
                assert!(self.asked.insert(id.clone()), "{id} was asked twice");
            }
            Payload::ToolInvoked(invoked) => {
                if let Some(decision) = decision {
                    self.runs_by_a_yes(decision);
                }
                let call = (invoked.tool.clone(), invoked.tool_call_id.clone());
                assert!(call.1.is_none() || !self.tools.contains(&call), "a call id was used twice");
                self.tools.push(call);
            }
            Payload::ToolCompleted(done) => {
                let fits = |(tool, id): &(String, Option<String>)| match &done.tool_call_id {
                    Some(_) => *id == done.tool_call_id && *tool == done.tool,
                    None => *tool == done.tool,
                };
                let open = self.tools.iter().position(fits).expect("completed what was never invoked");
                self.tools.remove(open);
            }
            Payload::OutputStreaming(chunk) => {
                let (next, complete) = self.outputs.get(&chunk.output_id).copied().unwrap_or_default();
                assert!(!complete && chunk.position == next, "output out of place: {chunk:?}");
                let next = next + i64::try_from(chunk.chunk.chars().count()).unwrap();
                self.outputs.insert(chunk.output_id.clone(), (next, chunk.complete));
            }
            Payload::SessionCompleted(_) => assert!(self.tools.is_empty(), "completed with a tool still running"),
            _ => {}
        }
    }

    /// A tool call is announced once, after the approval was published (AAEP 4.3.1, C6).
    fn runs_by_a_yes(&mut self, decision: &Decision) {
        assert!(is_yes(decision), "{} runs without a yes", decision.id);
        assert!(self.asked.contains(&decision.id), "{} runs where it was not asked", decision.id);
        assert!(self.invoked.insert(decision.id.clone()), "{} was announced twice", decision.id);
    }
}

/// The state change after a settlement states the result and nothing else (AAEP 6.7.2).
fn settlement(event: &Event, decision: &Decision, settled: &str) {
    let Payload::StateChanged(changed) = &event.payload else { panic!("a settlement is told by a change of state") };
    assert_eq!(changed.from_state, AWAITING_INPUT);
    assert_eq!(changed.to_state, if is_yes(decision) { CALLING_TOOL } else { THINKING });
    let word = match &decision.state {
        DecisionState::Pending { .. } => panic!("{} was told as settled and is pending", decision.id),
        DecisionState::Accepted { .. } => "accepted",
        DecisionState::Rejected { .. } => "rejected",
        DecisionState::Answered { .. } => "answered",
        DecisionState::Expired { .. } => "expired",
        DecisionState::Cancelled { .. } => "cancelled",
    };
    assert_eq!(settled, word);
    let rejected = LANGUAGES.map(|language| Some(Notice::Rejected.text(language)));
    let says_rejected = rejected.contains(&changed.summaries.normal);
    assert_eq!(says_rejected, word == "rejected", "{word} is told as {:?}", changed.summaries.normal);
}

pub(crate) fn is_yes(decision: &Decision) -> bool {
    matches!(decision.state, DecisionState::Accepted { .. } | DecisionState::Expired { as_if: Defaulted::Accept, .. })
}
