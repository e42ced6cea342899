//! The record comes first at the gateway too (R-24): nothing is sent, and no response leaves, before it is durable.

use countersign_testkit::{
    Setup,
    bank::{Bank, BankFixture, GatewayRequest, Manner},
    faulty_store::WriteFaults,
    leaks::Folder,
    on_both_stores, stored_evidence,
};
use serde_json::Value;
use std::sync::Arc;

on_both_stores! {
    /// R-24, R-5
    async fn a_held_write_is_claimed_and_begun_in_the_evidence_before_the_bank_gets_it(kit) {
        let (scene, _folder) = lasting(kit).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let before = stored_evidence(&scene.plane.place).await.len();
        let (ran, seen) = tokio::join!(scene.sends(BankFixture::transfer().confirmed("true")), async {
            scene.bank.next_arrival().await;
            let log = stored_evidence(&scene.plane.place).await;
            let looked = scene.reads_decision(&scene.agent, &decision).await;
            scene.bank.release_response();
            (log, looked)
        });
        ran.expect(201);
        let (log, looked) = seen;
        let events: Vec<&str> = log[before..].iter().map(|entry| entry.event_type.as_str()).collect();
        assert!(events.contains(&"call_started") && events.contains(&"execution_claimed"), "{events:?}");
        assert!(!events.contains(&"call"), "what became of it is not known yet: {events:?}");
        assert_eq!(looked["execution"]["state"], "claimed");
        let started = log.iter().find(|entry| entry.event_type == "call_started").expect("the intent");
        let leaf: Value = serde_json::from_slice(&started.leaf).unwrap();
        assert_eq!((&leaf["action"], &leaf["decision_id"]), (&"transfers.send".into(), &decision["decision_id"]));
        let after = stored_evidence(&scene.plane.place).await;
        assert!(after[log.len()..].iter().any(|entry| entry.event_type == "call"));
    }

    /// R-24
    async fn a_plain_write_is_begun_in_the_evidence_before_the_bank_gets_it(kit) {
        let (scene, _folder) = lasting(kit).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let before = stored_evidence(&scene.plane.place).await.len();
        let (ran, log) = tokio::join!(scene.sends(note()), async {
            scene.bank.next_arrival().await;
            let log = stored_evidence(&scene.plane.place).await;
            scene.bank.release_response();
            log
        });
        ran.expect(201);
        let events: Vec<&str> = log[before..].iter().map(|entry| entry.event_type.as_str()).collect();
        assert_eq!(events, ["call_started"]);
    }

    /// R-24
    async fn no_answer_leaves_whose_record_cannot_be_written(kit) {
        for (sent, is_write) in [(read(), false), (note(), true), (BankFixture::transfer().confirmed("true"), true)] {
            let (scene, log) = failing(kit).await;
            scene.approved(BankFixture::transfer()).await;
            scene.bank.set_manner(Manner::Thoughtful);
            let (answer, ()) = tokio::join!(scene.sends(sent), async {
                scene.bank.next_arrival().await;
                log.start();
                scene.bank.release_response();
            });
            assert_eq!(answer.refusal(), (503, "service_unavailable".into()));
            assert!(!answer.text().contains("\"from\""), "{}", answer.text());
            let warned = answer.text().contains("do not repeat it blindly");
            assert_eq!(warned, is_write, "a write may have happened: {}", answer.text());
        }
    }

    /// R-24, R-5
    async fn nothing_passes_while_the_log_cannot_be_written_and_no_approval_is_lost(kit) {
        let (scene, log) = failing(kit).await;
        scene.sends(read()).await.expect(200);
        let decision = scene.approved(BankFixture::transfer()).await;
        let arrived = scene.bank.got().len();
        log.start();
        // The first of them detects it; a read may have run ahead of it, and its response was dropped.
        let first = scene.sends(note()).await;
        assert_eq!(first.refusal(), (503, "service_unavailable".into()));
        for sent in [read(), note(), BankFixture::transfer(), BankFixture::transfer().confirmed("true"), refused()] {
            let answer = scene.sends(sent).await;
            assert_eq!(answer.refusal(), (503, "service_unavailable".into()));
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        assert_eq!(scene.bank.got().len(), arrived, "nothing reached the bank");
        log.stop();
        scene.sends(read()).await.expect(200);
        assert!(scene.reads_decision(&scene.agent, &decision).await["execution"].is_null());
        scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }
}

fn read() -> GatewayRequest {
    GatewayRequest::new("GET", "/accounts")
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}

/// A call that would be refused if the refusal could be recorded.
fn refused() -> GatewayRequest {
    read().with("x-agent-consent", "not.the.receipt")
}

pub(super) async fn lasting(kit: countersign_testkit::Kit) -> (BankFixture, Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
    (BankFixture::on(plane, bank).await, folder)
}

/// A bank with an evidence log that can be made to fail.
pub(super) async fn failing(kit: countersign_testkit::Kit) -> (BankFixture, WriteFaults) {
    let (bank, log) = (Bank::open().await, WriteFaults::default());
    let around = log.clone();
    let setup = Setup { wrap_store: Arc::new(move |store| around.wrap(store)), ..Setup::bank(&bank, |_| {}) };
    (BankFixture::on(kit.plane_with(setup).await, bank).await, log)
}
