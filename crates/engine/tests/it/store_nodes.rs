//! Several nodes over one PostgreSQL.

use crate::{
    postgres,
    store::{START, committed, count, entry, guard, once, open_postgres, put, secret, two_nodes},
};
use countersign_core::step::{Count, Effects};
use countersign_engine::store::{AuditBy, AuditQuery, Outcome, Store};
use futures_util::future::join_all;
use std::{collections::BTreeSet, sync::Arc};

/// The same step many times, at both nodes at once.
async fn at_both(left: &Arc<dyn Store>, right: &Arc<dyn Store>, each: usize, step: &Effects) -> Vec<Outcome> {
    let commits = (0..each).flat_map(|_| [left.commit(step.clone()), right.commit(step.clone())]);
    join_all(commits).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_start_together_on_an_empty_database_get_a_lane_each() {
    let url = postgres::fresh_database().await;
    let nodes = join_all((0..5).map(|_| open_postgres(&url))).await;
    let lanes: BTreeSet<i64> = nodes.iter().map(|node| node.lane()).collect();
    assert_eq!(lanes, (0..5).collect());
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_exactly_once_over_two_nodes() {
    let (_, left, right) = two_nodes().await;
    let step = Effects { once: vec![once("b"), once("a")], ..Effects::default() };
    let outcomes = at_both(&left, &right, 50, &step).await;
    assert_eq!(committed(&outcomes), 1);
    assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Spent { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_never_passes_its_limit_over_two_nodes() {
    let (_, left, right) = two_nodes().await;
    let step = Effects { counts: vec![count("b", 1000), count("a", 50)], ..Effects::default() };
    let outcomes = at_both(&left, &right, 100, &step).await;
    assert_eq!(committed(&outcomes), 50);
    assert_eq!((left.count("a").await.unwrap(), right.count("b").await.unwrap()), (50, 50));
}

///
#[tokio::test(flavor = "multi_thread")]
async fn no_step_passes_a_guard_after_the_row_was_changed_on_another_node() {
    let (_, left, right) = two_nodes().await;
    for version in 1..=20 {
        assert_eq!(left.commit(put(secret(1, version, "a"))).await, Outcome::Committed);
        let guarded = |version| Effects {
            guards: vec![guard(1, version)],
            counts: vec![Count { key: version.to_string(), ..count("version", 1000) }],
            ..Effects::default()
        };
        let stale = right.commit(guarded(version - 1)).await;
        assert_eq!((stale, right.commit(guarded(version)).await), (Outcome::Stale, Outcome::Committed));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_changes_from_two_nodes_all_settle_and_one_wins_each_round() {
    let (_, left, right) = two_nodes().await;
    assert_eq!(
        left.commit(Effects { puts: vec![secret(1, 1, "a"), secret(2, 1, "b")], ..Effects::default() }).await,
        Outcome::Committed
    );
    for version in 2..12 {
        // Each locks the rows that the other one changes, in the opposite order.
        let one =
            Effects { guards: vec![guard(2, version - 1)], puts: vec![secret(1, version, "a")], ..Effects::default() };
        let other =
            Effects { guards: vec![guard(1, version - 1)], puts: vec![secret(2, version, "b")], ..Effects::default() };
        let outcomes = join_all([left.commit(one), right.commit(other)]).await;
        assert_eq!(committed(&outcomes), 1, "{outcomes:?}");
        let behind = if outcomes[0] == Outcome::Committed { secret(2, version, "b") } else { secret(1, version, "a") };
        assert_eq!(left.commit(put(behind)).await, Outcome::Committed);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn each_lane_has_its_own_sequence_without_holes_and_a_query_sees_all_lanes() {
    let (_, left, right) = two_nodes().await;
    let step = |n: i64| Effects { evidence: vec![entry(1, START + n, 50, 60, &n.to_string())], ..Effects::default() };
    let commits = (0..60).map(|n| if n % 3 == 0 { left.commit(step(n)) } else { right.commit(step(n)) });
    assert_eq!(committed(&join_all(commits).await), 60);
    left.index_evidence(25).await.unwrap();
    let by = AuditBy::Delegation(vec![50]);
    let query = AuditQuery { project: 1, by, from: None, to: None, event_type: None, after: None, limit: 100 };
    let page = left.audit(query).await.unwrap();
    let mut times: Vec<i64> = page.rows.iter().map(|row| row.place.at.0).collect();
    times.dedup();
    assert_eq!((times, page.total), ((0..60).map(|n| START + n).collect(), 60));
    for (node, entries) in [(&left, 20), (&right, 40)] {
        let of_lane = page.rows.iter().filter(|row| row.place.lane == node.lane());
        let seqs: BTreeSet<i64> = of_lane.map(|row| row.place.seq).collect();
        assert_eq!(seqs, (1..=entries).collect());
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_lane_was_taken_over_goes_on_in_another() {
    let url = postgres::fresh_database().await;
    let asleep = open_postgres(&url).await;
    let step = || Effects { evidence: vec![entry(1, START, 50, 60, "x")], ..Effects::default() };
    assert_eq!(asleep.commit(step()).await, Outcome::Committed);
    // Another owner as well, or the current one with its short interval might renew its lease just now.
    postgres::run(&url, "UPDATE lanes SET heartbeat = 0, owner = 'nobody'").await;
    let successor = open_postgres(&url).await;
    assert_eq!((asleep.lane(), successor.lane()), (0, 0));
    let outcomes = join_all([successor.commit(step()), asleep.commit(step()), successor.commit(step())]).await;
    assert_eq!(committed(&outcomes), 3);
    assert_eq!((asleep.lane(), successor.lane()), (1, 0));
    let heads: Vec<i64> = asleep.lane_heads(1).await.unwrap().iter().map(|head| head.next_seq).collect();
    assert_eq!(heads, [4, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_that_was_given_back_is_taken_again() {
    let url = postgres::fresh_database().await;
    open_postgres(&url).await.close().await;
    assert_eq!(open_postgres(&url).await.lane(), 0);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_recovers_when_its_connections_are_cut() {
    let (url, left, right) = two_nodes().await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'countersign' AND datname = current_database()";
    for round in 1..=5 {
        postgres::run(&url, cut).await;
        let step =
            Effects { evidence: vec![entry(1, START, 50, 60, "x")], ..put(secret(round, 1, &round.to_string())) };
        assert_eq!(left.commit(step).await, Outcome::Committed);
        assert!(right.ping().await.is_ok() || right.ping().await.is_ok(), "a read finds another connection");
    }
    assert_eq!(left.lane_heads(1).await.unwrap()[0].next_seq, 6);
}
