//! An event that waits, and how a later one is folded into it: nothing that was said is lost, it is said at once (C13).

use crate::aaep::spoken::Spoken;
use countersign_protocol::{
    aaep::{
        event::{Event, OutputStreaming, Payload},
        extension,
    },
    time::UnixMillis,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Longer than this no text of an event should be (AAEP 3.7); in bytes, which are never fewer than characters.
const LONGEST_CHUNK: usize = 16 * 1024;

/// One event, or several that became one.
#[derive(Debug)]
pub(super) struct Held {
    /// The last of them: its id, its place and its words are those of the whole.
    pub(super) last: Arc<Spoken>,
    folded: Folded,
    /// When it may leave, as far as it is for itself to say.
    pub(super) due: UnixMillis,
    /// Text whose phrase is not at its end yet.
    pub(super) is_open: bool,
}

/// What the earlier ones leave behind in the whole.
#[derive(Debug)]
enum Folded {
    Nothing,
    /// Where a chain of states began.
    From(String),
    /// The latest says all.
    Latest,
    Text {
        chunk: String,
        position: i64,
        /// Where the next character would be.
        end: i64,
        complete: bool,
    },
}

impl Held {
    pub(super) fn new(spoken: Arc<Spoken>, due: UnixMillis, is_open: bool) -> Self {
        Self { last: spoken, folded: Folded::Nothing, due, is_open }
    }

    pub(super) fn payload(&self) -> &Payload {
        &self.last.event.payload
    }

    /// Whether it belongs to the same stream of events as the next one, so that one of the two may stand for both.
    pub(super) fn is_of_one_kind_with(&self, next: &Spoken) -> bool {
        match (self.payload(), &next.event.payload) {
            (Payload::StateChanged(_), Payload::StateChanged(_))
            | (Payload::ProgressUpdated(_), Payload::ProgressUpdated(_)) => true,
            (Payload::OutputStreaming(this), Payload::OutputStreaming(next)) => this.output_id == next.output_id,
            _ => false,
        }
    }

    /// Whether the next one of its kind can be folded in without anything getting lost or said of somebody else.
    ///
    /// What carries extensions says more than its kind does, such as what became of a question: it stands for itself.
    /// Whose words it is in says no more, but has to be the same.
    pub(super) fn takes(&self, next: &Self) -> bool {
        let (this, that) = (&self.last.event.envelope, &next.last.event.envelope);
        is_bare(&this.extensions)
            && this.extensions == that.extensions
            && this.producer == that.producer
            && this.urgency == that.urgency
            && match (self.payload(), next.payload()) {
                (Payload::OutputStreaming(one), Payload::OutputStreaming(other)) => self.goes_on(one, next, other),
                _ => self.is_of_one_kind_with(&next.last),
            }
    }

    /// Whether the next piece of text begins where this one ends, is of the same sort, and both fit into one event.
    fn goes_on(&self, this: &OutputStreaming, next: &Self, that: &OutputStreaming) -> bool {
        this.output_id == that.output_id
            && this.content_type == that.content_type
            && this.language == that.language
            && self.end() == next.position()
            && self.text_len() + next.text_len() <= LONGEST_CHUNK
    }

    /// Becomes both. The text waits on if the later piece has not reached its end.
    pub(super) fn fold(&mut self, next: Self) {
        let folded = std::mem::replace(&mut self.folded, Folded::Nothing);
        self.folded = match (folded, &self.last.event.payload) {
            (Folded::Nothing, Payload::StateChanged(state)) => Folded::From(state.from_state.clone()),
            (Folded::Nothing, Payload::OutputStreaming(output)) => joined(text_of(output), &next),
            (text @ Folded::Text { .. }, _) => joined(text, &next),
            (Folded::Nothing, _) => Folded::Latest,
            (folded, _) => folded,
        };
        self.due = if next.is_open { next.due } else { self.due.min(next.due) };
        self.is_open = next.is_open;
        self.last = next.last;
    }

    pub(super) fn end_phrase(&mut self, now: UnixMillis) {
        self.is_open = false;
        self.due = self.due.min(now);
    }

    /// What leaves. What was folded is a new event, so it is stamped now (C12), but never later than what comes after it.
    pub(super) fn release(self, now: UnixMillis, before: Option<UnixMillis>) -> Arc<Spoken> {
        if matches!(self.folded, Folded::Nothing) {
            return self.last;
        }
        let stamp = before.map_or(now, |before| before.min(now)).max(self.last.event.envelope.timestamp);
        let of = |event: &Event| self.folded.patched(event.clone(), stamp);
        // Streamed text is the agent's own; nobody has it in another language.
        let translated = self.last.translations.iter().filter(|_| !matches!(self.folded, Folded::Text { .. }));
        let translations = translated.map(|(tag, event)| (tag.clone(), of(event))).collect();
        Arc::new(Spoken::new(self.last.session, self.last.seq, of(&self.last.event), translations))
    }

    pub(super) fn stamped(&self) -> UnixMillis {
        self.last.event.envelope.timestamp
    }

    pub(super) fn text_len(&self) -> usize {
        match (&self.folded, self.payload()) {
            (Folded::Text { chunk, .. }, _) => chunk.len(),
            (_, Payload::OutputStreaming(output)) => output.chunk.len(),
            _ => 0,
        }
    }

    fn position(&self) -> i64 {
        match (&self.folded, self.payload()) {
            (Folded::Text { position, .. }, _) => *position,
            (_, Payload::OutputStreaming(output)) => output.position,
            _ => 0,
        }
    }

    fn end(&self) -> i64 {
        match (&self.folded, self.payload()) {
            (Folded::Text { end, .. }, _) => *end,
            (_, Payload::OutputStreaming(output)) => end_of(output),
            _ => 0,
        }
    }
}

impl Folded {
    fn patched(&self, mut event: Event, stamp: UnixMillis) -> Event {
        event.envelope.timestamp = stamp;
        match (self, &mut event.payload) {
            (Self::From(state), Payload::StateChanged(payload)) => payload.from_state.clone_from(state),
            (Self::Text { chunk, position, complete, .. }, Payload::OutputStreaming(payload)) => {
                payload.chunk.clone_from(chunk);
                payload.position = *position;
                payload.complete = *complete;
            }
            _ => {}
        }
        event
    }
}

fn text_of(output: &OutputStreaming) -> Folded {
    let OutputStreaming { chunk, position, complete, .. } = output;
    Folded::Text { chunk: chunk.clone(), position: *position, end: end_of(output), complete: *complete }
}

fn joined(text: Folded, next: &Held) -> Folded {
    let Folded::Text { mut chunk, position, complete, .. } = text else { return text };
    let (more, ends) = match (&next.folded, next.payload()) {
        (Folded::Text { chunk, complete, .. }, _) => (chunk.as_str(), *complete),
        (_, Payload::OutputStreaming(output)) => (output.chunk.as_str(), output.complete),
        _ => ("", false),
    };
    chunk.push_str(more);
    Folded::Text { chunk, position, end: next.end(), complete: complete || ends }
}

/// In characters, which are code points (C28).
fn end_of(output: &OutputStreaming) -> i64 {
    output.position.saturating_add(i64::try_from(output.chunk.chars().count()).unwrap_or(i64::MAX))
}

/// Whether extensions say nothing but that the hub itself speaks.
fn is_bare(extensions: &Map<String, Value>) -> bool {
    let by_hub = |ours: &Value| ours.as_object().is_some_and(|ours| ours.keys().all(|name| name == extension::SAID_BY));
    extensions.iter().all(|(prefix, members)| prefix == extension::PREFIX && by_hub(members))
}
