//! Only a signed-in person on our own pages can give a delegation.

use super::{delegations, granted_leaf, request, show, yes};
use axum::body::Body;
use countersign_engine::{Address, ApiKeyKind, NewKey};
use countersign_testkit::{Plane, TestPerson, agent_request, on_sqlite};
use http::{Method, header};
use serde_json::json;

/// Every kind of credential other than a person's sign-in session.
async fn bearers(plane: &Plane, alice: &TestPerson) -> Vec<(&'static str, String)> {
    let connected = plane.connect(alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    let mut found = vec![
        ("an operator JWT", plane.acme().jwt(plane.service(), plane.now())),
        ("an access token", agent.access_token),
        ("a delegation token", connected.delegation_token),
    ];
    let kinds = [
        ("an agent's key", ApiKeyKind::Agent),
        ("an admin's key", ApiKeyKind::Admin),
        ("an enforcement point's key", ApiKeyKind::EnforcementPoint),
    ];
    let project = plane.engine.project(&Address::Unscoped).await.unwrap().project;
    for (what, kind) in kinds {
        let new = NewKey {
            kind,
            principal: what.into(),
            responsible: "alice".into(),
            actions: Vec::new(),
            asks: Vec::new(),
            jkt: None,
        };
        found.push((what, plane.engine.people().add_key(&project, &new).await.unwrap().secret));
    }
    found
}

on_sqlite! {
    /// AAP-5-01, AAP-17.2-01, AAP-5.1-04
    async fn no_credential_of_an_agent_an_operator_or_a_key_gives_a_delegation(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let bearers = bearers(&plane, &alice).await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let answer = plane.post("/agent/delegate", &yes(&waiting, &shown)).await;
        assert_eq!(answer.refusal(), (401, "sign_in_required".into()), "no credentials at all");
        for (what, bearer) in bearers {
            for body in [json!({ "request_id": waiting }), yes(&waiting, &shown)] {
                let request = agent_request(Method::POST, "/agent/delegate");
                let request = request.header(header::AUTHORIZATION, format!("Bearer {bearer}"));
                let answer = plane.send(request.body(Body::from(body.to_string())).unwrap()).await;
                assert_eq!(answer.refusal(), (401, "sign_in_required".into()), "{what}: {body}");
            }
        }
        let body = json!({ "request_id": waiting, "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
        let answer = plane.post("/agent/delegate", &body).await;
        assert_eq!(answer.refusal(), (401, "sign_in_required".into()), "an operator JWT in the body");
        assert_eq!(delegations(&plane, &alice).await, 1, "the one that she gave");
    }

    /// AAP-17.2-01
    async fn a_session_without_its_token_from_our_pages_gives_no_delegation(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let unmarked = alice.request(Method::POST, "/agent/delegate").header(header::CONTENT_TYPE, "application/json");
        let answer = plane.send(unmarked.body(Body::from(yes(&waiting, &shown).to_string())).unwrap()).await;
        assert_eq!(answer.refusal(), (403, "csrf_rejected".into()));
        assert_eq!(delegations(&plane, &alice).await, 0);
        alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201);
    }

    /// AAP-5-01
    async fn every_delegation_has_a_persons_approval_in_the_log_from_before_it_was_of_any_use(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        for person in [&alice, &bob, &alice] {
            plane.advance_secs(5).await;
            let connected = plane.connect(person, plane.acme(), &["calendar.read"]).await;
            let granted_at = plane.now();
            plane.advance_secs(5).await;
            let agent = plane.register(plane.acme(), &connected).await;
            plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
            let page = person.get(&plane, &format!("/agent/audit?delegation_id={}", connected.delegation_id)).await;
            let entries = page.expect(200).json()["entries"].clone();
            assert_eq!(entries[0]["event_type"], "delegation_granted");
            assert_eq!((&entries[0]["by"], &entries[0]["acting_for"]), (&json!("user"), &json!(person.name)));
            assert_eq!(entries[0]["timestamp"], granted_at.to_rfc3339());
            let others = entries.as_array().unwrap().iter().skip(1);
            assert!(others.clone().all(|e| e["event_type"] != "delegation_granted"));
            assert!(others.clone().all(|e| e["timestamp"].as_str() > entries[0]["timestamp"].as_str()));
            assert_eq!(granted_leaf(&plane, &connected.delegation_id).await["operator"], "acme.test");
        }
    }
}
