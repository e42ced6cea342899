//! The terms of a subscription: what is told to the subscriber, and the same in the form in which its stream is shaped.

use super::{Filter, MIN_TIMEOUT, Offer, best_language, chosen, language::serving, levels, time_extension};
use crate::aaep::spoken::Form;
use countersign_protocol::aaep::{
    envelope::{Producer, Verbosity},
    event::Boundary,
    extension::PREFIX,
    handshake::{Capabilities, CognitiveLoad, SubscriptionAccepted},
};
use serde_json::{Map, json};

/// What a subscription was promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    pub version: String,
    /// The highest conformance level that both know.
    pub level: u8,
    /// Non-critical events a second.
    pub rate: Option<u32>,
    pub filter: Filter,
    /// The finest end at which streamed text leaves: with `none` it never waits.
    pub finest: Boundary,
    /// Little at a time: short texts, and at most one state or progress in two seconds.
    pub is_calm: bool,
    pub form: Form,
    pub answers_confirmations: bool,
    pub answers_clarifications: bool,
    /// Questions to this subscriber stay open at least so many seconds (AAEP 6.4.2).
    pub time_extension: Option<u32>,
    /// What the subscriber is told.
    pub honored: Capabilities,
    /// Where it got less than it asked for, in words.
    pub notes: Option<String>,
    pub(super) asked: Capabilities,
}

impl Terms {
    /// For a connection that never asked: everything, as it was said, and counted (C15).
    pub fn implicit(offer: &Offer) -> Self {
        let asked = Capabilities {
            supports_confirmation_reply: Some(true),
            supports_clarification_reply: Some(true),
            coalesce_boundaries: Some(vec![Boundary::None]),
            supported_conformance_levels: Some(offer.levels.clone()),
            ..Capabilities::default()
        };
        Self::promise(offer.versions.first().cloned().unwrap_or_default(), asked, offer)
    }

    /// What was asked for. The same terms follow from it again.
    pub const fn asked(&self) -> &Capabilities {
        &self.asked
    }

    /// The answer on the wire; whoever sends it adds the manifest.
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

    /// Less than was asked for where we can do less, and never more.
    pub(super) fn promise(version: String, asked: Capabilities, offer: &Offer) -> Self {
        let honored = honored(&asked, offer);
        let is_calm = honored.cognitive_load == Some(CognitiveLoad::Low);
        let filter = Filter::new(honored.event_filters.as_ref());
        let finest = finest(honored.coalesce_boundaries.as_deref());
        // What is folded, held back or left out makes holes, so such a stream is not counted (C14).
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
        |tags: &Vec<String>| tags.iter().filter(|tag| serving(tag, &offered(offer)).is_some()).cloned().collect();
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

/// Nothing where there is no common language: the subscription stands all the same, since nobody may lose the channel
/// on which they are asked over a language (C24).
fn language(asked: &Capabilities, offer: &Offer) -> Option<String> {
    let default = [String::from("en-US")];
    let tags = asked.languages.as_deref().unwrap_or(&default);
    best_language(tags, &offered(offer)).map(str::to_owned)
}

/// Whoever listens slowly is better off with fewer, longer pieces: below 120 words a minute single words are not sent
/// where sentences or paragraphs were asked for too, and below 80 not single sentences where paragraphs were.
fn coarser(ends: &[Boundary], pace: Option<u32>) -> Vec<Boundary> {
    let floor = match pace {
        Some(..80) if ends.contains(&Boundary::Paragraph) => Boundary::Paragraph,
        Some(..120) if ends.contains(&Boundary::Sentence) || ends.contains(&Boundary::Paragraph) => Boundary::Sentence,
        _ => Boundary::None,
    };
    ends.iter().copied().filter(|end| *end >= floor).collect()
}

/// A paragraph's end is a sentence's and a word's end too, so only the finest that was asked for matters.
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
        notes.push("Some of the languages are not spoken here.".to_owned());
    }
    if honored.preferred_verbosity != asked.preferred_verbosity {
        notes.push("Texts are short because of the cognitive load that was asked for.".to_owned());
    }
    if honored.coalesce_boundaries != asked.coalesce_boundaries {
        notes.push("Output comes in longer pieces because of the pace that was asked for.".to_owned());
    }
    let replies = |of: &Capabilities| (of.supports_confirmation_reply, of.supports_clarification_reply);
    if replies(honored) != replies(asked) {
        notes.push("Whoever asked may read here and not answer.".to_owned());
    }
    if granted_time(asked, offer) != time_extension(asked).ok().flatten() {
        notes.push(format!("Questions stay open for {} seconds at most.", offer.max_timeout_seconds));
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}
