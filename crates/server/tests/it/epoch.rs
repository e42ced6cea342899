//! A new epoch: on a restored database, no earlier authority continues by itself.

use countersign_engine::Actor;
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
    async fn no_approval_token_or_delegation_of_before_lets_anything_through(kit) {
        let scene = kit.bank().await;
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.approved(BankFixture::transfer()).await;
        BankFixture::decision(&scene.sends(BankFixture::transfer_of("7.00")).await);
        let before = scene.bank.got().len();
        let started = scene.plane.engine.start_epoch().await.unwrap();
        assert_eq!((started.delegations, started.questions, started.approvals), (1, 1, 1), "{started:?}");
        for sent in [GatewayRequest::new("GET", "/accounts"), BankFixture::transfer_of("8.00"), BankFixture::transfer().confirmed("true")] {
            assert_eq!(scene.sends(sent).await.refusal(), (401, "access_token_invalid".into()));
        }
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        let refused = scene.plane.post("/agent/register", &body).await;
        assert_eq!(refused.refusal(), (403, "delegation_suspended".into()));
        assert_eq!(refused.header("x-agent-revoke-reason"), None);
        assert_eq!(scene.bank.got().len(), before);
    }

    ///
    async fn a_lifted_delegation_works_again_and_earlier_approvals_are_asked_for_anew(kit) {
        let scene = kit.bank().await;
        scene.approved(BankFixture::transfer()).await;
        scene.plane.engine.start_epoch().await.unwrap();
        let (project, id) = (scene.plane.at().await.project, scene.connected.delegation_id.clone());
        scene.plane.engine.lift_delegation(&project, &id, None).await.unwrap();
        let agent = scene.plane.holder(&scene.connected, |_| {}).await;
        scene.sends_as(&agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let held = scene.sends_as(&agent, BankFixture::transfer().confirmed("true")).await;
        assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()));
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn only_its_person_an_admin_or_the_service_lifts_a_delegation(kit) {
        let scene = kit.bank().await;
        let engine = &scene.plane.engine;
        engine.start_epoch().await.unwrap();
        let (project, id) = (scene.plane.at().await.project, scene.connected.delegation_id.clone());
        let bob = scene.plane.person("bob").await;
        let member = async |name: &str| {
            let people = engine.people().list().await.unwrap();
            let person = people.into_iter().find(|(person, _)| person.subject == name).unwrap().0;
            let membership = None;
            Actor::Person(Box::new(countersign_engine::ProjectMember { person, membership, fresh_until: scene.plane.now() }))
        };
        drop(bob);
        let refused = engine.lift_delegation(&project, &id, Some(&member("bob").await)).await;
        assert!(refused.is_err(), "a stranger lifted it");
        let alice = member("alice").await;
        engine.lift_delegation(&project, &id, Some(&alice)).await.unwrap();
        scene.plane.holder(&scene.connected, |_| {}).await;
    }

    ///
    async fn keys_are_suspended_and_sign_ins_and_subscriber_tokens_have_ended(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, _heard) = alice.subscribed(&plane).await;
        let paying = json!({ "tool": "payments.send", "arguments": { "to": "acme" } });
        let approved = agent.requests_approval(&plane, "payments.send", paying["arguments"].clone()).await;
        alice.accepts(&plane, &approved).await;
        let pending = agent.requests_approval(&plane, "mail.send", json!({ "n": 1 })).await;
        let started = plane.engine.start_epoch().await.unwrap();
        assert_eq!((started.keys, started.questions, started.approvals), (1, 1, 1), "{started:?}");

        let refused = agent.claims(&plane, &approved, &paying).await;
        assert_eq!(refused.refusal(), (403, "not_authorized".into()));
        assert!(refused.text().contains("suspended since a restore"), "{}", refused.text());
        assert_eq!(alice.get(&plane, "/v1/agents").await.status, 401);
        let questions = phone.request(Method::GET, "/aaep/v1/questions").body(axum::body::Body::empty()).unwrap();
        assert_eq!(plane.send(questions).await.status, 401);

        let project = plane.at().await.project;
        for key in plane.engine.people().api_keys(project.key).await.unwrap() {
            assert!(plane.engine.lift_key(&project, &key.id).await.unwrap().is_live());
        }
        assert_eq!(agent.claims(&plane, &approved, &paying).await.refusal(), (409, "conflict".into()));
        assert_eq!(agent.reads_decision(&plane, &pending).await.expect(200).json()["state"], "cancelled");
        let back = TestPerson::sign_in(&plane, "alice").await;
        assert_eq!(back.pending_questions(&plane).await, 0);
        let again = agent.requests_approval(&plane, "payments.send", paying["arguments"].clone()).await;
        assert_ne!(again["decision_id"], approved["decision_id"]);
    }

    ///
    async fn a_revoked_delegation_stays_revoked_and_each_epoch_is_in_the_evidence(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        plane.revoke_key(&agent).await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let first = plane.engine.start_epoch().await.unwrap();
        assert_eq!((first.keys, first.delegations), (0, 1));
        let second = plane.engine.start_epoch().await.unwrap();
        assert!(second.number > first.number, "{second:?}");
        assert_eq!(second.delegations, 1, "suspended, and perhaps revoked since this backup, too");
        let project = plane.at().await.project;
        for key in plane.engine.people().api_keys(project.key).await.unwrap() {
            assert!(!plane.engine.lift_key(&project, &key.id).await.unwrap().is_live(), "a revoked key came back");
        }
        plane.engine.lift_delegation(&project, &connected.delegation_id, None).await.unwrap();
        let types: Vec<String> = stored_evidence(&plane.place).await.into_iter().map(|entry| entry.event_type).collect();
        assert_eq!(types.iter().filter(|found| *found == "epoch_started").count(), 2, "{types:?}");
        assert!(types.iter().any(|found| found == "delegation_lifted"), "{types:?}");
    }
}
