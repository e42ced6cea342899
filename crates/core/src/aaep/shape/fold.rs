//! Held events and folding a later event into an earlier one: no content is lost, it is sent in one event (C13).

use crate::aaep::shared_event::SharedEvent;
use countersign_protocol::{
    aaep::{
        event::{Event, OutputStreaming, Payload},
        extension,
    },
    time::UnixMillis,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The longest text of an event (AAEP 3.7), in bytes, which are never fewer than characters.
const LONGEST_CHUNK: usize = 16 * 1024;

/// One event, or several folded into one.
#[derive(Debug)]
pub(super) struct FoldedEvent {
    /// The last of them; the folded event has its id, its position and its summaries.
    pub(super) last: Arc<SharedEvent>,
    folded: Folded,
    /// When it may be sent, apart from the limits of the subscription.
    pub(super) due: UnixMillis,
    /// Text before the boundary that the subscriber wants.
    pub(super) is_open: bool,
}

/// The part of the earlier events that the folded event keeps.
#[derive(Debug)]
enum Folded {
    Nothing,
    /// The first state of a chain.
    From(String),
    /// The latest event says everything.
    Latest,
    Text {
        chunk: String,
        position: i64,
        /// The position of the next character.
        end: i64,
        complete: bool,
    },
}

impl FoldedEvent {
    pub(super) fn new(spoken: Arc<SharedEvent>, due: UnixMillis, is_open: bool) -> Self {
        Self { last: spoken, folded: Folded::Nothing, due, is_open }
    }

    pub(super) fn payload(&self) -> &Payload {
        &self.last.event.payload
    }

    /// Whether both belong to the same series of events, so that one may replace the other.
    pub(super) fn is_of_one_kind_with(&self, next: &SharedEvent) -> bool {
        match (self.payload(), &next.event.payload) {
            (Payload::StateChanged(_), Payload::StateChanged(_))
            | (Payload::ProgressUpdated(_), Payload::ProgressUpdated(_)) => true,
            (Payload::OutputStreaming(this), Payload::OutputStreaming(next)) => this.output_id == next.output_id,
            _ => false,
        }
    }

    /// Whether the next event can be folded in without losing content or mixing speakers.
    ///
    /// An event with extensions carries more than its type, such as the outcome of a question, so it is never folded.
    /// The extension naming the speaker carries no content, but must be equal.
    pub(super) fn can_fold(&self, next: &Self) -> bool {
        let (this, that) = (&self.last.event.envelope, &next.last.event.envelope);
        is_bare(&this.extensions)
            && this.extensions == that.extensions
            && this.producer == that.producer
            && this.urgency == that.urgency
            && match (self.payload(), next.payload()) {
                (Payload::OutputStreaming(one), Payload::OutputStreaming(other)) => {
                    self.continues_text(one, next, other)
                }
                _ => self.is_of_one_kind_with(&next.last),
            }
    }

    /// Whether the next piece continues this text, has the same type and language, and fits into the same event.
    fn continues_text(&self, this: &OutputStreaming, next: &Self, that: &OutputStreaming) -> bool {
        this.output_id == that.output_id
            && this.content_type == that.content_type
            && this.language == that.language
            && self.end() == next.position()
            && self.text_len() + next.text_len() <= LONGEST_CHUNK
    }

    /// Folds the next event into this one. The text stays held if the later piece is before its boundary.
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

    /// The event to send. A folded event is new, so it is stamped now (C12), but never later than its successor.
    pub(super) fn release(self, now: UnixMillis, before: Option<UnixMillis>) -> Arc<SharedEvent> {
        if matches!(self.folded, Folded::Nothing) {
            return self.last;
        }
        let stamp = before.map_or(now, |before| before.min(now)).max(self.last.event.envelope.timestamp);
        let of = |event: &Event| self.folded.patched(event.clone(), stamp);
        // Streamed text is the agent's own and has no translations.
        let translated = self.last.translations.iter().filter(|_| !matches!(self.folded, Folded::Text { .. }));
        let translations: Vec<_> = translated.map(|(tag, event)| (tag.clone(), of(event))).collect();
        Arc::new(SharedEvent::new(self.last.session, self.last.seq, of(&self.last.event), translations))
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

fn joined(text: Folded, next: &FoldedEvent) -> Folded {
    let Folded::Text { mut chunk, position, complete, .. } = text else { return text };
    let (more, ends) = match (&next.folded, next.payload()) {
        (Folded::Text { chunk, complete, .. }, _) => (chunk.as_str(), *complete),
        (_, Payload::OutputStreaming(output)) => (output.chunk.as_str(), output.complete),
        _ => ("", false),
    };
    chunk.push_str(more);
    Folded::Text { chunk, position, end: next.end(), complete: complete || ends }
}

/// In characters, meaning code points (C28).
fn end_of(output: &OutputStreaming) -> i64 {
    output.position.saturating_add(i64::try_from(output.chunk.chars().count()).unwrap_or(i64::MAX))
}

/// Whether the extensions only name the hub as speaker.
fn is_bare(extensions: &Map<String, Value>) -> bool {
    let by_hub = |ours: &Value| ours.as_object().is_some_and(|ours| ours.keys().all(|name| name == extension::SAID_BY));
    extensions.iter().all(|(prefix, members)| prefix == extension::PREFIX && by_hub(members))
}
