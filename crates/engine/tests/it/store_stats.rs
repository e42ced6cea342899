//! The next removal of each kind of record in the storage figures.

use crate::{
    store::{Bench, START, entry, on_both_stores},
    store_decisions::{
        AT,
        rows::{aaep_session, decision, execution, expired},
        write,
    },
    store_retention::{DAY, append, committed, delegation, remaining, remove},
    store_retention_plans::{clarification, confirmed, plan_after},
};
use countersign_core::records::{AaepSessionState, Decision, Delegation, ExecutionState};
use countersign_engine::store::Retention;
use countersign_protocol::{mplp::PlanStatus, time::UnixMillis};

/// The day of a kind's next removal, and whether its oldest row is overdue on that day.
async fn next(bench: &Bench, kind: &str, today: i64) -> Option<(i64, bool)> {
    while bench.store.index_evidence(1000).await.unwrap() > 0 {}
    let now = UnixMillis(START + today * DAY);
    let stats = bench.store.stats().await.unwrap().with_retention(&Retention::default(), now);
    let stats = stats.kinds.iter().find(|stats| stats.kind == kind).unwrap();
    stats.next_removal.map(|at| ((at.0 - START) / DAY, stats.overdue))
}

const ENDED: [(&str, i64); 7] = [
    ("decisions", 90),
    ("AAEP sessions", 90),
    ("delegations and AAP sessions", 95),
    ("audit index", 91),
    ("evidence openings", 91),
    ("clarification sessions", 110),
    ("plans", 120),
];

on_both_stores! {
    ///
    async fn nothing_is_removed_before_the_next_removal_and_held_rows_are_overdue_after_it(bench) {
        let usual = Retention::default();
        assert_eq!(next(&bench, "decisions", 50).await, None, "no row has ended");
        write(&bench, aaep_session(1, 1, AaepSessionState::Over { at: AT })).await;
        let mut asked = Decision { asked_in: 1, ..decision(101, 1, expired()) };
        asked.raised_by.principal = "agt_50".into();
        write(&bench, asked).await;
        write(&bench, execution(1, 1, ExecutionState::Unknown { since: AT })).await;
        write(&bench, delegation(50, Some(START + 5 * DAY))).await;
        append(&bench, vec![entry(1, START + DAY, 50, 60, "call")]).await;
        write(&bench, clarification(1, START, confirmed(START + 20 * DAY))).await;
        write(&bench, plan_after(1, &[(PlanStatus::Failed, START + 30 * DAY)])).await;
        for (kind, day) in ENDED {
            assert_eq!(next(&bench, kind, 50).await, Some((day, false)), "{kind}");
        }
        assert_eq!(remove(&bench, 89, &usual).await, 0);
        // An unknown outcome holds its decision, and the decision its session and its delegation.
        remove(&bench, 200, &usual).await;
        for (kind, _) in &ENDED[..5] {
            assert_eq!(next(&bench, kind, 200).await, Some((200, true)), "{kind}");
        }
        for (kind, _) in &ENDED[5..] {
            assert_eq!(next(&bench, kind, 200).await, None, "{kind}");
        }
        write(&bench, execution(1, 2, committed(START + 110 * DAY))).await;
        remove(&bench, 199, &usual).await;
        assert_eq!(remaining::<Decision>(&bench, [101]).await, [101]);
        remove(&bench, 200, &usual).await;
        assert_eq!(remaining::<Delegation>(&bench, [50]).await.len(), 0);
        for (kind, _) in ENDED {
            assert_eq!(next(&bench, kind, 200).await, None, "{kind}");
        }
    }
}
