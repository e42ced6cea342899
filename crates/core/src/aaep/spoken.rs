//! One event as it was said, shared by every subscription that hears it.

use countersign_protocol::{
    aaep::{
        envelope::{Urgency, Verbosity},
        event::{Event, Summaries},
    },
    ids::RowKey,
};
use std::sync::{Arc, OnceLock};

/// An event, serialised at most once a form however many subscriptions want it.
#[derive(Debug)]
pub struct Spoken {
    pub session: RowKey,
    /// Its place in its session; the first has 0.
    pub seq: i64,
    pub event: Event,
    /// The same event in other languages that the hub itself speaks, by tag: only the hub's own words are translated.
    pub translations: Vec<(String, Event)>,
    written: OnceLock<Box<Written>>,
}

/// How a subscription wants its events written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The hub's language nearest to what was asked for; nothing where there is none: then it is as it was said.
    pub language: Option<Arc<str>>,
    pub verbosity: Verbosity,
    /// Whether to count: only where every event of a session is shown (C14).
    pub sequence: bool,
}

/// One form as text, and whatever forms were asked for after it. There are few: languages × verbosities × 2.
#[derive(Debug)]
struct Written {
    form: Key,
    json: Arc<str>,
    next: OnceLock<Box<Written>>,
}

/// Form with its language resolved: the index of a translation, if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    translation: Option<usize>,
    verbosity: Verbosity,
    sequence: bool,
}

impl Spoken {
    pub fn new(session: RowKey, seq: i64, event: Event, translations: Vec<(String, Event)>) -> Self {
        Self { session, seq, event, translations, written: OnceLock::new() }
    }

    /// One line of JSON that no reader of lines will cut.
    pub fn json(&self, form: &Form) -> Arc<str> {
        let key = self.key(form);
        let mut place = &self.written;
        loop {
            let written = place
                .get_or_init(|| Box::new(Written { form: key, json: self.write(key).into(), next: OnceLock::new() }));
            if written.form == key {
                return Arc::clone(&written.json);
            }
            place = &written.next;
        }
    }

    /// Whether nothing may hold it up: neither filter nor rate (AAEP 5.5.4, 5.6.1).
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
        let mut event = translated.unwrap_or(&self.event).clone();
        event.envelope.sequence_number = key.sequence.then_some(self.seq);
        if let Some(summaries) = event.payload.summaries_mut() {
            event.envelope.verbosity = Some(keep(summaries, key.verbosity));
        }
        // Every key is a string and every number finite, so this cannot fail.
        unbroken(serde_json::to_string(&event).unwrap_or_default())
    }
}

/// Leaves out what is longer than wanted, and says which length it has now. The normal one always stays (AAEP 9.3.1),
/// and so does a detailed one that is all there is.
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

/// Some readers of event streams take these three for ends of lines, and the event vanishes.
fn unbroken(json: String) -> String {
    const BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];
    if !json.contains(BREAKS) {
        return json;
    }
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests;
