//! The service's own signing key, for tokens that it would never issue.

use crate::{Plane, plane::KEY_ENCRYPTION_KEY};
use countersign_engine::store::Lookup;
use countersign_jose::{Sealer, SigningKey};
use countersign_protocol::aap::delegation_token;
use serde_json::Value;

impl Plane {
    /// Opened from the database, as somebody could who holds both the database and the key-encryption key.
    pub async fn service_key(&self) -> SigningKey {
        let rows = self.engine.store().list(Lookup::SigningKeys).await.expect("the signing keys");
        let row: Value = serde_json::from_str(rows.last().expect("a signing key")).expect("a row of JSON");
        let (kid, sealed) = (row["kid"].as_str().expect("a kid"), row["sealed"].as_str().expect("a sealed key"));
        let sealer = Sealer::new(&KEY_ENCRYPTION_KEY).expect("a sealer");
        let pkcs8 = sealer.open(&format!("signing-key:{kid}"), sealed).expect("a key sealed by the plane");
        SigningKey::from_pkcs8(Some(kid), &pkcs8).expect("a P-256 key")
    }

    /// A delegation token of any claims, under the service's own signature.
    pub async fn sign_delegation(&self, claims: &Value) -> String {
        self.service_key().await.sign(delegation_token::TYP, claims).expect("a signature")
    }
}
