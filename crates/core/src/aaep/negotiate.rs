//! What a producer promises a subscriber: never more than was asked for, and all of it is kept (AAEP 5.4.4).

mod filter;
mod language;
mod terms;

pub use filter::Filter;
pub use language::best_language;
pub use terms::Terms;

use countersign_protocol::aaep::{
    envelope::VERSION,
    extension::{self, PREFIX},
    handshake::{Capabilities, ReasonCode, SubscriptionRejected, SubscriptionRequest},
};

/// The one member of our own extension capability, an object under our prefix: people who need more time say so once, for every question they will be asked (AAEP 6.4.2).
pub const MIN_TIMEOUT: &str = "min_timeout_seconds";

/// What this producer can do for whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub versions: Vec<String>,
    pub levels: Vec<u8>,
    /// The languages of the hub's own words; the first is the one it speaks when nobody asks.
    pub languages: Vec<String>,
    pub extensions: Vec<Extension>,
    /// Faster than this nobody is served.
    pub max_events_per_second: Option<u32>,
    /// No question stays open longer than this, whoever asks.
    pub max_timeout_seconds: u32,
    pub can_sign: bool,
    /// Whether whoever asks may answer questions, or only reads.
    pub may_answer: bool,
    /// Whether there are as many subscriptions as there may be.
    pub is_full: bool,
}

/// A vocabulary beyond the core, and the prefix under which its members stand.
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

/// Why there is no subscription.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("AAEP {asked} is not spoken here; {offered} is")]
    VersionUnsupported { asked: String, offered: String },
    #[error("there are as many subscriptions as there may be; try again later")]
    Full,
    #[error("only signed manifests are accepted by the subscriber, and this producer does not sign its own")]
    ManifestSignatureRequired,
    #[error("two of the extensions that were asked for share the prefix {0}")]
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

    /// The answer on the wire.
    pub fn document(&self, manifest_uri: Option<String>) -> SubscriptionRejected {
        SubscriptionRejected {
            retry_after_seconds: matches!(self, Self::Full).then_some(60),
            alternative_manifest_uri: manifest_uri,
            ..SubscriptionRejected::new(self.code(), self.to_string())
        }
    }
}

/// Answers a request for a subscription.
pub fn negotiate(request: &SubscriptionRequest, offer: &Offer) -> Result<Terms, Rejection> {
    let version = version(&request.aaep_version, &offer.versions)?;
    if offer.is_full {
        return Err(Rejection::Full);
    }
    check(&request.capabilities, offer)?;
    Ok(Terms::promise(version, request.capabilities.clone(), offer))
}

/// Answers a change of terms: what is not named stays as it was asked for, and filters are replaced whole (S13).
pub fn renegotiate(current: &Terms, changed: &Capabilities, offer: &Offer) -> Result<Terms, Rejection> {
    let asked = merged(current.asked.clone(), changed.clone());
    check(&asked, offer)?;
    Ok(Terms::promise(current.version.clone(), asked, offer))
}

/// The newest version that we speak and whoever asked must know: the same, or an older one of the same major (AAEP 12).
fn version(asked: &str, offered: &[String]) -> Result<String, Rejection> {
    let older = |version: &&String| numbers(asked).zip(numbers(version)).is_some_and(|(a, v)| a.0 == v.0 && v <= a);
    let same = offered.iter().find(|version| *version == asked);
    let known = same.or_else(|| offered.iter().filter(older).max_by_key(|version| numbers(version)));
    known.cloned().ok_or_else(|| Rejection::VersionUnsupported { asked: asked.to_owned(), offered: offered.join(", ") })
}

/// A pre-release has none: nothing is known of what came before it.
fn numbers(version: &str) -> Option<(u64, u64, u64)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?))
}

/// What cannot be met by promising less.
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

/// Whoever names no level is at the first (AAEP 5.3.1).
fn levels(asked: &Capabilities) -> &[u8] {
    asked.supported_conformance_levels.as_deref().unwrap_or(&[1])
}

/// The vocabularies that both know.
fn chosen<'o>(asked: &Capabilities, offer: &'o Offer) -> impl Iterator<Item = &'o Extension> {
    let asked = asked.supported_extensions.clone().unwrap_or_default();
    offer.extensions.iter().filter(move |extension| asked.contains(&extension.uri))
}

/// Two vocabularies under one prefix could not be told apart (AAEP 7).
fn shared_prefix<'o>(asked: &Capabilities, offer: &'o Offer) -> Option<&'o str> {
    let mut prefixes: Vec<&str> = chosen(asked, offer).map(|extension| extension.prefix.as_str()).collect();
    prefixes.sort_unstable();
    prefixes.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

/// How long questions are to stay open at least, as it was asked for.
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
