//! A JWK set: the usable keys of another party, by name (AAP 20.1).

use crate::jwk::{KeyFlaw, KeyPolicy, VerifyingKey};
use countersign_protocol::json;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub const MAX_SET_BYTES: usize = 64 * 1024;
pub const MAX_SET_KEYS: usize = 64;

/// Why a document is no key set. One bad key among others is no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeySetRefusal {
    #[error("the key set is larger than {MAX_SET_BYTES} bytes")]
    TooLarge,
    #[error("the key set is not JSON in which each member occurs once")]
    NotJson,
    #[error("the key set is not an object with a list \"keys\"")]
    NotAKeySet,
    #[error("the key set has more than {MAX_SET_KEYS} keys")]
    TooMany,
}

/// Why a kid leads to no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    #[error("no key of the set has this kid")]
    Unknown,
    #[error("the key with this kid cannot be used: {0}")]
    Unusable(KeyFlaw),
}

/// The keys of one party. A token's kid selects exactly one; the others are never tried.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    by_kid: BTreeMap<String, Result<VerifyingKey, KeyFlaw>>,
    nameless: usize,
}

impl KeySet {
    pub fn parse(bytes: &[u8], policy: &KeyPolicy) -> Result<Self, KeySetRefusal> {
        if bytes.len() > MAX_SET_BYTES {
            return Err(KeySetRefusal::TooLarge);
        }
        let document = json::value(bytes).map_err(|_| KeySetRefusal::NotJson)?;
        let keys = document.get("keys").and_then(Value::as_array).ok_or(KeySetRefusal::NotAKeySet)?;
        if keys.len() > MAX_SET_KEYS {
            return Err(KeySetRefusal::TooMany);
        }
        let mut set = Self::default();
        keys.iter().filter_map(Value::as_object).for_each(|jwk| set.add(jwk, *policy));
        Ok(set)
    }

    /// A key without a name is never used, even if it is the only one (AAP 20.1). Two keys with one name are both
    /// excluded: otherwise their order would decide.
    fn add(&mut self, jwk: &Map<String, Value>, policy: KeyPolicy) {
        let Some(kid) = jwk.get("kid").and_then(Value::as_str).filter(|kid| !kid.is_empty()) else {
            self.nameless += 1;
            return;
        };
        let key = VerifyingKey::parse(jwk, policy);
        let taken = self.by_kid.contains_key(kid);
        self.by_kid.insert(kid.to_owned(), if taken { Err(KeyFlaw::SameKid) } else { key });
    }

    /// The usable key with that name.
    pub fn get(&self, kid: &str) -> Option<&VerifyingKey> {
        self.find(kid).ok()
    }

    /// The same, with the reason if there is none.
    pub fn find(&self, kid: &str) -> Result<&VerifyingKey, NoKey> {
        match self.by_kid.get(kid) {
            Some(Ok(key)) => Ok(key),
            Some(Err(flaw)) => Err(NoKey::Unusable(*flaw)),
            None => Err(NoKey::Unknown),
        }
    }

    /// The names of the usable keys.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.by_kid.iter().filter(|(_, key)| key.is_ok()).map(|(kid, _)| kid.as_str())
    }

    /// The unusable keys with their reasons, for diagnosis.
    pub fn flaws(&self) -> impl Iterator<Item = (Option<&str>, KeyFlaw)> {
        let named = self.by_kid.iter().filter_map(|(kid, key)| Some((Some(kid.as_str()), *key.as_ref().err()?)));
        named.chain(std::iter::repeat_n((None, KeyFlaw::NoKid), self.nameless))
    }
}
