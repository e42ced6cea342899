//! Trust in producers: the known ones and the handling of all others (AAEP 6.9); and, on demand, proof of a producer's
//! identity (AAEP 5.10) by a manifest signed with a key of its own origin, or with one that the person pinned.

use super::link::Link;
use crate::transport::Unreachable;
use countersign_jose::{KeyPolicy, KeySet, KeySetRefusal, ManifestRefusal, verify_manifest};
use countersign_protocol::aaep::{handshake::SubscriptionAccepted, manifest::Manifest};

/// The path of a service's published keys.
const KEYS: &str = "/.well-known/agent-jwks.json";

/// A person's settings for producers. By default every producer that the connected service admits is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The `agent_id`s that the person knows; none means all.
    pub known: Option<Vec<String>>,
    pub unknown: UnknownProducers,
}

/// The handling of an unknown producer's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownProducers {
    /// Shown, and always marked.
    #[default]
    ShowMarked,
    /// Neither shown nor answerable; their existence is announced once.
    Refuse,
}

/// The verdict on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventTrust {
    Known,
    Marked,
    Refused,
}

impl Trust {
    pub(super) fn of_agent(&self, agent_id: &str) -> EventTrust {
        let known = self.known.as_ref().is_none_or(|all| all.iter().any(|known| known == agent_id));
        match (known, self.unknown) {
            (true, _) => EventTrust::Known,
            (false, UnknownProducers::ShowMarked) => EventTrust::Marked,
            (false, UnknownProducers::Refuse) => EventTrust::Refused,
        }
    }
}

/// A person's requirement for a producer's manifest.
#[derive(Clone, Debug, Default)]
pub enum Manifests {
    /// Signed or not: the address and its certificate are enough.
    #[default]
    Any,
    SignedOnly(ManifestKeys),
}

/// The accepted signing keys.
#[derive(Clone, Debug)]
pub enum ManifestKeys {
    /// The keys that the producer's own origin publishes.
    Published,
    Pinned(KeySet),
}

impl ManifestKeys {
    /// The keys of a JWK set kept by the person.
    pub fn pinned(jwks: &[u8]) -> Result<Self, KeySetRefusal> {
        KeySet::parse(jwks, &KeyPolicy::default()).map(Self::Pinned)
    }
}

/// Why a producer's identity is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotProven {
    #[error("it gave no signed manifest")]
    NotSigned,
    #[error("its keys could not be fetched ({0})")]
    NoKeys(#[from] Unreachable),
    #[error("its keys could not be fetched (status {0})")]
    KeysRefused(u16),
    #[error(transparent)]
    BadKeys(#[from] KeySetRefusal),
    #[error(transparent)]
    BadManifest(#[from] ManifestRefusal),
    #[error("its manifest is of another producer")]
    OtherProducer,
}

/// The verified manifest; none if none is demanded.
pub(super) async fn prove(
    demanded: &Manifests,
    accepted: &SubscriptionAccepted,
    link: &Link,
) -> Result<Option<Manifest>, NotProven> {
    let Manifests::SignedOnly(keys) = demanded else { return Ok(None) };
    let jws = accepted.signed_manifest.as_deref().ok_or(NotProven::NotSigned)?;
    let manifest = match keys {
        ManifestKeys::Pinned(keys) => verify_manifest(jws, keys)?,
        ManifestKeys::Published => verify_manifest(jws, &published(link).await?)?,
    };
    // A valid manifest of another producer proves nothing.
    if manifest.agent_id != accepted.producer.agent_id {
        return Err(NotProven::OtherProducer);
    }
    Ok(Some(manifest))
}

async fn published(link: &Link) -> Result<KeySet, NotProven> {
    let answer = link.published(KEYS).await?;
    if !answer.status.is_success() {
        return Err(NotProven::KeysRefused(answer.status.as_u16()));
    }
    Ok(KeySet::parse(&answer.body, &KeyPolicy::default())?)
}
