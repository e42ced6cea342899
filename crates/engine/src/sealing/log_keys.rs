//! The keys that sign checkpoints: created once, sealed in the database like all others.

use crate::{
    engine::Engine,
    keys::{KeysError, broken},
    store::LogKeys,
};
use countersign_core::{
    log_keys::{LogKeyReplacement, LogKeyReplacementView, succession_statement},
    records::{LogKey, Record},
    step::{Effects, Operation as _, Step},
};
use countersign_jose::NoteKey;
use countersign_protocol::clarification::{PublicKey, Signature};
use std::sync::Arc;

impl Engine {
    /// All keys of the log, oldest first.
    pub(crate) async fn log_keys(&self) -> Result<Vec<LogKey>, KeysError> {
        let mut keys = self.find_all(LogKeys {}).await?;
        keys.sort_by_key(|key| key.generation);
        Ok(keys)
    }

    /// The key that signs now; the first one is created at the first sealing.
    pub(crate) async fn log_signer(&self) -> Result<NoteKey, KeysError> {
        let newest = self
            .run(|| async {
                if let Some(newest) = self.log_keys().await?.into_iter().next_back() {
                    return Ok::<_, KeysError>(Step::answer(newest));
                }
                let first = self.new_log_key(1)?;
                let puts = vec![Record::LogKey(first.clone())];
                Ok(Step { answer: first, effects: Effects { puts, ..Effects::default() } })
            })
            .await?;
        self.unseal_log_key(&newest)
    }

    /// Signs checkpoints with a new key from now on. What was due is sealed with the old one first.
    pub async fn replace_log_key(self: &Arc<Self>) -> Result<LogKey, KeysError> {
        self.log_signer().await?;
        self.run(|| async {
            let current = self.log_keys().await?.into_iter().next_back().ok_or(KeysError::Unavailable)?;
            let successor = self.new_log_key(current.generation.saturating_add(1))?;
            let (old, new) = (self.unseal_log_key(&current)?, self.unseal_log_key(&successor)?);
            let statement = succession_statement(&current.public, &successor.public, successor.created_at);
            let signed = |key: &NoteKey| Signature::from_bytes(key.sign(statement.as_bytes()));
            let (by_predecessor, by_successor) = (signed(&old), signed(&new));
            let projects = self.projects().await?.into_iter().map(|project| (project.key, project.id)).collect();
            let replace = LogKeyReplacement { successor, statement, by_predecessor, by_successor };
            Ok(replace.decide(&LogKeyReplacementView { current, projects }, &self.env()?)?)
        })
        .await
    }

    pub(super) fn new_log_key(&self, generation: i64) -> Result<LogKey, KeysError> {
        let env = self.record_env()?;
        let mut mint = env.mint();
        let key = NoteKey::from_seed(&mint.bytes::<32>());
        let public = PublicKey::from_bytes(key.public());
        let sealed = self.keys.sealer().seal(&context(generation), key.seed().as_slice()).map_err(broken)?;
        Ok(LogKey {
            key: mint.key(),
            version: 1,
            generation,
            public,
            sealed: Some(sealed),
            created_at: env.now,
            succession: None,
            replaced_at: None,
        })
    }

    pub(super) fn unseal_log_key(&self, row: &LogKey) -> Result<NoteKey, KeysError> {
        let sealed = row.sealed.as_ref().ok_or(KeysError::Unavailable)?;
        let seed = self.keys.sealer().open(&context(row.generation), sealed).map_err(|_| KeysError::WrongKey)?;
        let seed: &[u8; 32] = seed.as_slice().try_into().map_err(broken)?;
        let key = NoteKey::from_seed(seed);
        // A public part that was exchanged in the row would be published for signatures of another key.
        if key.public() == *row.public.bytes() { Ok(key) } else { Err(KeysError::WrongKey) }
    }
}

fn context(generation: i64) -> String {
    format!("log-key:{generation}")
}
