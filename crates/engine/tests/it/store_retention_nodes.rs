//! Several nodes over one PostgreSQL remove the same ended records at once.

use crate::{
    postgres,
    store::{START, entry, open_postgres},
    store_decisions::{
        put,
        rows::{allowance, decision, execution, expired},
    },
    store_retention::{DAY, committed, delegation, session},
    store_retention_plans::{clarification, confirmed, plan_after, with_chain},
};
use countersign_core::{
    records::AllowanceState,
    step::{Effects, EvidenceDraft},
};
use countersign_engine::store::{Outcome, Retention, Store};
use countersign_protocol::{mplp::PlanStatus, time::UnixMillis};
use futures_util::future::join_all;
use std::sync::Arc;

const EACH: i64 = 600;
const SESSIONS: i64 = 120;
const DELEGATIONS: i64 = 60;
const ENTRIES: i64 = 20;

/// Ended records of every kind. The keys of a kind begin at a multiple of 10 000.
fn ended() -> Vec<Effects> {
    let mut steps = Vec::new();
    for n in 1..=EACH {
        let key = 10_000 + n;
        let mut decided = put(decision(100 + key, 1, expired()));
        decided.puts.extend(put(allowance(key, 1, START, AllowanceState::Spent)).puts);
        decided.puts.extend(put(execution(key, 1, committed(START))).puts);
        steps.extend([decided, put(plan_after(20_000 + n, &[(PlanStatus::Completed, START)]))]);
    }
    steps.extend((1..=SESSIONS).map(|n| with_chain(clarification(30_000 + n, START, confirmed(START)))));
    for n in 1..=DELEGATIONS {
        let (of, in_session) = (40_000 + n, 50_000 + n);
        let mut step = put(delegation(of, Some(START)));
        step.puts.extend(put(session(in_session, Some(of))).puts);
        step.puts.extend(put(session(60_000 + n, None)).puts);
        let call = |note: i64| entry(1, START + note, of, in_session, &note.to_string());
        let told = |note| EvidenceDraft { event_type: "decision_settled", ..call(note) };
        step.evidence.extend((2..=ENTRIES).map(told));
        step.evidence.push(EvidenceDraft { delegation: None, ..call(1) });
        steps.push(step);
    }
    steps
}

/// The kinds' own rows, as retention counts them; the log is gone through twice, for the feed and for loose entries.
const ALL: i64 =
    2 * EACH + SESSIONS + DELEGATIONS + DELEGATIONS * (ENTRIES - 1) + 2 * DELEGATIONS * ENTRIES + DELEGATIONS;

/// What is left of it: the sum over these tables.
async fn left(url: &str) -> String {
    let tables = [
        "decisions",
        "allowances",
        "executions",
        "plans",
        "clarification_sessions",
        "clarification_entries",
        "delegations",
        "sessions",
        "audit_index",
        "evidence_openings",
        "feed",
    ];
    let counts: Vec<String> = tables.iter().map(|table| format!("(SELECT count(*) FROM {table})")).collect();
    postgres::run(url, &format!("SELECT {}", counts.join(", "))).await.trim().to_owned()
}

/// Calls until nothing is left for this caller; any failure fails the test.
async fn sweep(node: Arc<dyn Store>) -> u64 {
    let now = UnixMillis(START + 5000 * DAY);
    let mut all = 0;
    loop {
        match node.remove_expired(&Retention::default(), now).await.unwrap() {
            0 => return all,
            removed => all += removed,
        }
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_remove_at_once_remove_each_row_once_and_neither_fails() {
    let url = postgres::fresh_database().await;
    let (left_node, right_node) = tokio::join!(open_postgres(&url), open_postgres(&url));
    postgres::set_clock(&url, START).await;
    let nodes = [left_node, right_node];
    let writes = ended().into_iter().zip(nodes.iter().cycle()).map(|(step, node)| node.commit(step));
    let outcomes = join_all(writes).await;
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Committed), "{outcomes:?}");
    while nodes[0].index_evidence(1000).await.unwrap() > 0 {}
    let heads = nodes[0].lane_heads(1).await.unwrap();
    assert_eq!(heads.len(), 2, "evidence of both nodes");

    let mut removed = 0;
    loop {
        // A node passes over rows in work at another one, so that both may find nothing more too early.
        let sweeps = nodes.iter().cycle().take(6).map(|node| tokio::spawn(sweep(node.clone())));
        match join_all(sweeps).await.into_iter().map(Result::unwrap).sum::<u64>() {
            0 => break,
            more => removed += more,
        }
    }
    assert_eq!(i64::try_from(removed).unwrap(), ALL, "each row counted by one node");
    assert_eq!(left(&url).await, "0|0|0|0|0|0|0|0|0|0|0");
    assert_eq!(nodes[1].lane_heads(1).await.unwrap(), heads, "the chains are as they were");
    let leaves = postgres::run(&url, "SELECT count(*) FROM evidence").await;
    assert_eq!(leaves.trim().parse::<i64>().unwrap(), DELEGATIONS * ENTRIES);
    assert!(nodes.iter().all(|node| node.health().fault.is_none()));
}
