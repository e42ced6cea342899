//! The service's own keys, for tokens that it would never issue.

use crate::{Plane, plane::KEY_ENCRYPTION_KEY};
use countersign_engine::store::{self, SecretByName, SigningKeys};
use countersign_jose::{Mac, Sealer, SigningKey};
use countersign_protocol::{aap::delegation_token, ids::prefixed};
use serde_json::Value;

impl Plane {
    /// Decrypted from the database, as an attacker with both the database and the key-encryption key could.
    pub async fn service_key(&self) -> SigningKey {
        let rows = store::find_all(&**self.engine.store(), SigningKeys).await.expect("the signing keys");
        let row = rows.last().expect("a signing key");
        let sealer = Sealer::new(&KEY_ENCRYPTION_KEY).expect("a sealer");
        let pkcs8 = sealer.open(&format!("signing-key:{}", row.kid), &row.sealed).expect("a key sealed by the plane");
        SigningKey::from_pkcs8(Some(&row.kid), &pkcs8).expect("a P-256 key")
    }

    /// A delegation token with any JWT claims, under the service's own signature.
    pub async fn sign_delegation(&self, claims: &Value) -> String {
        self.service_key().await.sign(delegation_token::TYP, claims).expect("a signature")
    }

    /// The confirmation token of any decision, regardless of its state. Agents get one only for an open allowance.
    pub async fn confirm_token(&self, decision_id: &str) -> String {
        let row = store::find_one(&**self.engine.store(), SecretByName("mac".into())).await.expect("a store");
        let sealer = Sealer::new(&KEY_ENCRYPTION_KEY).expect("a sealer");
        let opened = sealer.open("secret:mac", &row.expect("a secret").sealed).expect("a key of the plane");
        let tag =
            Mac::new(opened.as_slice().try_into().expect("32 bytes")).tag("confirm-token", decision_id.as_bytes());
        format!("{decision_id}.{}", prefixed("cft", *tag.first_chunk().expect("16 bytes")))
    }
}
