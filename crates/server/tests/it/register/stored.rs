//! The database after a run: hashes of secrets, and no free text of a person (R-26, C-14).

use super::support::{Ready, with};
use countersign_testkit::{PASSWORD, Plane, Setup, leaks::Haystack, on_both_stores};
use http::Method;
use serde_json::json;

const WORDS: &str = "please book the restaurant where we first met";

on_both_stores! {
    /// AAP-17.1-09, AAP-19.3-04
    async fn the_store_holds_hashes_of_tokens_and_no_copy_of_a_persons_words(kit) {
        let (place, _folder) = kit.readable_location().await;
        let ready = Ready::at(Plane::start(Setup::default(), place.clone()).await).await;
        let plane = &ready.plane;
        let receipt = plane.acme().sign_receipt(&with(ready.receipt(), "intent", json!(WORDS)));
        let body = with(with(ready.body(), "consent_receipt", json!(receipt)), "intent", json!(WORDS));
        let agent = plane.register_with(&body, Some(&ready.connected)).await;
        let call = agent.request(Method::GET, "/calendar/events", "READ_CALENDAR").header("x-agent-intent", WORDS);
        let call = call.header("x-agent-consent", &receipt).body(axum::body::Body::empty()).unwrap();
        countersign_testkit::send_to(&plane.api(), call).await.expect(200);
        plane.engine.run_maintenance().await.unwrap();

        let stored = Haystack::stored(&place).await;
        for found in ["acme.test", &agent.session_id, &ready.connected.delegation_id, "READ_CALENDAR"] {
            stored.assert_present(found, found);
        }
        let operator_jwt = body["operator_jwt"].as_str().unwrap();
        let cookie = ready.alice.cookie.split_once('=').unwrap().1;
        let secrets = [
            ("the access token", agent.access_token.as_str()),
            ("its random part", agent.access_token.strip_prefix("aat_").unwrap()),
            ("the delegation token", &ready.connected.delegation_token),
            ("the operator JWT", operator_jwt),
            ("the receipt", &receipt),
            ("its signature", receipt.rsplit('.').next().unwrap()),
            ("the person's words", WORDS),
            ("the cookie", cookie),
            ("the password", PASSWORD),
        ];
        for (what, secret) in secrets {
            stored.assert_absent(what, secret);
        }
    }
}
