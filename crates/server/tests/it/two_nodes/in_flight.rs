//! After the response to a revocation no write leaves on any node: not even one that was let through before (R-23).

use super::slow_write::{Rest, SlowWrite, TwoGateways, Unread};
use countersign_testkit::bank::{GatewayRequest, SCOPES};
use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;

/// Far beyond the second after which a revocation is answered, so that a busy machine passes and a node that waits for
/// the other one does not.
const LONG_AFTER: Duration = Duration::from_secs(20);

/// R-23, R-34
#[tokio::test]
async fn a_write_that_one_node_is_sending_is_cut_before_another_node_answers_the_revocation() {
    let two = TwoGateways::open().await;
    let mut here = two.begins(&two.first, 1).await;
    let mut there = two.begins(&two.second, 2).await;
    two.scene.bank.wait_for_requests(2).await;
    two.revokes().await.expect(200);
    here.sends(Rest::Late).await;
    there.sends(Rest::Late).await;
    assert_cut(here.status().await);
    assert_cut(there.status().await);
    assert_eq!(two.scene.bank.effects().len(), 0);
    let outcomes = two.outcomes().await;
    assert!(outcomes.len() == 2 && outcomes.iter().all(|outcome| outcome.starts_with("unknown: ")), "{outcomes:?}");
}

/// R-23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixty_four_callers_on_two_nodes_none_completes_a_write_after_the_answer_to_a_revocation() {
    const CALLERS: usize = 64;
    let two = TwoGateways::open().await;
    let node = |number: usize| if number.is_multiple_of(2) { &two.first } else { &two.second };
    let mut writes = join_all((0..CALLERS).map(|number| two.begins(node(number), number))).await;
    two.scene.bank.wait_for_requests(CALLERS).await;
    let mut late = writes.split_off(CALLERS / 2);
    let in_time = async {
        // One after the other, so that some leave while the nodes wait for them.
        for write in &mut writes {
            write.sends(Rest::InTime).await;
            tokio::task::yield_now().await;
        }
    };
    let ((), answer) = tokio::join!(in_time, two.revokes());
    answer.expect(200);
    for write in &mut late {
        write.sends(Rest::Late).await;
    }
    let answered = join_all(writes.into_iter().map(|write| write.status())).await;
    let cut = join_all(late.into_iter().map(|write| write.status())).await;
    cut.into_iter().for_each(assert_cut);
    assert_eq!(two.written(Rest::Late), 0, "writes were completed after the 200");
    let passed = answered.iter().filter(|status| **status == 201).count();
    assert_eq!(two.written(Rest::InTime), passed);
    assert!(passed > 0, "nothing had the time to leave: {answered:?}");
}

/// R-23, R-24
#[tokio::test]
async fn a_node_that_cannot_read_the_feed_does_not_hold_up_a_revocation_and_sends_nothing_after_it() {
    let two = TwoGateways::open().await;
    let mut there = two.begins(&two.second, 1).await;
    two.scene.bank.wait_for_requests(1).await;
    let unread = Unread::by_the_second_node(&two.scene.plane).await;
    let revoked = tokio::time::timeout(LONG_AFTER, two.revokes()).await;
    revoked.expect("the revocation waited for a node that does not hear it").expect(200);
    there.sends(Rest::Late).await;
    assert_cut(there.status().await);
    assert_eq!(two.scene.bank.effects().len(), 0);
    // It knows that it may have missed a revocation, and forwards no write at all.
    let other = two.scene.plane.connect(&two.scene.alice, two.scene.plane.acme(), SCOPES).await;
    let other = two.scene.plane.holder(&other, |_| {}).await;
    let refused = two.scene.sends_at(two.second.address, &other, note()).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    drop(unread);
    two.scene.sends_at(two.second.address, &other, note()).await.expect(201);
    assert_eq!(two.scene.bank.effects().len(), 1);
}

/// R-5, R-23
#[tokio::test]
async fn a_write_of_a_session_that_is_cancelled_at_one_node_is_cut_at_the_other_before_the_answer() {
    let two = TwoGateways::open().await;
    let there = two.begins(&two.second, 1).await;
    two.scene.bank.wait_for_requests(1).await;
    let plane = &two.scene.plane;
    let jwt = plane.acme().jwt(plane.service(), plane.now());
    let body = json!({ "session_id": two.scene.agent.session_id, "operator_jwt": jwt });
    plane.post("/agent/cancel", &body).await.expect(200);
    assert_is_cut_by_now(&two, there).await;
}

/// R-5, R-10, R-23
#[tokio::test]
async fn a_write_for_a_person_disabled_at_one_node_is_cut_at_the_other_before_the_answer() {
    let two = TwoGateways::open().await;
    let there = two.begins(&two.second, 1).await;
    two.scene.bank.wait_for_requests(1).await;
    two.scene.plane.engine.people().disable_person("alice", "operator").await.unwrap();
    assert_is_cut_by_now(&two, there).await;
}

/// R-5, R-23
#[tokio::test]
async fn a_write_under_a_delegation_whose_time_is_over_is_cut_on_every_node() {
    let two = TwoGateways::open().await;
    let there = two.begins(&two.second, 1).await;
    two.scene.bank.wait_for_requests(1).await;
    two.scene.plane.advance_secs(366 * 24 * 3600).await;
    assert_cut(there.status().await);
    assert_eq!(two.scene.bank.effects().len(), 0);
}

/// The rest of a cut write is not forwarded.
async fn assert_is_cut_by_now(two: &TwoGateways, mut write: SlowWrite) {
    write.sends(Rest::Late).await;
    assert_cut(write.status().await);
    assert_eq!(two.scene.bank.effects().len(), 0);
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}

/// Its outcome is unknown, and no record says that it ran.
fn assert_cut(status: u16) {
    assert!(matches!(status, 0 | 502), "{status}");
}
