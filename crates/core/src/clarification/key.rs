//! The signing key of a project's clarification requests. An operation can sign with it but cannot read it.

use crate::{refusal::Refusal, step::Guard};
use countersign_protocol::clarification::{PublicKey, Rotation, Signable, Signature};
use std::sync::Arc;

/// Ed25519 over the given bytes.
pub type Signs = Arc<dyn Fn(&[u8]) -> Signature + Send + Sync>;

#[derive(Clone)]
pub struct AskingKey {
    /// The agent id under which the project asks.
    pub agent_id: String,
    pub public_key: PublicKey,
    pub signs: Signs,
    /// The key rotations of the project, oldest first (W-20).
    pub rotations: Vec<Rotation>,
    /// The key's row: after a rotation, no write signed by this key commits.
    pub guard: Guard,
}

impl AskingKey {
    /// Signs a document, or its body, with the context string of its type (W-02).
    pub fn sign<T: Signable>(&self, document: &T) -> Result<Signature, Refusal> {
        Ok((self.signs)(&document.input()?))
    }

    /// The rotations from an older key to this one.
    pub(super) fn rotations_since(&self, old: &str) -> &[Rotation] {
        let after = self.rotations.iter().position(|rotation| rotation.old_public_key.as_str() == old);
        after.and_then(|at| self.rotations.get(at..)).unwrap_or_default()
    }
}

impl std::fmt::Debug for AskingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskingKey").field("agent_id", &self.agent_id).finish_non_exhaustive()
    }
}
