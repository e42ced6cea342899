//! The outcome of a request: committed, failed or unknown; and one effect, over every channel (R-6).

use super::held::*;
use countersign_engine::Role;
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer,
    bank::{BankFixture, GatewayRequest, Manner},
    on_sqlite,
};
use serde_json::{Value, json};

/// An approved transfer, sent while the bank behaves like this.
async fn sent_to(scene: &BankFixture, manner: Manner) -> (Value, Answer) {
    let decision = scene.approved(BankFixture::transfer()).await;
    scene.bank.set_manner(manner);
    let answer = scene.sends(confirmed_transfer()).await;
    scene.bank.set_manner(Manner::Obliging);
    (decision, answer)
}

/// Refused because of an execution under this decision that runs or may have run.
fn is_taken(answer: &Answer, decision: &Value) {
    assert_eq!(answer.refusal(), (409, "conflict".into()), "{}", answer.text());
    assert!(answer.json()["error_description"].as_str().unwrap().contains(id(decision)), "{}", answer.text());
}

on_sqlite! {
    /// R-6
    async fn a_call_without_an_upstream_response_is_unknown_and_not_asked_again_until_a_persons_finding(kit) {
        let scene = kit.bank().await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let (decision, answer) = sent_to(&scene, Manner::Vanishing).await;
        assert_eq!(answer.refusal(), (502, "upstream_failed".into()));
        assert_eq!(execution(&scene, &decision).await, "unknown");
        assert_eq!(scene.bank.effects().len(), 1);
        for sent in [BankFixture::transfer(), confirmed_transfer(), BankFixture::transfer().waits(1)] {
            is_taken(&scene.sends(sent).await, &decision);
        }
        let other = scene.another(|_| {}).await;
        is_taken(&scene.sends_as(&other, BankFixture::transfer()).await, &decision);
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0);

        reconciles(&scene, &scene.alice, &decision, "no").await.expect(403);
        is_taken(&scene.sends(BankFixture::transfer()).await, &decision);
        reconciles(&scene, &ada, &decision, "no").await.expect(303);
        assert_eq!(execution(&scene, &decision).await, "failed");
        let anew = scene.approved(BankFixture::transfer()).await;
        assert_ne!(id(&anew), id(&decision));
        assert_eq!(scene.reads_decision(&scene.agent, &anew).await.get("last_ran_at"), None);
        scene.sends(confirmed_transfer()).await.expect(201);
    }

    /// R-6
    async fn an_execution_found_by_a_person_is_named_when_the_same_is_asked_again(kit) {
        let scene = kit.bank().await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let (decision, _) = sent_to(&scene, Manner::Garbage).await;
        assert_eq!(execution(&scene, &decision).await, "unknown");
        reconciles(&scene, &ada, &decision, "yes").await.expect(303);
        assert_eq!(execution(&scene, &decision).await, "committed");
        let anew = asked(&scene, BankFixture::transfer()).await;
        assert!(scene.reads_decision(&scene.agent, &anew).await["last_ran_at"].is_string());
    }

    /// R-6
    async fn an_answer_that_does_not_say_that_nothing_was_done_leaves_it_unknown_and_is_passed_on(kit) {
        for status in [408, 425, 500, 502, 503, 504] {
            let scene = kit.bank().await;
            let (decision, answer) = sent_to(&scene, Manner::Status(status)).await;
            assert_eq!((answer.status, answer.json()), (status, json!({ "from": "bank" })));
            assert_eq!(execution(&scene, &decision).await, "unknown", "{status}");
            is_taken(&scene.sends(BankFixture::transfer()).await, &decision);
        }
    }

    /// R-6
    async fn a_call_refused_by_the_upstream_has_failed_and_may_be_asked_for_again_at_once(kit) {
        let listed = |document: &mut ProjectDocument| {
            document.routes.iter_mut().for_each(|route| route.no_effect_statuses = vec![503]);
        };
        let scene = kit.bank_with(listed).await;
        for manner in [400, 409, 422, 503].map(Manner::Status).into_iter().chain([Manner::NoEffect(500)]) {
            let (decision, answer) = sent_to(&scene, manner.clone()).await;
            assert_eq!(answer.json(), json!({ "from": "bank" }));
            assert_eq!(execution(&scene, &decision).await, "failed", "{manner:?}");
            let spent = scene.sends(confirmed_transfer()).await;
            assert_eq!(spent.refusal(), unconfirmed(), "an approval is spent by what fails, too");
            let anew = BankFixture::decision(&spent);
            assert_ne!(id(&anew), id(&decision));
            assert_eq!(scene.reads_decision(&scene.agent, &anew).await.get("last_ran_at"), None);
        }
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// R-6, R-23
    async fn an_upstream_that_cannot_be_reached_costs_no_approval(kit) {
        let scene = kit.bank_with(|document| document.upstreams[0].url = "http://127.0.0.1:1".into()).await;
        let (decision, answer) = sent_to(&scene, Manner::Obliging).await;
        assert_eq!(answer.refusal(), (502, "upstream_failed".into()));
        assert!(answer.json()["hint"].as_str().unwrap().contains("nothing was sent"));
        let looked = scene.reads_decision(&scene.agent, &decision).await;
        assert_eq!((&looked["state"], looked.get("execution")), (&json!("accepted"), None), "{looked}");
    }

    /// R-6
    async fn one_effect_runs_once_in_any_body_session_or_approval(kit) {
        let scene = kit.bank().await;
        let both = [asked(&scene, refund("p-1", "first")).await, asked(&scene, refund("p-1", "second")).await];
        for decision in &both {
            scene.alice.accepts(&scene.plane, decision).await;
        }
        scene.sends(refund("p-1", "first").confirmed("true")).await.expect(201);
        assert_eq!(scene.bank.effects()[0].headers["idempotency-key"], "refund:p-1");
        is_taken(&scene.sends(refund("p-1", "second").confirmed("true")).await, &both[0]);
        is_taken(&scene.sends(refund("p-1", "third")).await, &both[0]);
        is_taken(&scene.sends(refund("p-1", "first")).await, &both[0]);
        is_taken(&scene.sends(redeem(&both[1])).await, &both[0]);
        let other = scene.another(|_| {}).await;
        is_taken(&scene.sends_as(&other, refund("p-1", "fourth")).await, &both[0]);
        let escaped = GatewayRequest::new("POST", "/refunds").json(r#"{"payment_id":"\u0070-1"}"#);
        is_taken(&scene.sends(escaped).await, &both[0]);
        scene.plane.advance_secs(1800).await;
        is_taken(&scene.sends(refund("p-1", "fifth")).await, &both[0]);
        assert_eq!((scene.bank.effects().len(), scene.alice.pending_questions(&scene.plane).await), (1, 0));
        asked(&scene, refund("p-2", "first")).await;
    }

    /// R-6
    async fn once_an_effect_has_happened_other_questions_about_it_are_superseded_with_an_event_for_their_approvers(kit) {
        let scene = kit.bank().await;
        let (_phone, mut heard) = scene.alice.subscribed(&scene.plane).await;
        let other = asked(&scene, refund("p-1", "second")).await;
        let elsewhere = asked(&scene, refund("p-2", "second")).await;
        scene.approved(refund("p-1", "first")).await;
        scene.sends(refund("p-1", "first").confirmed("true")).await.expect(201);
        let looked = scene.reads_decision(&scene.agent, &other).await;
        assert_eq!((&looked["state"], &looked["cancelled_for"]), (&json!("cancelled"), &json!("superseded")), "{looked}");
        assert_eq!(scene.reads_decision(&scene.agent, &elsewhere).await["state"], "pending");
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 1);
        while !heard.message().await.to_string().contains("the same was carried out under") {}
    }
}
