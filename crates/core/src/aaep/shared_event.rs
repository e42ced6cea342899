//! One published event, shared by all subscriptions that receive it.

use countersign_protocol::{
    aaep::{
        envelope::{Urgency, Verbosity},
        event::{Event, Summaries},
    },
    ids::RowKey,
};
use std::sync::{Arc, OnceLock};

/// An event, serialised at most once per form for all subscriptions.
#[derive(Debug)]
pub struct SharedEvent {
    pub session: RowKey,
    /// Its sequence number in its session, from 0.
    pub seq: i64,
    pub event: Arc<Event>,
    /// The same event in the hub's other languages, by tag: only the hub's own texts are translated.
    pub translations: Arc<[(String, Event)]>,
    written: OnceLock<Box<SerializedEvent>>,
}

/// The output form of a subscription's events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The hub's language nearest to the requested one; without one, the original language is used.
    pub language: Option<Arc<str>>,
    pub verbosity: Verbosity,
    /// Whether to include sequence numbers: only if every event of a session is sent (C14).
    pub sequence: bool,
}

/// One serialised form, linked to the forms requested later. There are few: languages × verbosities × 2.
#[derive(Debug)]
struct SerializedEvent {
    form: Key,
    json: Arc<str>,
    next: OnceLock<Box<SerializedEvent>>,
}

/// A form with its language resolved to the index of a translation, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    translation: Option<usize>,
    verbosity: Verbosity,
    sequence: bool,
}

impl SharedEvent {
    pub fn new(
        session: RowKey,
        seq: i64,
        event: impl Into<Arc<Event>>,
        translations: impl Into<Arc<[(String, Event)]>>,
    ) -> Self {
        Self { session, seq, event: event.into(), translations: translations.into(), written: OnceLock::new() }
    }

    /// One line of JSON without any character that a reader could take for a line break.
    pub fn json(&self, form: &Form) -> Arc<str> {
        let key = self.key(form);
        let mut place = &self.written;
        loop {
            let written = place.get_or_init(|| {
                Box::new(SerializedEvent { form: key, json: self.write(key).into(), next: OnceLock::new() })
            });
            if written.form == key {
                return Arc::clone(&written.json);
            }
            place = &written.next;
        }
    }

    /// Whether it bypasses filter and rate limit (AAEP 5.5.4, 5.6.1).
    pub fn is_critical(&self) -> bool {
        self.event.envelope.urgency == Urgency::Critical || self.event.payload.urgency() == Urgency::Critical
    }

    fn key(&self, form: &Form) -> Key {
        let spoken = self.event.envelope.localization_hints.primary_language.as_deref();
        let wanted = form.language.as_deref().filter(|wanted| spoken != Some(*wanted));
        let translation = wanted.and_then(|wanted| self.translations.iter().position(|(tag, _)| tag == wanted));
        Key { translation, verbosity: form.verbosity, sequence: form.sequence }
    }

    fn write(&self, key: Key) -> String {
        let translated = key.translation.and_then(|n| self.translations.get(n)).map(|(_, event)| event);
        let mut event: Event = translated.unwrap_or(&self.event).clone();
        event.envelope.sequence_number = key.sequence.then_some(self.seq);
        if let Some(summaries) = event.payload.summaries_mut() {
            event.envelope.verbosity = Some(keep(summaries, key.verbosity));
        }
        // Every key is a string and every number finite, so this cannot fail.
        escape_line_ends(serde_json::to_string(&event).unwrap_or_default())
    }
}

/// Drops summaries longer than wanted and returns the resulting verbosity. The normal one always stays (AAEP 9.3.1),
/// and so does a detailed one that is the only one.
fn keep(summaries: &mut Summaries, wanted: Verbosity) -> Verbosity {
    if wanted != Verbosity::Detailed && (summaries.normal.is_some() || summaries.terse.is_some()) {
        summaries.detailed = None;
    }
    match wanted {
        Verbosity::Terse if summaries.terse.is_some() => Verbosity::Terse,
        Verbosity::Normal | Verbosity::Terse if summaries.normal.is_some() => Verbosity::Normal,
        _ if summaries.detailed.is_some() => Verbosity::Detailed,
        _ if summaries.normal.is_none() && summaries.terse.is_some() => Verbosity::Terse,
        _ => Verbosity::Normal,
    }
}

/// Some event stream parsers treat these three as line ends and lose the event.
fn escape_line_ends(json: String) -> String {
    const BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];
    if !json.contains(BREAKS) {
        return json;
    }
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests;
