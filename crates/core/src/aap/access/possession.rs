//! Proof of possession of the key a token is bound to (AAP 18, C-26 to C-29, R-22).

use super::{ProvenProof, Proving, Scheme};
use crate::{refusal::Refusal, step::SpentProof};
use countersign_protocol::{aap::manifest::ConformanceTier, hash::Digest, ids::RowKey, project::ProjectDocument};

/// The lowest trust tier with bound tokens only, so that a stolen token is useless.
const PROOF_FROM_TIER: u8 = 3;

/// Whether a project issues bound tokens only (C-26). One route of such a tier is enough, because a token is bound at
/// issue or never.
pub fn proof_required(document: &ProjectDocument) -> bool {
    let by_route = || document.routes.iter().any(|route| route.minimum_tier >= Some(PROOF_FROM_TIER));
    let by_claim = document.conformance.tier >= ConformanceTier::Extended;
    by_claim || document.dpop.required || document.minimum_tier >= PROOF_FROM_TIER || by_route()
}

/// The proof used by this call; `None` for a bearer token where that is sufficient.
pub fn possession(
    (scheme, proof): (Scheme, Option<&str>),
    bound: Option<&Digest>,
    project: RowKey,
    required: bool,
    proving: &Proving<'_>,
) -> Result<Option<SpentProof>, Refusal> {
    match (bound, scheme) {
        (None, Scheme::Bearer) if !required => Ok(None),
        (None, Scheme::Bearer) => {
            Err(Refusal::DpopMissing("the access token is bound to no key, which is needed here"))
        }
        (None, Scheme::Dpop) => Err(Refusal::DpopInvalid("the access token is not bound to a key".into())),
        // A bound token cannot be downgraded to a bearer token (C-29).
        (Some(_), Scheme::Bearer) => Err(Refusal::DpopMissing("the access token is bound to a key")),
        (Some(jkt), Scheme::Dpop) => {
            let raw = proof.ok_or(Refusal::DpopMissing("the access token is bound to a key"))?;
            let proven = (proving.verify)(raw).map_err(Refusal::DpopInvalid)?;
            accept_proof(proven, Some(jkt), project, proving.nonce_demanded).map(Some)
        }
    }
}

/// Accepts a valid proof by the expected key, with a nonce where one is required.
pub fn accept_proof(
    proven: ProvenProof,
    jkt: Option<&Digest>,
    project: RowKey,
    nonce_demanded: bool,
) -> Result<SpentProof, Refusal> {
    let ProvenProof { proof, nonce } = proven;
    if jkt.is_some_and(|jkt| jkt != proof.jkt()) {
        return Err(Refusal::DpopInvalid("it was made with another key than the token is bound to".into()));
    }
    if nonce_demanded && !nonce {
        return Err(Refusal::DpopNonceMissing);
    }
    Ok(SpentProof::new(project, *proof.jkt(), proof.jti().to_owned(), proof.issued_at()))
}
