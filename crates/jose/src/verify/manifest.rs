//! The signed manifest of an AAEP producer (AAEP 5.10). It has no expiry, audience or nonce: it states an identity and
//! authorizes nothing.

use super::{Unsigned, signed};
use crate::key_set::KeySet;
use countersign_protocol::aaep::{manifest::Manifest, problem::MemberProblem};

/// Why a text does not prove a producer's identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestRefusal {
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error("the signed content is not a producer's manifest: {0}")]
    NotAManifest(#[from] MemberProblem),
}

/// Reads a manifest signed with one of these keys. Its `type` distinguishes it from other signed documents.
pub fn verify_manifest(jws: &str, keys: &KeySet) -> Result<Manifest, ManifestRefusal> {
    let token = signed(jws, keys)?;
    let unreadable = |_| MemberProblem::new("manifest", "could not be read");
    Ok(Manifest::parse(&serde_json::to_vec(&token.payload).map_err(unreadable)?)?)
}
