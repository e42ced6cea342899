//! Keys shared by all nodes: created once, sealed in the database, published as one key set.

use crate::{
    engine::Engine,
    runner::TRIES,
    store::{Outcome, SecretByName, SigningKeys, StoreError},
};
use countersign_core::{
    project,
    records::{Project, Record, Secret, SigningKey as KeyRow},
    refusal::Refusal,
    step::{Effects, Step},
};
use countersign_jose::{KeyPolicy, KeySet, Mac, NoKey, Sealer, SigningKey, peek};
use countersign_protocol::{
    aap::jwks::{Jwks, PublicJwk},
    time::UnixMillis,
};
use std::sync::{Arc, RwLock};

/// Old keys stay published at least this long (AAP 20.2).
const OVERLAP_S: i64 = 7200;
/// Other nodes sign with the old key until they reload, every few seconds.
const NOTICED_WITHIN_S: i64 = 60;
/// The maximum number of published keys. Readers of key sets, this service included, limit their size.
const MOST_PUBLISHED: usize = 32;

pub(crate) struct Keys {
    sealer: Sealer,
    policy: KeyPolicy,
    current: RwLock<Option<Arc<KeysInForce>>>,
}

/// The keys in force on this node.
pub struct KeysInForce {
    pub jwks: Jwks,
    pub set: KeySet,
    pub(crate) signing: SigningKey,
    pub(crate) mac: Mac,
    pub keys: Vec<KeyInUse>,
}

/// A signing key for display to the node's operator.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeyInUse {
    pub kid: String,
    pub created_at: UnixMillis,
    /// The end of its publication; none for the key that signs now.
    pub retires_at: Option<UnixMillis>,
}

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the keys in the database were sealed with another key-encryption key; give the one they were made with")]
    WrongKey,
    #[error("a key could not be made or read: {0}")]
    Broken(String),
    #[error("{MOST_PUBLISHED} keys are published already; wait until one of them retires")]
    TooMany,
    #[error("the keys could not be written")]
    Unavailable,
}

impl From<Refusal> for KeysError {
    fn from(_: Refusal) -> Self {
        Self::Unavailable
    }
}

impl Keys {
    pub(crate) fn new(key_encryption_key: &[u8; 32], test_mode: bool) -> Result<Self, KeysError> {
        let sealer = Sealer::new(key_encryption_key).map_err(broken)?;
        let policy = KeyPolicy { allow_published_test_keys: test_mode };
        Ok(Self { sealer, policy, current: RwLock::new(None) })
    }

    /// The sealer of all keys at rest.
    pub(crate) fn sealer(&self) -> &Sealer {
        &self.sealer
    }
}

impl Engine {
    /// The keys in force; present from the start on.
    pub fn keys(&self) -> Option<Arc<KeysInForce>> {
        self.keys.current.read().ok()?.clone()
    }

    /// Loads the keys, or creates the first ones. Nodes that start together agree on one set.
    pub(crate) async fn open_keys(&self) -> Result<(), KeysError> {
        // Not the step runner: the loop ends when keys are found, this node's or another's.
        for _ in 0..TRIES {
            if let Some(published) = self.load_keys().await? {
                *self.keys.current.write().map_err(broken)? = Some(Arc::new(published));
                return Ok(());
            }
            self.make_first_keys().await?;
        }
        Err(KeysError::Unavailable)
    }

    /// Takes up changes by other nodes: a new key, or one that is published no longer.
    pub(crate) async fn refresh_keys(&self) -> Result<(), KeysError> {
        let rows: Vec<KeyInUse> = self.key_rows().await?.iter().map(in_use).collect();
        if self.keys().is_some_and(|known| known.keys == rows) {
            return Ok(());
        }
        self.open_keys().await
    }

    /// The keys to verify one of this service's own tokens with. An unknown key may be new on another node, so the store is
    /// read before the token is refused.
    pub(crate) async fn keys_for(&self, jwt: &str) -> Result<Arc<KeysInForce>, Refusal> {
        let known = self.keys().ok_or(Refusal::Unavailable)?;
        let unknown = peek(jwt).is_ok_and(|token| matches!(known.set.find(&token.kid), Err(NoKey::Unknown)));
        if !unknown {
            return Ok(known);
        }
        self.refresh_keys().await.map_err(|why| {
            tracing::error!(%why, "the signing keys could not be read again");
            Refusal::Unavailable
        })?;
        self.keys().ok_or(Refusal::Unavailable)
    }

    /// Creates a new signing key; the old one stays published as long as anything signed with it may be shown.
    pub async fn rotate_keys(&self) -> Result<KeyInUse, KeysError> {
        let rotate = || async {
            let now = self.now();
            let fresh = self.new_key_row(now)?;
            let added = in_use(&fresh);
            let mut puts = self.retired_keys(now).await?;
            puts.push(Record::SigningKey(fresh));
            Ok::<_, KeysError>(Step { answer: added, effects: Effects { puts, ..Effects::default() } })
        };
        let added = self.run(rotate).await?;
        self.open_keys().await.map(|()| added)
    }

    /// The present signing keys, retired.
    async fn retired_keys(&self, now: UnixMillis) -> Result<Vec<Record>, KeysError> {
        let longest = self.projects().await?.iter().map(|p| project::token_duration_s(&p.document)).max().unwrap_or(0);
        let retires_at = Some(now.plus_secs(OVERLAP_S.max(longest) + NOTICED_WITHIN_S));
        let rows = self.key_rows().await?;
        if rows.len() >= MOST_PUBLISHED {
            return Err(KeysError::TooMany);
        }
        let signing = rows.into_iter().filter(|row| row.retires_at.is_none());
        let retired = signing.map(|row| KeyRow { retires_at, version: row.version + 1, ..row });
        Ok(retired.map(Record::SigningKey).collect())
    }

