//! The terms of a subscription: as sent to the subscriber, and in the form used for shaping its stream.

use super::{Filter, MIN_TIMEOUT, Offer, best_language, chosen, language::nearest, levels, time_extension};
use crate::aaep::shared_event::Form;
use countersign_protocol::aaep::{
    envelope::{Producer, Verbosity},
    event::Boundary,
    extension::PREFIX,
    handshake::{Capabilities, CognitiveLoad, SubscriptionAccepted},
};
use serde_json::{Map, json};

/// The negotiated terms of a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionTerms {
    pub version: String,
    /// The highest conformance level common to both sides.
    pub level: u8,
    /// Non-critical events per second.
    pub rate: Option<u32>,
    pub filter: Filter,
    /// The finest boundary at which streamed text is sent; with `none` it is never held.
    pub finest: Boundary,
    /// Low cognitive load: short texts, and at most one state or progress event in two seconds.
    pub is_calm: bool,
    pub form: Form,
    pub answers_confirmations: bool,
    pub answers_clarifications: bool,
    /// The least time in seconds that questions to this subscriber stay open (AAEP 6.4.2).
    pub time_extension: Option<u32>,
    /// The capabilities reported to the subscriber.
    pub honored: Capabilities,
    /// The differences between requested and honoured capabilities, as text.
    pub notes: Option<String>,
    pub(super) asked: Capabilities,
}

impl SubscriptionTerms {
    /// For a connection without a subscription request: all events, unfolded and with sequence numbers (C15).
    pub fn implicit(offer: &Offer) -> Self {
        let asked = Capabilities {
            supports_confirmation_reply: Some(true),
            supports_clarification_reply: Some(true),
            coalesce_boundaries: Some(vec![Boundary::None]),
            supported_conformance_levels: Some(offer.levels.clone()),
            ..Capabilities::default()
        };
        Self::grant(offer.versions.first().cloned().unwrap_or_default(), asked, offer)
    }

    /// The requested capabilities; the same terms can be derived from them again.
    pub const fn requested(&self) -> &Capabilities {
        &self.asked
    }

    /// The acceptance on the wire; the caller adds the manifest.
    pub fn accepted(&self, subscription_id: String, producer: Producer) -> SubscriptionAccepted {
        SubscriptionAccepted {
            subscription_id,
            aaep_version: self.version.clone(),
            producer,
            honored_capabilities: self.honored.clone(),
            manifest_uri: None,
            signed_manifest: None,
            negotiation_notes: self.notes.clone(),
        }
    }

    /// Grants the requested capabilities, reduced to the offer and never extended.
    pub(super) fn grant(version: String, asked: Capabilities, offer: &Offer) -> Self {
        let honored = honored(&asked, offer);
        let is_calm = honored.cognitive_load == Some(CognitiveLoad::Low);
        let filter = Filter::new(honored.event_filters.as_ref());
        let finest = finest(honored.coalesce_boundaries.as_deref());
        // A stream with folded, held or omitted events has gaps, so it has no sequence numbers (C14).
        let sequence = honored.max_events_per_second.is_none()
            && filter.passes_everything()
            && finest == Boundary::None
            && !is_calm;
        let form = Form {
            language: language(&asked, offer).map(Into::into),
            verbosity: honored.preferred_verbosity.unwrap_or_default(),
            sequence,
        };
        Self {
            version,
            level: levels(&asked).iter().copied().filter(|level| offer.levels.contains(level)).max().unwrap_or(1),
            rate: honored.max_events_per_second,
            filter,
            finest,
            is_calm,
            form,
            answers_confirmations: honored.supports_confirmation_reply == Some(true),
            answers_clarifications: honored.supports_clarification_reply == Some(true),
            time_extension: granted_time(&asked, offer),
            notes: notes(&asked, &honored, offer),
            honored,
            asked,
        }
    }
}

