//! The consent receipt: optional here, but fully verified if present (AAP 19.3).

use super::support::{Ready, SCOPES, SQLITE, tampered, told, with};
use countersign_jose::SigningKey;
use countersign_testkit::{Setup, on_sqlite};
use serde_json::json;

/// AAP-7-03
#[tokio::test]
async fn a_receipt_must_be_signed_by_a_published_key_of_the_same_operator() {
    let setup = countersign_testkit::Setup { operators: vec!["acme.test", "other.test"], ..Default::default() };
    let ready = Ready::with(SQLITE, setup).await;
    let plane = &ready.plane;
    let claims = ready.receipt();
    let unpublished = SigningKey::generate(Some("key-9")).unwrap();
    let impostor = SigningKey::generate(Some("key-1")).unwrap();
    let sign = |key: &SigningKey| key.sign("aap-consent+jwt", &claims).unwrap();
    let forged = [
        tampered(&plane.acme().sign_receipt(&claims)),
        sign(&unpublished),
        sign(&impostor),
        sign(&plane.operator("other.test").key),
    ];
    for receipt in forged {
        let body = with(ready.body(), "consent_receipt", json!(receipt));
        assert_eq!(ready.refusal(&body).await, told(401, "consent_invalid"), "{receipt}");
    }
    // Another key of the same operator will do.
    plane.acme().publish(&[&plane.acme().key, &unpublished]);
    plane.advance_secs(61).await;
    let body = with(ready.body(), "consent_receipt", json!(sign(&unpublished)));
    ready.register(&body).await.expect(200);
}

/// AAP-19.3-10, AAP-16.2-11
#[tokio::test]
async fn a_receipt_is_for_exactly_this_service() {
    let ready = Ready::on(SQLITE).await;
    let service = ready.plane.get("/.well-known/agent-auth.json").await.json()["service"].clone();
    let others = [
        "https://api.example.test/",
        "https://API.example.test",
        "HTTPS://api.example.test",
        "https://api.example.test:443",
        "https://api.example.test/agent",
        "http://api.example.test",
        "api.example.test",
        "https://other.example.test",
        "",
    ];
    for aud in others {
        let body = ready.body_with(&with(ready.receipt(), "aud", json!(aud)));
        assert_eq!(ready.refusal(&body).await, told(403, "consent_service_mismatch"), "{aud}");
    }
    // The operator JWT's audience is compared in the same way, and reported as another fault (C-95).
    for aud in others {
        let body = ready.body_by(&with(ready.operator_claims(), "aud", json!(aud)));
        assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"), "{aud}");
    }
    ready.register(&ready.body_with(&with(ready.receipt(), "aud", service))).await.expect(200);
}

/// AAP-16.2-09
#[tokio::test]
async fn a_receipt_counts_within_its_time_and_window() {
    let ready = Ready::on(SQLITE).await;
    let now = ready.plane.now();
    let lives = |iat: i64, exp: i64| {
        with(with(ready.receipt(), "iat", json!(now.secs() + iat)), "exp", json!(now.secs() + exp))
    };
    let at = |secs: i64| serde_json::to_value(now.plus_secs(secs).to_rfc3339()).unwrap();
    let open = |earliest: i64, latest: i64| {
        with(ready.receipt(), "execution_window", json!({ "earliest": at(earliest), "latest": at(latest) }))
    };
    let over = [lives(-600, -301), lives(0, 0), lives(0, -1), open(-600, -301), open(301, 600)];
    for claims in over {
        assert_eq!(ready.refusal(&ready.body_with(&claims)).await, told(401, "consent_expired"), "{claims}");
    }
    for claims in [lives(-600, -300), lives(300, 600), open(-600, -300), open(300, 600)] {
        ready.register(&ready.body_with(&claims)).await.expect(200);
    }
}

/// AAP-G-13
#[tokio::test]
async fn a_receipt_that_lives_longer_than_the_project_allows_is_refused_with_the_limit() {
    const DAY: i64 = 86_400;
    for (setup, days, most) in [
        (Setup::default(), 30, "30d"),
        (Setup::with_project(|document| document.max_receipt_duration = "P2D".into()), 2, "P2D"),
    ] {
        let ready = Ready::with(SQLITE, setup).await;
        let now = ready.plane.now().secs();
        let lives = |iat: i64, exp: i64| with(with(ready.receipt(), "iat", json!(iat)), "exp", json!(exp));
        for claims in
            [lives(now, now + days * DAY + 1), lives(now - 60, now + days * DAY), lives(now, now + 50 * 365 * DAY)]
        {
            let answer = ready.register(&ready.body_with(&claims)).await;
            assert_eq!(answer.refusal(), told(401, "consent_invalid"), "{claims}");
            let why = answer.json()["error_description"].as_str().unwrap().to_owned();
            assert!(why.contains(most), "{why}");
        }
        ready.register(&ready.body_with(&lives(now, now + days * DAY))).await.expect(200);
    }
}

/// AAP-16.2-12
#[tokio::test]
async fn a_receipt_may_narrow_the_delegation_and_not_widen_it() {
    let ready = Ready::on(SQLITE).await;
    for scopes in [json!(["calendar.admin"]), json!(["calendar.read", "mail.invite"]), json!(["made.up"])] {
        let body = ready.body_with(&with(ready.receipt(), "scopes", scopes.clone()));
        assert_eq!(ready.refusal(&body).await, told(403, "scope_not_granted"), "{scopes}");
    }
    ready.register(&ready.body_with(&with(ready.receipt(), "scopes", json!(["calendar.read"])))).await.expect(200);
}

on_sqlite! {
    /// AAP-13.3-03, AAP-16.2-08
    async fn tokens_of_two_people_do_not_go_together(kit) {
        let ready = Ready::on(kit).await;
        let plane = &ready.plane;
        let bob = plane.person("bob").await;
        let bobs = plane.connect(&bob, plane.acme(), SCOPES).await;
        let receipt_of_bob = plane.receipt_claims(plane.acme(), "bob", &bobs, SCOPES);
        let mismatched = [
            with(ready.body(), "acting_for", json!("bob")),
            ready.body_with(&with(ready.receipt(), "sub", json!("bob"))),
            ready.body_with(&with(ready.receipt(), "delegation_id", json!(bobs.delegation_id))),
            ready.body_with(&receipt_of_bob),
        ];
        for body in mismatched {
            assert_eq!(ready.refusal(&body).await, told(401, "delegation_mismatch"), "{body}");
        }

        // The session is alice's from now on, with or without a receipt.
        ready.register(&ready.body_with(&ready.receipt())).await.expect(200);
        assert_eq!(ready.receipt()["session_id"], receipt_of_bob["session_id"]);
        let of_bob = plane.register_body(plane.acme(), &bobs);
        let by_receipt = with(of_bob.clone(), "consent_receipt", json!(plane.acme().sign_receipt(&receipt_of_bob)));
        let by_name = with(of_bob.clone(), "session_id", ready.receipt()["session_id"].clone());
        for body in [by_receipt, by_name] {
            assert_eq!(ready.refusal(&body).await, told(401, "delegation_mismatch"), "{body}");
        }
        ready.register(&of_bob).await.expect(200);
    }
}
