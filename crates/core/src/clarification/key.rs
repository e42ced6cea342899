//! The key that asks in a project's name, as an operation may use it: it signs, and never shows itself.

use crate::{refusal::Refusal, step::Guard};
use countersign_protocol::clarification::{PublicKey, Rotation, Signable, Signature};
use std::sync::Arc;

/// Ed25519 over the given bytes.
pub type Signs = Arc<dyn Fn(&[u8]) -> Signature + Send + Sync>;

#[derive(Clone)]
pub struct AskingKey {
    /// Who asks.
    pub agent_id: String,
    pub public_key: PublicKey,
    pub signs: Signs,
    /// How the project's keys followed each other, oldest first (W-20).
    pub rotations: Vec<Rotation>,
    /// The key's row: once another key is in force, nothing is written that this one signed.
    pub guard: Guard,
}

impl AskingKey {
    /// Signs a document, or the body of one, as what it is (W-02).
    pub fn sign<T: Signable>(&self, document: &T) -> Result<Signature, Refusal> {
        Ok((self.signs)(&document.input()?))
    }

    /// What came between an older key and this one.
    pub(super) fn since(&self, old: &str) -> &[Rotation] {
        let after = self.rotations.iter().position(|rotation| rotation.old_public_key.as_str() == old);
        after.and_then(|at| self.rotations.get(at..)).unwrap_or_default()
    }
}

impl std::fmt::Debug for AskingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskingKey").field("agent_id", &self.agent_id).finish_non_exhaustive()
    }
}
