//! After the 200 of a revocation no call passes the gateway, on any node; open streams end.

use countersign_testkit::{
    Answer, Backend, Kit, Setup,
    bank::{Bank, BankFixture, GatewayListener, GatewayRequest, Manner},
    deadline::within_deadline,
    on_both_stores, stored_evidence,
};
use futures_util::future::join_all;
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

on_both_stores! {
    /// R-23, AAP-8.2-01
    async fn of_writes_that_race_a_revocation_none_reaches_the_bank_after_its_200(kit) {
        let bank = Bank::open().await;
        let (plane, _folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
        let scene = BankFixture::on(plane, bank).await;
        let begun = race(&scene, &[scene.gateway.address]).await;
        assert_eq!(started_around_revocation(&scene).await, (begun, 0));
    }

    /// R-23, AAP-8.2-01
    async fn of_sixty_four_callers_none_reaches_the_bank_after_the_200(kit) {
        let bank = Bank::open().await;
        let (plane, _folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
        let scene = BankFixture::on(plane, bank).await;
        let begun = under_load(&scene, &[scene.gateway.address]).await;
        assert_eq!(started_around_revocation(&scene).await, (begun, 0));
    }

    ///
    async fn a_read_that_is_cut_off_while_the_bank_works_gets_the_refusal_and_not_the_answer(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(scene.sends(GatewayRequest::new("GET", "/accounts")), async {
            scene.bank.next_arrival().await;
            revoke(&scene).await;
            scene.bank.release_response();
        });
        assert_cut_off(&answer);
        assert!(!answer.text().contains("\"from\""), "{}", answer.text());
    }

    ///
    async fn an_approval_is_worth_nothing_once_the_delegation_is_revoked(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        revoke(&scene).await;
        let token = decision["confirm_token"].as_str().unwrap_or("true").to_owned();
        for confirmed in ["true", &token] {
            assert_cut_off(&scene.sends(BankFixture::transfer().confirmed(confirmed)).await);
        }
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn a_stream_ends_when_its_delegation_is_revoked(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Events);
        let stream = scene.opens_as(&scene.agent, GatewayRequest::new("GET", "/prices")).await.opened(200);
        revoke(&scene).await;
        within_deadline("the end of the stream", stream.read_to_end()).await;
        assert_cut_off(&scene.sends(GatewayRequest::new("GET", "/prices")).await);
    }
}

/// R-23, AAP-8.2-01
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_writes_that_race_a_revocation_none_passes_at_either_node_after_its_200() {
    let scene = Kit(Backend::Postgres).bank().await;
    let (engine, _) = scene.plane.second_node().await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    scene.plane.advance_secs(700).await;
    race(&scene, &[scene.gateway.address, second.address]).await;
}

/// R-23, AAP-8.2-01
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixty_four_callers_at_two_nodes_none_reaches_the_bank_after_the_200() {
    let scene = Kit(Backend::Postgres).bank().await;
    let (engine, _) = scene.plane.second_node().await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    scene.plane.advance_secs(700).await;
    under_load(&scene, &[scene.gateway.address, second.address]).await;
}

/// The number of writes that the log has before the revocation and after it: each is there before its first byte leaves.
async fn started_around_revocation(scene: &BankFixture) -> (usize, usize) {
    let log: Vec<String> =
        stored_evidence(&scene.plane.place).await.into_iter().map(|entry| entry.event_type).collect();
    let end = log.iter().position(|event| event == "delegation_revoked").expect("the revocation");
    let started = |log: &[String]| log.iter().filter(|event| *event == "call_started").count();
    (started(&log[..end]), started(&log[end..]))
}

/// Each caller reads and writes until it is refused, at each node in turn. A call that begins after the 200 says so in its
/// query.
///
/// The number of writes that were begun.
async fn under_load(scene: &BankFixture, nodes: &[SocketAddr]) -> usize {
    let (revoked, passed, cut) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let caller = async |n: usize| {
        for round in 0.. {
            let (late, node) = (revoked.load(Ordering::SeqCst), nodes[(n + round) % nodes.len()]);
            let target = if late { "?late=1" } else { "" };
            let request = match (n + round) % 3 {
                0 => GatewayRequest::new("POST", &format!("/notes{target}"))
                    .json(format!("{{\"note\":\"{n} {round}\"}}")),
                _ => GatewayRequest::new("GET", &format!("/accounts{target}")),
            };
            let answer = scene.sends_at(node, &scene.agent, request).await;
            match (answer.is_success(), late) {
                (true, false) => drop(passed.fetch_add(usize::from(answer.status == 201), Ordering::SeqCst)),
                (false, false) if is_cut(&answer) => drop(cut.fetch_add(1, Ordering::SeqCst)),
                (_, true) => return assert_cut_off(&answer),
                // Refused while the revocation was still being answered.
                (false, false) => assert_cut_off(&answer),
            }
        }
    };
    let revoking = async {
        scene.bank.wait_for_requests(300).await;
        revoke(scene).await;
        revoked.store(true, Ordering::SeqCst);
    };
    tokio::join!(join_all((0..64).map(caller)), revoking);
    let (got, passed, cut) = (scene.bank.got(), passed.into_inner(), cut.into_inner());
    assert!(got.len() >= 300 && passed > 0);
    assert!(!got.iter().any(|got| got.target.contains("late")), "a call passed after the 200");
    assert_told(scene, passed, cut);
    passed + cut
}

/// Each write that ran was told, and no other; a write that was cut may have run.
fn assert_told(scene: &BankFixture, passed: usize, cut: usize) {
    let ran = scene.bank.effects().len();
    assert!((passed..=passed + cut).contains(&ran), "{ran} ran, {passed} passed, {cut} were cut");
}

/// On a slow machine a write may still be leaving 700 ms after the revocation.
fn is_cut(answer: &Answer) -> bool {
    answer.status == 502
}

/// Thirty writes at once, one revocation among them, and then one more at each node.
///
/// The number that were begun.
async fn race(scene: &BankFixture, nodes: &[SocketAddr]) -> usize {
    let sending = join_all((0..30).map(|n| scene.sends_at(nodes[n % nodes.len()], &scene.agent, note_of(n))));
    let revoking = async {
        scene.bank.next_arrival().await;
        revoke(scene).await;
    };
    let (answers, ()) = tokio::join!(sending, revoking);
    let (passed, others): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    let (cut, refused): (Vec<_>, Vec<_>) = others.into_iter().partition(|answer| is_cut(answer));
    refused.into_iter().for_each(assert_cut_off);
    let (passed, cut) = (passed.len(), cut.len());
    assert_told(scene, passed, cut);
    let reached = scene.bank.got().len();
    for node in nodes {
        assert_cut_off(&scene.sends_at(*node, &scene.agent, note()).await);
        assert_cut_off(&scene.sends_at(*node, &scene.agent, GatewayRequest::new("GET", "/accounts")).await);
    }
    assert_eq!(scene.bank.got().len(), reached);
    passed + cut
}

async fn revoke(scene: &BankFixture) {
    let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
    scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
}

fn note() -> GatewayRequest {
    note_of(0)
}

fn note_of(n: usize) -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(format!("{{\"note\":\"hello {n}\"}}"))
}

fn assert_cut_off(answer: &Answer) {
    assert_eq!(answer.refusal(), (401, "delegation_revoked".into()));
    assert_eq!(answer.header("x-agent-revoke-reason"), Some("manual_revoke"));
}
