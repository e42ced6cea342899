//! Negotiates the terms of a subscription: never more than the subscriber asked for, and all of them are kept (AAEP
//! 5.4.4).

mod filter;
mod language;
mod terms;

pub use filter::Filter;
pub use language::best_language;
pub use terms::SubscriptionTerms;

use countersign_protocol::aaep::{
    envelope::VERSION,
    extension::{self, PREFIX},
    handshake::{Capabilities, ReasonCode, SubscriptionRejected, SubscriptionRequest},
};

/// The only member of our own extension capability, an object under our prefix. People who need more time state it
/// once, for all of their questions (AAEP 6.4.2).
pub const MIN_TIMEOUT: &str = "min_timeout_seconds";

/// The producer's capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub versions: Vec<String>,
    pub levels: Vec<u8>,
    /// The languages of the hub's own texts; the first is the default.
    pub languages: Vec<String>,
    pub extensions: Vec<Extension>,
    /// The highest rate of any subscription.
    pub max_events_per_second: Option<u32>,
    /// The longest time that a question stays open, for any subscriber.
    pub max_timeout_seconds: u32,
    pub can_sign: bool,
    /// Whether the subscriber may answer questions, or only read.
    pub may_answer: bool,
    /// Whether the limit of subscriptions is reached.
    pub is_full: bool,
}

/// A vocabulary beyond the core, and the prefix of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub prefix: String,
    pub uri: String,
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            versions: vec![VERSION.into()],
            levels: vec![1, 2, 3],
            languages: vec!["en".into(), "de".into()],
            extensions: vec![Extension { prefix: PREFIX.into(), uri: extension::CONTEXT.into() }],
            max_events_per_second: None,
            max_timeout_seconds: 86_400,
            can_sign: false,
            may_answer: true,
            is_full: false,
        }
    }
}

/// Why a subscription is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("AAEP {asked} is not supported here; use {offered}")]
    VersionUnsupported { asked: String, offered: String },
    #[error("the limit of subscriptions is reached; try again later")]
    Full,
    #[error("only signed manifests are accepted by the subscriber, and this producer does not sign its own")]
    ManifestSignatureRequired,
    #[error("two of the requested extensions share the prefix {0}")]
    SharedPrefix(String),
    #[error("no conformance level is common to both")]
    NoCommonLevel,
    #[error("the capability {PREFIX} was not understood: {MIN_TIMEOUT} must be an integer from 1 to 86400")]
    BadTimeExtension,
}

impl Rejection {
    pub const fn code(&self) -> ReasonCode {
        match self {
            Self::VersionUnsupported { .. } => ReasonCode::VersionUnsupported,
            Self::Full => ReasonCode::RateLimit,
            Self::ManifestSignatureRequired => ReasonCode::ManifestSignatureRequired,
            Self::SharedPrefix(_) | Self::NoCommonLevel | Self::BadTimeExtension => {
                ReasonCode::CapabilitiesIncompatible
            }
        }
    }

    /// The rejection document on the wire.
    pub fn document(&self, manifest_uri: Option<String>) -> SubscriptionRejected {
        SubscriptionRejected {
            retry_after_seconds: matches!(self, Self::Full).then_some(60),
            alternative_manifest_uri: manifest_uri,
            ..SubscriptionRejected::new(self.code(), self.to_string())
        }
    }
}

/// Answers a subscription request.
pub fn negotiate(request: &SubscriptionRequest, offer: &Offer) -> Result<SubscriptionTerms, Rejection> {
    let version = version(&request.aaep_version, &offer.versions)?;
    if offer.is_full {
        return Err(Rejection::Full);
    }
    check(&request.capabilities, offer)?;
    Ok(SubscriptionTerms::grant(version, request.capabilities.clone(), offer))
}

/// Answers a change of terms: unnamed capabilities keep their requested values, and filters are replaced as a whole
/// (S13).
pub fn renegotiate(
    current: &SubscriptionTerms,
    changed: &Capabilities,
    offer: &Offer,
) -> Result<SubscriptionTerms, Rejection> {
    let asked = merged(current.asked.clone(), changed.clone());
    check(&asked, offer)?;
    Ok(SubscriptionTerms::grant(current.version.clone(), asked, offer))
}

