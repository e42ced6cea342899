//! An operator's signing keys over time (AAP 20.2, 20.4).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{BadSigningKey, NotSealed, Sealer, SigningFailed, SigningKey, Unsealable};
use countersign_protocol::{
    aap::jwks::{Jwks, PublicJwk},
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

/// How long a key stays published after its replacement. An operator cannot know each service's cache time, so it is
/// twice the longest that AAP 4.1 allows (C-97).
pub const OVERLAP_SECS: i64 = 2 * 3600;

const CONTEXT: &str = "operator key ring";

/// One active ES256 key, and the public halves of its predecessors. A rotation deletes the old private half.
#[derive(Debug)]
pub struct KeyRing {
    signing: SigningKey,
    /// The latest expiry of anything that the signing key has signed.
    signed_until: UnixMillis,
    retired: Vec<Retired>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Retired {
    key: PublicJwk,
    until: UnixMillis,
}

/// Why stored bytes are no key ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKeyRing {
    #[error(transparent)]
    Unsealable(#[from] Unsealable),
    #[error("the sealed content is not a key ring")]
    NotAKeyRing,
    #[error(transparent)]
    Key(#[from] BadSigningKey),
}

impl KeyRing {
    pub fn generate() -> Result<Self, BadSigningKey> {
        Ok(Self::of(SigningKey::generate(None)?))
    }

    /// With an existing key; see [`SigningKey::from_pkcs8`].
    pub fn of(signing: SigningKey) -> Self {
        Self { signing, signed_until: UnixMillis::default(), retired: Vec::new() }
    }

    /// The active signing key.
    pub fn signing_key(&self) -> &SigningKey {
        &self.signing
    }

    /// Activates a new key at once. The old one stays published for the overlap, and longer if a receipt that it signed
    /// lives longer: a key rotation must not end consent.
    pub fn rotate(&mut self, now: UnixMillis) -> Result<(), BadSigningKey> {
        self.tick(now);
        let new = SigningKey::generate(None)?;
        let until = now.plus_secs(OVERLAP_SECS).max(self.signed_until);
        self.retired.push(Retired { key: self.signing.public_jwk().clone(), until });
        (self.signing, self.signed_until) = (new, UnixMillis::default());
        Ok(())
    }

    /// Forgets keys that are no longer published.
    pub fn tick(&mut self, now: UnixMillis) {
        self.retired.retain(|retired| now <= retired.until);
    }

    /// The key set to publish now. Its type has no room for a private member (AAP 23).
    pub fn published(&self, now: UnixMillis) -> Jwks {
        let retired = self.retired.iter().filter(|retired| now <= retired.until).map(|retired| &retired.key);
        Jwks { keys: std::iter::once(self.signing.public_jwk()).chain(retired).cloned().collect() }
    }

    pub(super) fn withdraw_old(&mut self) {
        self.retired.clear();
    }

    pub(super) fn sign<T: Serialize>(&mut self, typ: &str, claims: &T, exp: i64) -> Result<String, SigningFailed> {
        let jwt = self.signing.sign(typ, claims)?;
        self.signed_until = self.signed_until.max(UnixMillis::from_secs(exp));
        Ok(jwt)
    }

    /// For storage; only the same key opens it again. Seal again after a rotation, and after a receipt that
    /// outlives the overlap.
    pub fn seal(&self, sealer: &Sealer) -> Result<String, NotSealed> {
        let mut stored = Stored {
            kid: self.signing.kid().to_owned(),
            pkcs8: URL_SAFE_NO_PAD.encode(&*self.signing.to_pkcs8()),
            signed_until: self.signed_until,
            retired: self.retired.clone(),
        };
        let text = serde_json::to_vec(&stored).map(Zeroizing::new);
        stored.pkcs8.zeroize();
        sealer.seal(CONTEXT, &text.map_err(|_| NotSealed)?)
    }

    pub fn open(sealer: &Sealer, sealed: &str) -> Result<Self, BadKeyRing> {
        let text = sealer.open(CONTEXT, sealed)?;
        let stored: Stored = serde_json::from_slice(&text).map_err(|_| BadKeyRing::NotAKeyRing)?;
        let encoded = Zeroizing::new(stored.pkcs8);
        let pkcs8 = URL_SAFE_NO_PAD.decode(encoded.as_bytes()).map_err(|_| BadKeyRing::NotAKeyRing)?;
        let signing = SigningKey::from_pkcs8(Some(&stored.kid), &Zeroizing::new(pkcs8))?;
        Ok(Self { signing, signed_until: stored.signed_until, retired: stored.retired })
    }
}

/// The sealed content.
#[derive(Serialize, Deserialize)]
struct Stored {
    kid: String,
    pkcs8: String,
    signed_until: UnixMillis,
    retired: Vec<Retired>,
}
