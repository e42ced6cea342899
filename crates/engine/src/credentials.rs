//! Credentials as presented at this service's own endpoints: a token, its scheme, and its proof.

use crate::{engine::Engine, projects::ProjectAt, store::Outcome};
use countersign_core::{
    aap::access::{Bearer, Proving, Scheme, possession, proof_required},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::hash::Digest;
use std::sync::Arc;

/// A credential with its request.
#[derive(Clone, Copy, Debug)]
pub struct PresentedCredential<'a> {
    pub token: &'a str,
    pub scheme: Scheme,
    pub proof: Option<&'a str>,
    pub method: &'a str,
    /// This service's own origin and the path, never the client's version of it.
    pub url: &'a str,
}

/// The same where only the hash of the token is known.
pub(crate) struct PresentedHash<'a> {
    pub(crate) hash: Digest,
    pub(crate) scheme: Scheme,
    pub(crate) proof: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
}

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for PresentedCredential<'a> {
    /// A bearer token, without a proof.
    fn from(token: &'a T) -> Self {
        Self { token: token.as_ref(), scheme: Scheme::Bearer, proof: None, method: "", url: "" }
    }
}

impl PresentedCredential<'_> {
    pub(crate) fn hashed(&self) -> PresentedHash<'_> {
        let Self { token, scheme, proof, method, url } = *self;
        PresentedHash { hash: Digest::of(token.as_bytes()), scheme, proof, method, url }
    }
}

impl Engine {
    /// Everything behind an access token, after its proof of possession was verified. The caller decides whether the session
    /// is still valid.
    pub(crate) async fn authenticate_bearer(
        self: &Arc<Self>,
        at: &ProjectAt,
        shown: &PresentedHash<'_>,
    ) -> Result<Bearer, Refusal> {
        let bearer = self.agents().bearer_by_hash(&at.project, &shown.hash).await?;
        self.prove_possession(at, bearer.token.jkt.as_ref(), proof_required(&at.project.document), shown).await?;
        Ok(bearer)
    }

    /// Spends the proof that a bound credential needs.
    pub(crate) async fn prove_possession(
        self: &Arc<Self>,
        at: &ProjectAt,
        bound: Option<&Digest>,
        required: bool,
        shown: &PresentedHash<'_>,
    ) -> Result<(), Refusal> {
        self.check_clock()?;
        let proof = {
            let verify = |raw: &str| self.verify_proof(raw, shown.method, shown.url, Some(&shown.hash));
            let nonce_demanded = at.project.document.dpop.nonce_at_calls || self.is_new_epoch();
            let proving = Proving { verify: &verify, nonce_demanded };
            possession((shown.scheme, shown.proof), bound, at.project.key, required, &proving)?
        };
        match self.commit(Effects { proof, ..Effects::default() }).await {
            Outcome::Committed => Ok(()),
            Outcome::Replayed => Err(Refusal::DpopReplayed),
            _ => Err(Refusal::Unavailable),
        }
    }
}
