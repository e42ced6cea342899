//! Disabling a person ends everything that they hold or are responsible for, in one step.

use countersign_testkit::{
    Setup, TestPerson,
    bank::{BankFixture, GatewayRequest},
    decisions::DecisionFixture,
    on_both_stores, stored_evidence,
};
use http::Method;
use serde_json::json;

on_both_stores! {
    ///
    async fn the_agents_of_a_disabled_person_are_cut_off_at_the_gateway_and_their_questions_cancelled(kit) {
        let scene = kit.bank().await;
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.approved(BankFixture::transfer()).await;
        BankFixture::decision(&scene.sends(BankFixture::transfer_of("7.00")).await);
        let before = scene.bank.got().len();
        let ended = scene.plane.engine.people().disable_person("alice", "operator").await.unwrap();
        assert_eq!((ended.delegations, ended.questions, ended.approvals), (1, 1, 1), "{ended:?}");
        for sent in [GatewayRequest::new("GET", "/accounts"), BankFixture::transfer_of("8.00"), BankFixture::transfer().confirmed("true")] {
            assert_eq!(scene.sends(sent).await.code(), "auto_revoked");
        }
        assert_eq!(scene.bank.got().len(), before);
        let again = scene.plane.engine.people().disable_person("alice", "operator").await.unwrap();
        assert_eq!((again.delegations, again.keys, again.questions), (0, 0, 0), "twice changes nothing more");
        scene.plane.engine.people().set_disabled("alice", false).await.unwrap();
        assert_eq!(scene.sends(GatewayRequest::new("GET", "/accounts")).await.code(), "auto_revoked");
    }

    ///
    async fn the_keys_and_tokens_of_a_disabled_person_end_and_the_person_is_no_longer_asked(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let bob = plane.person("bob").await;
        let (phone, mut heard) = alice.subscribed(&plane).await;
        let of_bob = plane.agent_key("bob", &["mail.send"]).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        heard.next_of("awaiting.confirmation").await;
        let ended = plane.engine.people().disable_person("alice", "operator").await.unwrap();
        assert_eq!((ended.keys, ended.tokens, ended.questions), (1, 1, 1), "{ended:?}");
        assert_eq!(heard.rest().await.pop().unwrap().event.as_deref(), Some("aaep.close"));
        assert_eq!(agent.reads_decision(&plane, &decision).await.status, 403);
        assert_eq!(agent.requests_confirmation(&plane, &json!({ "action": "a", "consequence": "b" })).await.status, 403);
        let request = phone.request(Method::GET, "/aaep/v1/questions").body(axum::body::Body::empty()).unwrap();
        assert_eq!(plane.send(request).await.status, 401);
        of_bob.requests_approval(&plane, "mail.send", json!({ "n": 1 })).await;
        assert_eq!(bob.pending_questions(&plane).await, 1, "nobody else is touched");
        let key = countersign_engine::NewKey {
            kind: countersign_engine::ApiKeyKind::Agent,
            principal: "late".into(),
            responsible: "alice".into(),
            actions: vec![],
            asks: vec![],
            jkt: None,
        };
        let refused = plane.engine.people().add_key(&plane.at().await.project, &key).await.err().unwrap().to_string();
        assert!(refused.contains("disabled"), "{refused}");
        plane.engine.people().set_disabled("alice", false).await.unwrap();
        let back = TestPerson::sign_in(&plane, "alice").await;
        assert_eq!(back.pending_questions(&plane).await, 0);
        assert_eq!(agent.reads_decision(&plane, &decision).await.status, 403, "enabling brings no key back");
    }

    ///
    async fn everything_that_ended_with_an_account_is_in_the_evidence(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        agent.requests_approval(&plane, "mail.send", json!({ "n": 1 })).await;
        plane.engine.people().disable_person("alice", "operator").await.unwrap();
        let types: Vec<String> =
            stored_evidence(&plane.place).await.into_iter().map(|entry| entry.event_type).collect();
        for wanted in ["person_disabled", "auto_revoked", "api_key_revoked", "decision_settled"] {
            assert!(types.iter().any(|found| found == wanted), "{wanted}: {types:?}");
        }
    }
}