/// The newest version that both sides must know: the same, or an older one of the same major version (AAEP 12).
fn version(asked: &str, offered: &[String]) -> Result<String, Rejection> {
    let older = |version: &&String| numbers(asked).zip(numbers(version)).is_some_and(|(a, v)| a.0 == v.0 && v <= a);
    let same = offered.iter().find(|version| *version == asked);
    let known = same.or_else(|| offered.iter().filter(older).max_by_key(|version| numbers(version)));
    known.cloned().ok_or_else(|| Rejection::VersionUnsupported { asked: asked.to_owned(), offered: offered.join(", ") })
}

/// None for a pre-release: its predecessors are not known.
fn numbers(version: &str) -> Option<(u64, u64, u64)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Rejects requests that cannot be met by promising less.
fn check(asked: &Capabilities, offer: &Offer) -> Result<(), Rejection> {
    if asked.accept_signed_manifests_only == Some(true) && !offer.can_sign {
        return Err(Rejection::ManifestSignatureRequired);
    }
    if !levels(asked).iter().any(|level| offer.levels.contains(level)) {
        return Err(Rejection::NoCommonLevel);
    }
    if let Some(prefix) = shared_prefix(asked, offer) {
        return Err(Rejection::SharedPrefix(prefix.to_owned()));
    }
    time_extension(asked).map(|_| ())
}

/// Without a named level, a subscriber is at level 1 (AAEP 5.3.1).
fn levels(asked: &Capabilities) -> &[u8] {
    asked.supported_conformance_levels.as_deref().unwrap_or(&[1])
}

/// The vocabularies known to both sides.
fn chosen<'o>(asked: &Capabilities, offer: &'o Offer) -> impl Iterator<Item = &'o Extension> {
    let asked = asked.supported_extensions.clone().unwrap_or_default();
    offer.extensions.iter().filter(move |extension| asked.contains(&extension.uri))
}

/// Two vocabularies under one prefix would be indistinguishable (AAEP 7).
fn shared_prefix<'o>(asked: &Capabilities, offer: &'o Offer) -> Option<&'o str> {
    let mut prefixes: Vec<&str> = chosen(asked, offer).map(|extension| extension.prefix.as_str()).collect();
    prefixes.sort_unstable();
    prefixes.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

/// The requested minimum time for questions.
fn time_extension(asked: &Capabilities) -> Result<Option<u32>, Rejection> {
    let Some(value) = asked.extensions.get(PREFIX).and_then(|ours| ours.get(MIN_TIMEOUT)) else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=86_400).contains(seconds));
    seconds.and_then(|seconds| u32::try_from(seconds).ok()).map(Some).ok_or(Rejection::BadTimeExtension)
}

fn merged(before: Capabilities, changed: Capabilities) -> Capabilities {
    let mut extensions = before.extensions;
    extensions.extend(changed.extensions);
    Capabilities {
        max_events_per_second: changed.max_events_per_second.or(before.max_events_per_second),
        preferred_verbosity: changed.preferred_verbosity.or(before.preferred_verbosity),
        languages: changed.languages.or(before.languages),
        supports_confirmation_reply: changed.supports_confirmation_reply.or(before.supports_confirmation_reply),
        supports_clarification_reply: changed.supports_clarification_reply.or(before.supports_clarification_reply),
        coalesce_boundaries: changed.coalesce_boundaries.or(before.coalesce_boundaries),
        event_filters: changed.event_filters.or(before.event_filters),
        supported_conformance_levels: changed.supported_conformance_levels.or(before.supported_conformance_levels),
        supported_extensions: changed.supported_extensions.or(before.supported_extensions),
        cognitive_load: changed.cognitive_load.or(before.cognitive_load),
        pace_wpm: changed.pace_wpm.or(before.pace_wpm),
        accept_signed_manifests_only: changed.accept_signed_manifests_only.or(before.accept_signed_manifests_only),
        extensions,
    }
}

#[cfg(test)]
mod tests;
