//! `Prefer: wait`: the connection is held until a person has answered, and then everything is decided anew.

use super::held::*;
use countersign_testkit::{
    Answer, Kit,
    bank::{BankFixture, GATEWAY, GatewayListener, GatewayRequest},
    deadline::until,
    on_sqlite,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinHandle};

/// Far below the longest wait.
const AT_ONCE: Duration = Duration::from_secs(5);

async fn scene(kit: Kit) -> Arc<BankFixture> {
    Arc::new(kit.bank().await)
}

/// A held transfer, and its pending decision.
async fn waiting(scene: &Arc<BankFixture>) -> (JoinHandle<Answer>, Value) {
    let (whose, sent) = (Arc::clone(scene), BankFixture::transfer().waits(50));
    let wait = tokio::spawn(async move { whose.sends(sent).await });
    somebody_is_asked(scene).await;
    let decision = asked(scene, BankFixture::transfer()).await;
    for _ in 0..5 {
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["state"], "pending");
    }
    assert!(!wait.is_finished(), "it did not wait");
    (wait, decision)
}

async fn somebody_is_asked(scene: &BankFixture) {
    until("a question", async || scene.alice.pending_questions(&scene.plane).await == 1).await;
}

async fn woken(wait: JoinHandle<Answer>) -> Answer {
    tokio::time::timeout(AT_ONCE, wait).await.expect("nobody woke it").unwrap()
}

on_sqlite! {
    ///
    async fn an_approval_wakes_the_call_and_it_runs_once(kit) {
        let scene = scene(kit).await;
        let (wait, decision) = waiting(&scene).await;
        assert_eq!(scene.bank.effects().len(), 0);
        scene.alice.accepts(&scene.plane, &decision).await;
        assert_eq!(woken(wait).await.expect(201).json(), json!({ "from": "bank" }));
        assert_eq!(execution(&scene, &decision).await, "committed");
        asked(&scene, confirmed_transfer()).await;
        assert_eq!(scene.bank.effects().len(), 1);
        let calls = scene.calls().await;
        assert_eq!(calls.iter().filter(|call| call["outcome"] == "201 Created").count(), 1);
    }

    ///
    async fn an_existing_approval_is_claimed_by_a_call_that_would_wait_for_it(kit) {
        let scene = scene(kit).await;
        scene.approved(BankFixture::transfer()).await;
        scene.sends(BankFixture::transfer().waits(50)).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }

    async fn a_rejection_wakes_it_with_the_reason_and_the_proposal(kit) {
        let scene = scene(kit).await;
        let (wait, decision) = waiting(&scene).await;
        scene.alice.rejects(&scene.plane, &decision, Some("not before Monday")).await;
        let told = woken(wait).await;
        assert_eq!(told.refusal(), unconfirmed());
        let told = BankFixture::decision(&told);
        assert_eq!((&told["state"], &told["reason"]), (&json!("rejected"), &json!("not before Monday")));

        let (wait, decision) = waiting(&scene).await;
        let instead = json!({ "amount": "8200.00" });
        scene.alice.proposes(&scene.plane, &decision, instead.clone()).await;
        let told = BankFixture::decision(&woken(wait).await);
        assert_eq!((&told["state"], &told["proposal"]), (&json!("rejected"), &instead));
        assert_eq!(scene.bank.effects().len(), 0, "a proposal is not run by itself");
    }

    async fn a_deadline_wakes_it_and_a_fruitless_wait_ends_on_time(kit) {
        let scene = scene(kit).await;
        let (wait, _decision) = waiting(&scene).await;
        scene.plane.advance_secs(300).await;
        let told = woken(wait).await;
        assert_eq!((told.refusal(), &BankFixture::decision(&told)["state"]), (unconfirmed(), &json!("expired")));

        let short = scene.sends(BankFixture::transfer().waits(1));
        let told = tokio::time::timeout(AT_ONCE, short).await.expect("it waits for longer than it said");
        assert_eq!((told.refusal(), &BankFixture::decision(&told)["state"]), (unconfirmed(), &json!("pending")));
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn a_waiter_that_is_cut_off_is_refused_and_nothing_runs(kit) {
        let scene = scene(kit).await;
        let (wait, decision) = waiting(&scene).await;
        revoke(&scene).await;
        assert_eq!(woken(wait).await.refusal(), (401, "delegation_revoked".into()));
        assert!(scene.alice.tries(&scene.plane, &decision, true).await.is_some(), "the question is over");
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn a_caller_that_hangs_up_before_the_answer_does_not_have_it_run_later(kit) {
        let scene = scene(kit).await;
        // There is one slot: the next request is served only after the first connection has ended.
        let node = GatewayListener::open(&scene.plane.engine, |settings| settings.max_connections = 1).await;
        asked(&scene, GatewayRequest::new("POST", "/orders").json("{}")).await;
        let mut gone = connected(&node).await;
        gone.write_all(&wire(&scene.authenticated(&scene.agent, BankFixture::transfer().waits(50)))).await.unwrap();
        until("the second question", async || scene.alice.pending_questions(&scene.plane).await == 2).await;
        drop(gone);
        let next = scene.sends_at(node.address, &scene.agent, BankFixture::transfer());
        let next = tokio::time::timeout(AT_ONCE, next).await.expect("the first one is still waited for");
        let decision = BankFixture::decision(&next);
        assert_eq!(decision["state"], "pending");
        scene.alice.accepts(&scene.plane, &decision).await;
        scene.sends_at(node.address, &scene.agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
        assert_eq!(scene.bank.effects().len(), 0, "it ran for nobody");
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["allowance"]["state"], "open");
        scene.sends(confirmed_transfer()).await.expect(201);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test speaks to the node that it started")]
async fn connected(node: &GatewayListener) -> TcpStream {
    TcpStream::connect(node.address).await.unwrap()
}

/// The request as bytes on the wire.
fn wire(sent: &GatewayRequest) -> Vec<u8> {
    let host = GATEWAY.trim_start_matches("https://");
    let mut head =
        format!("{} {} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", sent.method, sent.target, sent.body.len());
    for (name, value) in &sent.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [head.as_bytes(), b"\r\n", &sent.body].concat()
}
