//! `POST /aaep/v1/subscriptions`: acceptance names the address of the events; every refusal is a protocol document (S2).

use axum::body::Body;
use countersign_testkit::{
    Answer, Setup, aaep::subscription_request, aaep_judge::judge_message, decisions::DecisionFixture, on_sqlite,
};
use http::{Method, header};
use serde_json::{Value, json};

/// Fails unless it is a well-formed rejection; returns its reason.
fn rejected(answer: &Answer) -> (u16, String) {
    let document = answer.json();
    judge_message("subscription.rejected", &document);
    (answer.status, document["reason_code"].as_str().unwrap().to_owned())
}

on_sqlite! {
    /// S2, S12
    async fn every_refusal_is_a_rejection_with_the_status_of_its_reason(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let phone = alice.subscriber(&plane).await;
        let path = "/aaep/v1/subscriptions";
        let mut nobody = phone.clone();
        nobody.token = "cst_guessed".into();
        let unproven = nobody.post(&plane, path, &subscription_request(json!({}))).await;
        assert_eq!(rejected(&unproven), (401, "authentication_required".into()));
        assert_eq!(unproven.header("www-authenticate"), Some("Bearer"));
        // Without credentials, the response does not depend on the body.
        assert_eq!(nobody.post_text(&plane, path, "nonsense".into()).await.json(), unproven.json());
        let mut old = subscription_request(json!({}));
        old["aaep_version"] = json!("0.1.0");
        assert_eq!(rejected(&phone.post(&plane, path, &old).await), (400, "version_unsupported".into()));
        let bad = subscription_request(json!({ "max_events_per_second": 0 }));
        assert_eq!(rejected(&phone.post(&plane, path, &bad).await), (400, "unknown".into()));
        assert_eq!(rejected(&phone.post_text(&plane, path, "nonsense".into()).await), (400, "unknown".into()));
        assert_eq!(rejected(&phone.post_text(&plane, path, " ".repeat(70_000)).await), (413, "unknown".into()));
        let twice = subscription_request(json!({ "dev_countersign": { "min_timeout_seconds": 0 } }));
        assert_eq!(rejected(&phone.post(&plane, path, &twice).await), (409, "capabilities_incompatible".into()));
    }

    /// S2
    async fn a_signed_in_person_needs_the_token_of_their_session_and_membership_of_the_project(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let send = |person: &countersign_testkit::TestPerson, csrf: bool| {
            let request = person.request(Method::POST, "/aaep/v1/subscriptions").header(header::CONTENT_TYPE, "application/json");
            let request = if csrf { request.header("x-csrf-token", &person.csrf) } else { request };
            request.body(Body::from(subscription_request(json!({})).to_string())).unwrap()
        };
        let answer = Answer::to(&plane.public, send(&alice, false)).await;
        assert_eq!(rejected(&answer), (403, "authorization_denied".into()));
        let accepted = Answer::to(&plane.public, send(&alice, true)).await.expect(201).json();
        judge_message("subscription.accepted", &accepted);
        plane.account("stranger").await;
        let stranger = countersign_testkit::TestPerson::sign_in(&plane, "stranger").await;
        let answer = Answer::to(&plane.public, send(&stranger, true)).await;
        assert_eq!(rejected(&answer), (403, "authorization_denied".into()));
    }

    /// AAEP 5.4
    async fn an_accepted_handshake_names_the_stream_and_the_honored_terms(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let phone = alice.subscriber(&plane).await;
        let request = subscription_request(json!({ "max_events_per_second": 5, "languages": ["de", "en"] }));
        let answer = phone.post(&plane, "/aaep/v1/subscriptions", &request).await.expect(201);
        let accepted = answer.json();
        judge_message("subscription.accepted", &accepted);
        let id = accepted["subscription_id"].as_str().unwrap();
        assert_eq!(answer.header("location"), Some(format!("/aaep/v1/events?subscription_id={id}").as_str()));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(accepted["honored_capabilities"]["max_events_per_second"].as_u64().unwrap() <= 5);
    }

    /// AAEP-6-01
    async fn at_levels_two_and_three_questions_are_offered_asked_and_answered(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let manifest = plane.get("/.well-known/aaep-manifest.json").await.expect(200).json();
        for level in [2, 3] {
            assert!(manifest["conformance_levels_supported"].as_array().unwrap().contains(&json!(level)));
            let mut phone = alice.subscriber(&plane).await;
            let accepted = phone.subscribes_with(&plane, json!({ "supported_conformance_levels": [level] })).await;
            assert_eq!(accepted["honored_capabilities"]["supported_conformance_levels"], json!([level]));
            let mut heard = phone.opens_stream(&plane).await;
            let decision = agent.requests_approval(&plane, "payments.send", json!({ "level": level })).await;
            phone.accepts(&plane, &heard.next_of("awaiting.confirmation").await).await.expect(204);
            assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
        }
    }

    /// AAEP 5.7, AAEP 5.8, S3
    async fn terms_are_changed_and_a_subscription_is_closed_by_messages(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let changed = json!({ "type": "subscription.renegotiate", "subscription_id": phone.subscription_id,
            "capabilities": { "preferred_verbosity": "terse" } });
        let accepted = phone.replies(&plane, &changed).await.expect(200).json();
        judge_message("subscription.accepted", &accepted);
        assert_eq!(accepted["honored_capabilities"]["preferred_verbosity"], "terse");
        let bob = plane.person("bob").await.subscriber(&plane).await;
        assert!(rejected(&bob.replies(&plane, &changed).await).0 >= 400, "somebody else's");
        let malformed = json!({ "type": "subscription.renegotiate", "subscription_id": phone.subscription_id, "capabilities": 1 });
        assert_eq!(phone.replies(&plane, &malformed).await.refusal(), (400, "invalid_request".into()));
        let request = subscription_request(json!({}));
        assert_eq!(phone.replies(&plane, &request).await.refusal(), (400, "invalid_request".into()));

        let close = json!({ "type": "subscription.close", "subscription_id": phone.subscription_id });
        let of_bob = bob.replies(&plane, &close).await.expect(204);
        let end = phone.replies(&plane, &close).await.expect(204);
        assert_eq!(of_bob.body, end.body);
        let last = heard.rest().await.pop().unwrap();
        assert_eq!(last.event.as_deref(), Some("aaep.close"));
        let document: Value = serde_json::from_str(&last.data.unwrap()).unwrap();
        judge_message("subscription.close", &document);
        phone.replies(&plane, &close).await.expect(204);
    }

    ///
    async fn a_project_of_several_has_its_own_subscriptions(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[countersign_engine::Role::User]).await;
        let new = json!({ "name": "phone" });
        let token = alice.post(&plane, "/projects/north/aaep/v1/subscriber-tokens", &new).await.expect(201).json();
        let phone = countersign_testkit::aaep::Subscriber {
            token: token["token"].as_str().unwrap().into(), token_id: String::new(), subscription_id: String::new() };
        let request = subscription_request(json!({}));
        let accepted = phone.post(&plane, "/projects/north/aaep/v1/subscriptions", &request).await.expect(201);
        let place = accepted.header("location").unwrap();
        assert!(place.starts_with("/projects/north/aaep/v1/events?subscription_id=sub_"), "{place}");
        let south = phone.post(&plane, "/projects/south/aaep/v1/subscriptions", &request).await;
        assert_eq!(rejected(&south), (401, "authentication_required".into()));
    }
}