fn honored(asked: &Capabilities, offer: &Offer) -> Capabilities {
    let served =
        |tags: &Vec<String>| tags.iter().filter(|tag| nearest(tag, &offered(offer)).is_some()).cloned().collect();
    let known = |levels: &Vec<u8>| levels.iter().copied().filter(|level| offer.levels.contains(level)).collect();
    let is_calm = asked.cognitive_load == Some(CognitiveLoad::Low);
    Capabilities {
        max_events_per_second: asked.max_events_per_second.into_iter().chain(offer.max_events_per_second).min(),
        preferred_verbosity: if is_calm { Some(Verbosity::Terse) } else { asked.preferred_verbosity },
        languages: asked.languages.as_ref().map(served).filter(|tags: &Vec<String>| !tags.is_empty()),
        supports_confirmation_reply: asked.supports_confirmation_reply.map(|can| can && offer.may_answer),
        supports_clarification_reply: asked.supports_clarification_reply.map(|can| can && offer.may_answer),
        coalesce_boundaries: asked.coalesce_boundaries.as_deref().map(|ends| coarser(ends, asked.pace_wpm)),
        event_filters: asked.event_filters.clone(),
        supported_conformance_levels: asked.supported_conformance_levels.as_ref().map(known),
        supported_extensions: asked.supported_extensions.as_ref().map(|_| uris(asked, offer)),
        cognitive_load: asked.cognitive_load,
        pace_wpm: asked.pace_wpm,
        accept_signed_manifests_only: asked.accept_signed_manifests_only,
        extensions: granted_time(asked, offer)
            .map(|seconds| Map::from_iter([(PREFIX.to_owned(), json!({ MIN_TIMEOUT: seconds }))]))
            .unwrap_or_default(),
    }
}

fn uris(asked: &Capabilities, offer: &Offer) -> Vec<String> {
    chosen(asked, offer).map(|extension| extension.uri.clone()).collect()
}

fn offered(offer: &Offer) -> Vec<&str> {
    offer.languages.iter().map(String::as_str).collect()
}

/// None without a common language. The subscription still stands: nobody may lose the channel for their confirmation
/// requests over a language (C24).
fn language(asked: &Capabilities, offer: &Offer) -> Option<String> {
    let default = [String::from("en-US")];
    let tags = asked.languages.as_deref().unwrap_or(&default);
    best_language(tags, &offered(offer)).map(str::to_owned)
}

/// A slow listener gets fewer, longer pieces: below 120 words a minute no single words if sentences or paragraphs were
/// requested too, and below 80 no single sentences if paragraphs were.
fn coarser(ends: &[Boundary], pace: Option<u32>) -> Vec<Boundary> {
    let floor = match pace {
        Some(..80) if ends.contains(&Boundary::Paragraph) => Boundary::Paragraph,
        Some(..120) if ends.contains(&Boundary::Sentence) || ends.contains(&Boundary::Paragraph) => Boundary::Sentence,
        _ => Boundary::None,
    };
    ends.iter().copied().filter(|end| *end >= floor).collect()
}

/// The end of a paragraph also ends a sentence and a word, so only the finest requested boundary matters.
fn finest(ends: Option<&[Boundary]>) -> Boundary {
    ends.and_then(|ends| ends.iter().copied().min()).unwrap_or(Boundary::Sentence)
}

fn granted_time(asked: &Capabilities, offer: &Offer) -> Option<u32> {
    time_extension(asked).ok().flatten().map(|seconds| seconds.min(offer.max_timeout_seconds))
}

fn notes(asked: &Capabilities, honored: &Capabilities, offer: &Offer) -> Option<String> {
    let mut notes = Vec::new();
    if honored.max_events_per_second != asked.max_events_per_second {
        notes.extend(honored.max_events_per_second.map(|rate| format!("At most {rate} events a second are sent.")));
    }
    if language(asked, offer).is_none() {
        notes.push(format!("No language is common to both; this producer speaks {}.", offer.languages.join(", ")));
    } else if honored.languages != asked.languages {
        notes.push("Some of the languages are not supported here.".to_owned());
    }
    if honored.preferred_verbosity != asked.preferred_verbosity {
        notes.push("Texts are short because of the requested cognitive load.".to_owned());
    }
    if honored.coalesce_boundaries != asked.coalesce_boundaries {
        notes.push("Output comes in longer pieces because of the requested pace.".to_owned());
    }
    let replies = |of: &Capabilities| (of.supports_confirmation_reply, of.supports_clarification_reply);
    if replies(honored) != replies(asked) {
        notes.push("This subscriber may read, but not answer.".to_owned());
    }
    if granted_time(asked, offer) != time_extension(asked).ok().flatten() {
        notes.push(format!("Questions stay pending for {} seconds at most.", offer.max_timeout_seconds));
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}