    async fn load_keys(&self) -> Result<Option<KeysInForce>, KeysError> {
        let rows = self.key_rows().await?;
        let secret = self.find_one(SecretByName("mac".into())).await?;
        let (Some(current), Some(secret)) = (rows.iter().rev().find(|row| row.retires_at.is_none()), secret) else {
            return Ok(None);
        };
        let jwks = Jwks { keys: rows.iter().map(public_jwk).collect::<Result<_, _>>()? };
        let document = serde_json::to_vec(&jwks).map_err(broken)?;
        Ok(Some(KeysInForce {
            set: KeySet::parse(&document, &self.keys.policy).map_err(broken)?,
            jwks,
            signing: self.unseal_key(current)?,
            mac: self.unseal_mac(&secret)?,
            keys: rows.iter().map(in_use).collect(),
        }))
    }

    /// The keys that are published now, oldest first.
    async fn key_rows(&self) -> Result<Vec<KeyRow>, KeysError> {
        let now = self.now();
        let rows = self.find_all(SigningKeys).await?;
        Ok(rows.into_iter().filter(|row| row.retires_at.is_none_or(|at| now < at)).collect())
    }

    /// All in one step: the name of the secret is unique, so only one of the nodes that start together creates the keys.
    async fn make_first_keys(&self) -> Result<(), KeysError> {
        let key = Record::SigningKey(self.new_key_row(self.now())?);
        let puts = vec![key, Record::Secret(self.new_mac_row()?)];
        match self.commit(Effects { puts, ..Effects::default() }).await {
            Outcome::Committed | Outcome::Stale => Ok(()),
            _ => Err(KeysError::Unavailable),
        }
    }

    fn new_key_row(&self, now: UnixMillis) -> Result<KeyRow, KeysError> {
        let key = SigningKey::generate(None).map_err(broken)?;
        let sealed = self.keys.sealer.seal(&format!("signing-key:{}", key.kid()), &key.to_pkcs8()).map_err(broken)?;
        Ok(KeyRow {
            key: self.env().map_err(broken)?.mint().key(),
            version: 1,
            kid: key.kid().to_owned(),
            public_jwk: serde_json::to_value(key.public_jwk()).map_err(broken)?,
            sealed,
            created_at: now,
            retires_at: None,
        })
    }

    fn new_mac_row(&self) -> Result<Secret, KeysError> {
        let mut mint = self.env().map_err(broken)?.mint();
        let sealed = self.keys.sealer.seal("secret:mac", &mint.bytes::<32>()).map_err(broken)?;
        Ok(Secret { key: mint.key(), version: 1, name: "mac".into(), sealed })
    }

    /// The sealer of a project's kept requests: a key of its own, created on first use.
    pub(crate) async fn project_sealer(&self, project: &Project) -> Result<Sealer, Refusal> {
        let name = format!("project:{}", project.key);
        let make = || async {
            let known = self.find_one(SecretByName(name.clone())).await?;
            if let Some(secret) = known {
                return Ok::<_, Refusal>(Step::answer(secret));
            }
            let mut mint = self.env()?.mint();
            let sealed = self.keys.sealer.seal(&format!("secret:{name}"), &mint.bytes::<32>());
            let sealed = sealed.map_err(|_| Refusal::Internal)?;
            let secret = Secret { key: mint.key(), version: 1, name: name.clone(), sealed };
            let puts = vec![Record::Secret(secret.clone())];
            Ok(Step { answer: secret, effects: Effects { puts, ..Effects::default() } })
        };
        let secret = self.run(make).await?;
        let opened = self.keys.sealer.open(&format!("secret:{name}"), &secret.sealed);
        let bytes = opened.map_err(|_| Refusal::Internal)?;
        let bytes: &[u8; 32] = bytes.as_slice().try_into().map_err(|_| Refusal::Internal)?;
        Sealer::new(bytes).map_err(|_| Refusal::Internal)
    }

    fn unseal_key(&self, row: &KeyRow) -> Result<SigningKey, KeysError> {
        let context = format!("signing-key:{}", row.kid);
        let pkcs8 = self.keys.sealer.open(&context, &row.sealed).map_err(|_| KeysError::WrongKey)?;
        SigningKey::from_pkcs8(Some(&row.kid), &pkcs8).map_err(broken)
    }

    fn unseal_mac(&self, secret: &Secret) -> Result<Mac, KeysError> {
        let bytes = self.keys.sealer.open("secret:mac", &secret.sealed).map_err(|_| KeysError::WrongKey)?;
        let bytes: &[u8; 32] = bytes.as_slice().try_into().map_err(broken)?;
        Ok(Mac::new(bytes))
    }
}

fn public_jwk(row: &KeyRow) -> Result<PublicJwk, KeysError> {
    serde_json::from_value(row.public_jwk.clone()).map_err(broken)
}

fn in_use(row: &KeyRow) -> KeyInUse {
    KeyInUse { kid: row.kid.clone(), created_at: row.created_at, retires_at: row.retires_at }
}

pub(crate) fn broken(why: impl std::fmt::Display) -> KeysError {
    KeysError::Broken(why.to_string())
}

#[cfg(test)]
mod tests;
