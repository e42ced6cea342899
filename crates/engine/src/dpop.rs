//! Proofs of possession and the nonces that go with them (AAP 18, R-22).
//!
//! A nonce is its time of issue and a MAC over that: every node can check every other's without remembering any. Proofs
//! spent before a start, or before the store was lost, may be forgotten; so for a while only proofs with a nonce from after
//! that moment count, which no older proof can have.

use crate::{
    engine::Engine,
    store::{SpentProofs, StoredProof},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_core::{aap::access::ProvenProof, refusal::Refusal, step::SpentProof};
use countersign_jose::{ExpectedProof, ProofKeys, verify_dpop};
use countersign_protocol::{hash::Digest, time::UnixMillis};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

/// The lifetime of a nonce.
const NONCE_LIFE_MS: i64 = 300_000;
/// Clocks of two nodes may be this far apart.
const NODES_APART_MS: i64 = 2_000;
/// Twice the time within which a proof is accepted: every proof accepted before has expired by then.
pub(crate) const EPOCH_S: i64 = 600;
const CONTEXT: &str = "dpop-nonce";

pub(crate) struct Proofs {
    pub(crate) keys: ProofKeys,
    /// Every proof spent since then is remembered.
    since: AtomicI64,
    /// Before that, too, only proofs with a nonce count: the clock was that far ahead once.
    nonces_until: AtomicI64,
    store_lost: AtomicBool,
    /// The proofs that this node itself has seen.
    seen: Mutex<SpentProofs>,
    /// The nonce of this second: responses may share one.
    current: Mutex<(i64, String)>,
}

impl Proofs {
    pub(crate) fn new(keys: ProofKeys, since: UnixMillis) -> Self {
        let current = Mutex::new((0, String::new()));
        let (since, store_lost) = (AtomicI64::new(since.0), AtomicBool::new(false));
        let nonces_until = AtomicI64::new(i64::MIN);
        Self { keys, since, nonces_until, store_lost, seen: Mutex::default(), current }
    }

    /// Takes a proof for a call that is forwarded before its step is durable. A replay at this node is refused before anything
    /// is forwarded; other nodes notice it when they commit.
    pub(crate) fn spend(&self, spent: &SpentProof, now: UnixMillis) -> Result<(), Refusal> {
        let proof = StoredProof::of(spent);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.drop_expired(now.0);
        if seen.contains(&proof.id) {
            return Err(Refusal::DpopReplayed);
        }
        seen.insert(&[&proof], now.0);
        Ok(())
    }

    /// The store has taken this proof, or had it already.
    pub(crate) fn record_spent(&self, proof: &StoredProof, now: UnixMillis) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.drop_expired(now.0);
        if !seen.contains(&proof.id) {
            seen.insert(&[proof], now.0);
        }
    }

    /// A store that was away may have lost spent proofs: from its loss on, and once more from its return, only nonces from after
    /// that moment count. The first proof that it sees again must have one already.
    pub(crate) fn store_lost(&self, now: UnixMillis) {
        if !self.store_lost.swap(true, Ordering::Relaxed) {
            self.since.store(now.0, Ordering::Relaxed);
        }
    }

    pub(crate) fn store_recovered(&self, now: UnixMillis) {
        if self.store_lost.load(Ordering::Relaxed) && self.store_lost.swap(false, Ordering::Relaxed) {
            self.since.store(now.0, Ordering::Relaxed);
        }
    }

    /// Only nonces from after this moment count.
    pub(crate) fn begin_epoch(&self, now: UnixMillis, nonces_until: UnixMillis) {
        self.nonces_until.store(nonces_until.0, Ordering::Relaxed);
        self.since.store(now.0, Ordering::Relaxed);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = (0, String::new());
    }

    fn nonces_until(&self) -> UnixMillis {
        UnixMillis(self.nonces_until.load(Ordering::Relaxed))
    }

    fn since(&self) -> UnixMillis {
        UnixMillis(self.since.load(Ordering::Relaxed))
    }
}

impl Engine {
    /// Whether only proofs with a nonce count at present, independent of a project's settings.
    pub(crate) fn is_new_epoch(&self) -> bool {
        let now = self.now();
        now < self.proofs.since().plus_secs(EPOCH_S) || now < self.proofs.nonces_until()
    }

    /// The nonce to give out, the same for a whole second.
    pub fn nonce(&self) -> Option<String> {
        let now = self.now();
        let mut current = self.proofs.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 != now.secs() || UnixMillis::from_secs(current.0) < self.proofs.since() {
            *current = (now.secs(), self.nonce_at(now)?);
        }
        Some(current.1.clone())
    }

    fn nonce_at(&self, at: UnixMillis) -> Option<String> {
        let time = at.0.to_be_bytes();
        // No nonce from before the clock was accepted counts after it, even if it names a later time.
        let accepted = self.time.accepted().to_be_bytes();
        let tag = self.keys()?.mac.tag(CONTEXT, &[time, accepted].concat());
        let bytes: Vec<u8> = time.into_iter().chain(tag.into_iter().take(16)).collect();
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    fn is_valid_nonce(&self, nonce: &str) -> bool {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(nonce) else { return false };
        let Some((time, _)) = bytes.split_first_chunk::<8>() else { return false };
        let at = UnixMillis(i64::from_be_bytes(*time));
        let (now, since) = (self.now(), self.proofs.since());
        let age = now.0.saturating_sub(at.0);
        let timely =
            (-NODES_APART_MS..=NONCE_LIFE_MS).contains(&age) && (at >= since || now >= since.plus_secs(EPOCH_S));
        timely && self.nonce_at(at).is_some_and(|ours| ours == nonce)
    }

    /// Checks a proof for exactly this request. `token` is the hash of the access token, if there is one already.
    pub(crate) fn verify_proof(
        &self,
        raw: &str,
        method: &str,
        url: &str,
        token: Option<&Digest>,
    ) -> Result<ProvenProof, String> {
        let expected = ExpectedProof { method, url, token };
        let proof = verify_dpop(raw, &expected, self.now(), &self.proofs.keys).map_err(|why| why.to_string())?;
        Ok(ProvenProof { nonce: proof.nonce().is_some_and(|nonce| self.is_valid_nonce(nonce)), proof })
    }
}
