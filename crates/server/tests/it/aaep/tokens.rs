//! `/aaep/v1/subscriber-tokens`: created and revoked by a signed-in person, shown once.

use axum::body::Body;
use countersign_testkit::{Setup, decisions::DecisionFixture, on_both_stores};
use http::{Method, header};
use serde_json::{Value, json};

const PATH: &str = "/aaep/v1/subscriber-tokens";

on_both_stores! {
    ///
    async fn only_a_signed_in_person_on_our_own_pages_makes_a_token(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let new = json!({ "name": "phone" });
        assert_eq!(agent.post(&plane, PATH, &new).await.refusal(), (401, "sign_in_required".into()));
        let phone = alice.subscriber(&plane).await;
        assert_eq!(phone.post(&plane, PATH, &new).await.refusal(), (401, "sign_in_required".into()));
        let without = alice.request(Method::POST, PATH).header(header::CONTENT_TYPE, "application/json");
        let without = plane.send(without.body(Body::from(new.to_string())).unwrap()).await;
        assert_eq!(without.refusal(), (403, "csrf_rejected".into()));
    }

    ///
    async fn the_secret_is_shown_once_and_the_list_is_the_persons_own(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let new = json!({ "name": "kitchen speaker", "may_answer": false, "lifetime_seconds": 3600 });
        let added = alice.post(&plane, PATH, &new).await.expect(201);
        assert_eq!(added.header("cache-control"), Some("no-store"));
        let added = added.json();
        assert!(added["token"].as_str().unwrap().starts_with("cst_"));
        assert_eq!((&added["name"], &added["may_answer"], &added["legacy"]), (&json!("kitchen speaker"), &json!(false), &json!(false)));
        assert!(added["expires_at"].is_string());
        assert_eq!(added.get("endpoint"), None);
        let list = alice.get(&plane, PATH).await.expect(200);
        assert!(!list.text().contains(added["token"].as_str().unwrap()));
        assert_eq!(list.json()["subscriber_tokens"][0]["id"], added["id"]);
        let bob = plane.person("bob").await;
        assert_eq!(bob.get(&plane, PATH).await.expect(200).json()["subscriber_tokens"], json!([]));
        let id = format!("{PATH}/{}", added["id"].as_str().unwrap());
        assert_eq!(bob.send(&plane, Method::DELETE, &id, &Value::Null).await.status, 404);
        let gone = alice.send(&plane, Method::DELETE, &id, &Value::Null).await.expect(200).json();
        assert!(gone["revoked_at"].is_string());
    }

    ///
    async fn a_token_for_an_address_comes_with_the_address(kit) {
        let plane = kit.plane_with(Setup::payments_with(|document| document.decisions.legacy_subscribers = true)).await;
        let alice = plane.person("alice").await;
        let added = alice.post(&plane, PATH, &json!({ "name": "nvda", "legacy": true })).await.expect(201).json();
        let wanted = format!("https://api.example.test/aaep/legacy/{}", added["token"].as_str().unwrap());
        assert_eq!(added["endpoint"], wanted);
    }
}
