//! Known keys by agent. The key inside a document proves only its integrity (W-19).

use super::{Flaw, is_published_test_key};
use crate::KeyPolicy;
use countersign_protocol::clarification::{PublicKey, PublishedKeys, Stamp, limits::GRACE_S};
use serde::Serialize;
use std::collections::BTreeMap;

/// The keys that a verifier has from a trusted source, by agent. An empty registry still proves integrity.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    policy: KeyPolicy,
    agents: BTreeMap<String, Vec<KnownKey>>,
}

#[derive(Clone, Debug)]
struct KnownKey {
    key: PublicKey,
    retired_at: Option<Stamp>,
}

/// The confidence in the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signer {
    /// The key is registered for the named agent.
    Known,
    /// The document is unchanged since it was signed. The signer's name is only the document's own statement.
    IntegrityOnly,
}

impl Registry {
    pub fn new(policy: KeyPolicy) -> Self {
        Self { policy, agents: BTreeMap::new() }
    }

    /// Adds the published keys of an asking agent.
    #[must_use]
    pub fn with(mut self, published: &PublishedKeys) -> Self {
        let known =
            published.keys.iter().map(|k| KnownKey { key: k.public_key.clone(), retired_at: k.retired_at.clone() });
        self.agents.entry(published.agent_id.clone()).or_default().extend(known);
        self
    }

    /// Adds one key of an agent, such as an answering one.
    #[must_use]
    pub fn with_key(mut self, agent_id: &str, key: PublicKey) -> Self {
        self.agents.entry(agent_id.to_owned()).or_default().push(KnownKey { key, retired_at: None });
        self
    }

    pub(super) fn judge(&self, agent_id: &str, key: &PublicKey, at: &Stamp) -> Result<Signer, Flaw> {
        if is_published_test_key(key) && !self.policy.allow_published_test_keys {
            return Err(Flaw::PublishedTestKey);
        }
        let Some(known) = self.agents.get(agent_id) else { return Ok(Signer::IntegrityOnly) };
        let known = known.iter().find(|known| known.key == *key);
        match known.ok_or_else(|| Flaw::UnknownKey { agent_id: agent_id.to_owned() })? {
            KnownKey { retired_at: Some(since), .. } => within_grace(since, at).map(|()| Signer::Known),
            KnownKey { retired_at: None, .. } => Ok(Signer::Known),
        }
    }
}

/// A replaced key is valid for another 24 hours (W-20).
pub(super) fn within_grace(replaced_at: &Stamp, at: &Stamp) -> Result<(), Flaw> {
    if at.at() <= replaced_at.at().plus_secs(GRACE_S) {
        return Ok(());
    }
    Err(Flaw::KeyRetired { since: replaced_at.to_string() })
}
