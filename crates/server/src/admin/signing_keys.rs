//! Requests of `countersign keys`.

use super::{AdminRefusal, AdminRequest};
use countersign_engine::{Engine, KeyInUse};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The published keys, oldest first.
#[derive(Serialize, Deserialize)]
pub struct ListSigningKeys {}

impl AdminRequest for ListSigningKeys {
    const NAME: &'static str = "list-signing-keys";
    type Answer = Vec<KeyInUse>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<KeyInUse>, AdminRefusal> {
        Ok(published(engine))
    }
}

#[derive(Serialize, Deserialize)]
pub struct RotateSigningKeys {}

#[derive(Serialize, Deserialize)]
pub struct RotatedSigningKey {
    pub added: KeyInUse,
    /// All keys published now, oldest first.
    pub published: Vec<KeyInUse>,
}

impl AdminRequest for RotateSigningKeys {
    const NAME: &'static str = "rotate-signing-keys";
    type Answer = RotatedSigningKey;

    async fn run(self, engine: &Arc<Engine>) -> Result<RotatedSigningKey, AdminRefusal> {
        let added = engine.rotate_keys().await?;
        Ok(RotatedSigningKey { added, published: published(engine) })
    }
}

fn published(engine: &Arc<Engine>) -> Vec<KeyInUse> {
    engine.keys().map(|published| published.keys.clone()).unwrap_or_default()
}
