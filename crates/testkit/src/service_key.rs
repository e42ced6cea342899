//! The service's own keys, for tokens that it would never issue.

use crate::{Plane, plane::KEY_ENCRYPTION_KEY};
use countersign_engine::store::Lookup;
use countersign_jose::{Mac, Sealer, SigningKey};
use countersign_protocol::{aap::delegation_token, ids::prefixed};
use serde_json::Value;

impl Plane {
    /// Decrypted from the database, as an attacker with both the database and the key-encryption key could.
    pub async fn service_key(&self) -> SigningKey {
        let rows = self.engine.store().list(Lookup::SigningKeys).await.expect("the signing keys");
        let row: Value = serde_json::from_str(rows.last().expect("a signing key")).expect("a row of JSON");
        let (kid, sealed) = (row["kid"].as_str().expect("a kid"), row["sealed"].as_str().expect("a sealed key"));
        let sealer = Sealer::new(&KEY_ENCRYPTION_KEY).expect("a sealer");
        let pkcs8 = sealer.open(&format!("signing-key:{kid}"), sealed).expect("a key sealed by the plane");
        SigningKey::from_pkcs8(Some(kid), &pkcs8).expect("a P-256 key")
    }

    /// A delegation token with any JWT claims, under the service's own signature.
    pub async fn sign_delegation(&self, claims: &Value) -> String {
        self.service_key().await.sign(delegation_token::TYP, claims).expect("a signature")
    }

    /// The confirmation token of any decision, regardless of its state. Agents get one only for an open allowance.
    pub async fn confirm_token(&self, decision_id: &str) -> String {
        let row = self.engine.store().find(Lookup::SecretByName("mac".into())).await.expect("a store");
        let row: Value = serde_json::from_str(&row.expect("a secret")).expect("a row of JSON");
        let sealer = Sealer::new(&KEY_ENCRYPTION_KEY).expect("a sealer");
        let opened =
            sealer.open("secret:mac", row["sealed"].as_str().expect("a sealed key")).expect("a key of the plane");
        let tag =
            Mac::new(opened.as_slice().try_into().expect("32 bytes")).tag("confirm-token", decision_id.as_bytes());
        format!("{decision_id}.{}", prefixed("cft", *tag.first_chunk().expect("16 bytes")))
    }
}
