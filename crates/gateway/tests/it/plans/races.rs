//! Many at once: a remainder is claimed once, and no sum is ever exceeded.

use super::{held, unconfirmed};
use countersign_testkit::{
    Answer, Backend, Kit,
    bank::{BankFixture, GatewayListener, GatewayRequest, Got, PlanDraft, paying, paying_within, payouts},
    on_both_stores,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// All requests at once, over all of these nodes in turn.
async fn at_once(
    fixture: &BankFixture,
    nodes: &[SocketAddr],
    all: impl IntoIterator<Item = GatewayRequest>,
) -> Vec<Answer> {
    // A first call fetches the nonces, so that none of the others needs a retry.
    for node in nodes {
        fixture.sends_at(*node, &fixture.agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
    }
    let nodes = nodes.iter().cycle();
    join_all(all.into_iter().zip(nodes).map(|(sent, node)| fixture.sends_at(*node, &fixture.agent, sent))).await
}

fn ran(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 201).count()
}

/// Fifty times the same call for the last use of a plan.
async fn the_last_use_goes_to_one(fixture: &BankFixture, nodes: &[SocketAddr]) {
    let draft = PlanDraft::of(paying(2)).agent_step("Write the report");
    fixture.planned(&draft).await;
    fixture.sends(BankFixture::transfer_of("7.00")).await.expect(201);
    let answers = at_once(fixture, nodes, (0..50).map(|_| BankFixture::transfer_of("8.00"))).await;
    assert_eq!((ran(&answers), fixture.bank.effects().len()), (1, 2));
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        // While it runs it is neither run nor asked again; afterwards a person is asked.
        let told = answer.refusal();
        assert!(told == unconfirmed() || told == (409, "conflict".into()), "{}", answer.text());
    }
    held(fixture, BankFixture::transfer_of("8.00")).await;
    assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 1, "one question for all of them");
    assert_eq!((fixture.uses_left(&draft, 1).await, fixture.bank.effects().len()), (0, 2));
}

/// Fifty different calls, of which the plan allows any one.
async fn one_of_fifty_runs(fixture: &BankFixture, nodes: &[SocketAddr]) {
    let draft = PlanDraft::of(paying(1)).agent_step("Write the report");
    fixture.planned(&draft).await;
    let answers = at_once(fixture, nodes, (1..=50).map(|n| BankFixture::transfer_of(&format!("{n}.00")))).await;
    assert_eq!((ran(&answers), fixture.bank.effects().len()), (1, 1));
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(answer.refusal(), unconfirmed(), "{}", answer.text());
    }
    assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 49);
}

/// Forty payments of about thirty dollars, of which a thousand dollars are enough for thirty-two or thirty-three.
async fn the_sum_holds(fixture: &BankFixture, nodes: &[SocketAddr]) {
    let bound = json!({ "most": "100.00", "sum": "1000.00" });
    let draft = PlanDraft::of(paying_within(bound, 100));
    fixture.planned(&draft).await;
    let answers = at_once(fixture, nodes, (1..=40).map(|n| BankFixture::transfer_of(&format!("30.{n:02}")))).await;
    let effects = fixture.bank.effects();
    assert_eq!(ran(&answers), effects.len());
    let paid: u64 = effects.iter().map(cents).sum();
    assert!(paid <= 100_000, "{paid}");
    assert!(paid + 3040 > 100_000, "there was room for one more: {paid}");
    let left = fixture.step(&draft, 1).await["runs"]["left"]["sums"][0]["left"].clone();
    assert_eq!(in_cents(left.as_str().unwrap()), 100_000 - paid);
}

fn cents(got: &Got) -> u64 {
    let body: Value = serde_json::from_slice(&got.body).unwrap();
    in_cents(body["amount"].as_str().unwrap())
}

fn in_cents(amount: &str) -> u64 {
    amount.replace('.', "").parse().unwrap()
}

on_both_stores! {
    ///
    async fn of_fifty_claims_of_the_last_use_one_succeeds(kit) {
        let fixture = kit.bank_with(payouts).await;
        the_last_use_goes_to_one(&fixture, &[fixture.gateway.address]).await;
    }

    ///
    async fn of_fifty_different_calls_the_one_use_is_for_one(kit) {
        let fixture = kit.bank_with(payouts).await;
        one_of_fifty_runs(&fixture, &[fixture.gateway.address]).await;
    }

    ///
    async fn forty_payments_at_once_do_not_exceed_the_sum(kit) {
        let fixture = kit.bank_with(payouts).await;
        the_sum_holds(&fixture, &[fixture.gateway.address]).await;
    }
}

/// A second node, and the first one past the time after a start in which it demands nonces.
async fn two_nodes() -> (BankFixture, GatewayListener) {
    let fixture = Kit(Backend::Postgres).bank_with(payouts).await;
    let (engine, _) = fixture.plane.second_node().await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    fixture.plane.advance_secs(700).await;
    (fixture, second)
}

///
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_claims_of_the_last_use_at_two_nodes_one_succeeds() {
    let (fixture, second) = two_nodes().await;
    the_last_use_goes_to_one(&fixture, &[fixture.gateway.address, second.address]).await;
}

///
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_different_calls_at_two_nodes_the_one_use_is_for_one() {
    let (fixture, second) = two_nodes().await;
    one_of_fifty_runs(&fixture, &[fixture.gateway.address, second.address]).await;
}

///
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn forty_payments_at_two_nodes_at_once_do_not_exceed_the_sum() {
    let (fixture, second) = two_nodes().await;
    the_sum_holds(&fixture, &[fixture.gateway.address, second.address]).await;
}
