//! What ends a request, and what was approved.

use super::*;
use countersign_engine::NotCounted;
use countersign_testkit::{agent_request, bank::Manner, deadline::within_deadline, on_both_stores, on_sqlite};

/// The ways in which an agent's task ends.
async fn end(scene: &BankFixture, agent: &Holder, how: &str) {
    let session = json!({ "session_id": agent.session_id });
    let delegation = json!({ "delegation_id": agent.delegation_id });
    match how {
        "cancel" => scene.posts(agent, "/agent/cancel", &session).await.expect(200),
        "complete" => scene.posts(agent, "/agent/task-complete", &session).await.expect(200),
        _ => scene.alice.post(&scene.plane, "/agent/revoke", &delegation).await.expect(200),
    };
}

/// Without another try: a token that ended gets no new nonce.
async fn polls_once(scene: &BankFixture, agent: &Holder) -> Answer {
    let url = format!("{}/agent/scope-approval", scene.plane.service());
    let request = agent_request(Method::GET, &format!("/agent/scope-approval?session_id={}", agent.session_id))
        .header("authorization", agent.authorization())
        .header("dpop", agent.proof("GET", &url, scene.plane.now()).unwrap());
    scene.plane.send(request.body(axum::body::Body::empty()).unwrap()).await
}

async fn registers_again(scene: &BankFixture, agent: &Holder, scopes: &[&str]) -> Holder {
    scene
        .with_receipt(|claims| {
            claims["session_id"] = json!(agent.session_id);
            claims["scopes"] = json!(scopes);
        })
        .await
}

on_both_stores! {
    /// R-5, AAP-G-49
    async fn with_its_task_a_request_ends_and_cannot_be_approved_any_more(kit) {
        let scene = kit.bank().await;
        for how in ["cancel", "complete", "revoke"] {
            let agent = reader(&scene).await;
            let noted = asks(&scene, &agent, note()).await;
            scene.alice.accepts(&scene.plane, &noted).await;
            scene.sends_as(&agent, note()).await.expect(201);
            let asked = asks(&scene, &agent, payee()).await;
            assert_eq!((pending(&scene).await, summary(&scene, &scene.alice).await.len()), (1, 1), "{how}");

            end(&scene, &agent, how).await;
            assert_eq!((pending(&scene).await, summary(&scene, &scene.alice).await.len()), (0, 0), "{how}");
            let late = scene.alice.tries(&scene.plane, &asked, true).await;
            assert!(matches!(late, Some(NotCounted::Settled)), "{how}: {late:?}");
            assert_eq!(polls_once(&scene, &agent).await.status, 401, "{how}");
            assert_eq!(scene.sends_as(&agent, note()).await.status, 401, "{how}");
            assert_eq!(recorded(&scene).await.last().unwrap(), "cancelled", "{how}");
        }
    }

    ///
    async fn an_approval_that_races_a_revocation_allows_nothing_after_it(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        let (answered, ()) = tokio::join!(scene.alice.tries(&scene.plane, &asked, true), end(&scene, &agent, "revoke"));
        let outcomes = recorded(&scene).await;
        let expected = if answered.is_none() { ["raised", "approved"] } else { ["raised", "cancelled"] };
        assert_eq!(outcomes, expected);
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), (401, "delegation_revoked".into()));
        assert_eq!((scene.bank.got().len(), summary(&scene, &scene.alice).await.len()), (0, 0));
    }

    /// AAP-12.3-02
    async fn a_new_receipt_ends_what_was_requested_and_approved_for_the_earlier_one(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let noted = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &noted).await;
        let asked = asks(&scene, &agent, payee()).await;
        let renewed = registers_again(&scene, &agent, &["bank.read", "bank.ping"]).await;
        assert_eq!((pending(&scene).await, summary(&scene, &scene.alice).await.len()), (0, 0));
        assert!(matches!(scene.alice.tries(&scene.plane, &asked, true).await, Some(NotCounted::Settled)));
        assert_eq!(polls(&scene, &renewed).await["status"], "none");
        let again = asks(&scene, &renewed, note()).await;
        assert_ne!(again["decision_id"], noted["decision_id"]);
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), exceeded(), "its other token");
    }
}

on_sqlite! {
    async fn a_registration_with_the_same_receipt_or_without_one_keeps_what_was_approved(kit) {
        let scene = kit.bank().await;
        let acme = scene.plane.acme();
        let mut claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, &["bank.read"]);
        claims["intent_type"] = json!("PAY");
        let receipt = acme.sign_receipt(&claims);
        let agent = scene.another(|body| body["consent_receipt"] = json!(receipt)).await;
        let asked = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        let same = scene.another(|body| body["consent_receipt"] = json!(receipt)).await;
        scene.sends_as(&same, note()).await.expect(201);
    }

    async fn a_stream_under_an_expansion_ends_with_it(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Events);
        let agent = scene.with_receipt(|claims| claims["scopes"] = json!(["bank.note"])).await;
        let prices = || GatewayRequest::new("GET", "/prices");
        let asked = asks(&scene, &agent, prices()).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        let stream = scene.opens_as(&agent, prices()).await.opened(200);
        registers_again(&scene, &agent, &["bank.note", "bank.ping"]).await;
        within_deadline("the end of the stream", stream.read_to_end()).await;
        assert_eq!(scene.sends_as(&agent, prices()).await.refusal(), exceeded());
    }

    async fn a_cancelled_task_that_is_reopened_begins_without_what_was_approved(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        end(&scene, &agent, "cancel").await;
        let again = registers_again(&scene, &agent, &["bank.read", "bank.ping"]).await;
        assert_eq!(polls(&scene, &again).await["status"], "none");
        assert_ne!(asks(&scene, &again, note()).await["decision_id"], asked["decision_id"]);
    }

    async fn with_the_receipt_ends_what_was_approved_and_the_request_for_it(kit) {
        let scene = kit.bank().await;
        let now = scene.plane.now().secs();
        let short = |claims: &mut Value| {
            claims["scopes"] = json!(["bank.read"]);
            claims["exp"] = json!(now + 60);
        };
        let agent = scene.with_receipt(short).await;
        let noted = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &noted).await;
        let asked = asks(&scene, &agent, payee()).await;
        // The receipt is honoured for its usual skew, and not longer.
        let deadline = asked["expires_at"].as_str().unwrap();
        assert_eq!(deadline, countersign_protocol::time::UnixMillis::from_secs(now + 360).to_rfc3339());
        scene.plane.advance_secs(361).await;
        assert!(scene.alice.tries(&scene.plane, &asked, true).await.is_some());
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), (401, "consent_expired".into()));
        assert_eq!(summary(&scene, &scene.alice).await.len(), 0);
    }
}
