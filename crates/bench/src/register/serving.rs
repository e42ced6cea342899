//! The server: a plane with one delegation, and everything that the generator needs to sign registrations under it.

use crate::{
    StoreKind,
    child::{database, serve_until_closed},
};
use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign_testkit::{Plane, Setup};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
pub(crate) struct SigningMaterial {
    /// The server's clock, which stands still.
    pub(super) now_ms: i64,
    pub(super) service: String,
    /// For the proofs: registrations demand one. It stays valid, as the clock stands still.
    pub(super) nonce: String,
    pub(super) operator_kid: String,
    pub(super) operator_pkcs8: String,
    pub(super) operator_claims: Value,
    pub(super) receipt_claims: Value,
    pub(super) delegation_token: String,
}

pub(crate) async fn serve(store: StoreKind) -> anyhow::Result<()> {
    let (place, folder) = database(store).await?;
    let plane = Plane::start(Setup::default(), place).await;
    let alice = plane.person("alice").await;
    let acme = plane.acme();
    let connected = plane.connect(&alice, acme, &["calendar.read", "calendar.write"]).await;
    let told = SigningMaterial {
        now_ms: plane.now().0,
        service: plane.service().to_owned(),
        nonce: plane.engine.nonce().context("no nonce")?,
        operator_kid: acme.key.kid().to_owned(),
        operator_pkcs8: STANDARD.encode(&*acme.key.to_pkcs8()),
        operator_claims: acme.claims(plane.service(), plane.now()),
        receipt_claims: plane.receipt_claims(acme, "alice", &connected, &["calendar.read"]),
        delegation_token: connected.delegation_token,
    };
    serve_until_closed(plane.public.clone(), (&plane.place, folder), told).await
}
