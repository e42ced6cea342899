//! The next removal of each kind of record, as the storage figures tell it.

use crate::{
    store::{Bench, START, entry, on_both_stores},
    store_decisions::{
        AT,
        rows::{aaep_session, allowance, decision, execution, expired},
    },
    store_retention::{DAY, append, committed, delegation, remaining, remove, write},
    store_retention_plans::{about_plan, clarification, confirmed, plan_after},
};
use countersign_core::{
    records::{AaepSession, AaepSessionState, AllowanceState, Decision, Delegation, ExecutionState, Plan},
    step::EvidenceDraft,
};
use countersign_engine::store::Retention;
use countersign_protocol::{mplp::PlanStatus, time::UnixMillis};

/// On which day retention removes from this kind next, as told on a day.
async fn next(bench: &Bench, kind: &str, today: i64) -> Option<i64> {
    while bench.store.index_evidence(1000).await.unwrap() > 0 {}
    let now = UnixMillis(START + today * DAY);
    let stats = bench.store.stats().await.unwrap().with_retention(&Retention::default(), now);
    let told = stats.kinds.iter().find(|stats| stats.kind == kind).unwrap();
    told.next_removal.map(|at| (at.0 - START) / DAY)
}

const DECIDED: [&str; 2] = ["decisions", "AAEP sessions"];
const DELEGATED: [&str; 3] = ["delegations and AAP sessions", AUDIT[0], AUDIT[1]];
const AUDIT: [&str; 2] = ["audit index", "evidence openings"];

on_both_stores! {
    ///
    async fn the_next_removal_is_never_past_and_is_later_for_rows_that_others_hold(bench) {
        let usual = Retention::default();
        write(&*bench.store, aaep_session(1, 1, AaepSessionState::Over { at: AT })).await;
        let mut asked = Decision { asked_in: 1, ..decision(101, 1, expired()) };
        asked.raised_by.principal = "agt_50".into();
        write(&*bench.store, asked).await;
        write(&*bench.store, execution(1, 1, ExecutionState::Unknown { since: AT })).await;
        write(&*bench.store, delegation(50, Some(START))).await;
        append(&bench, vec![entry(1, START, 50, 60, "old"), entry(1, START + 120 * DAY, 50, 60, "late")]).await;
        write(&*bench.store, plan_after(1, &[(PlanStatus::Completed, START)])).await;
        write(&*bench.store, Decision { asked_in: 2, ..about_plan(102, 1, expired()) }).await;
        write(&*bench.store, allowance(2, 1, START, AllowanceState::Open)).await;
        // An unknown outcome holds its decision, and the decision its session and its delegation.
        for kind in DECIDED.into_iter().chain(DELEGATED).chain(["plans"]) {
            assert_eq!(next(&bench, kind, 200).await, None, "{kind}");
        }
        assert_eq!(remove(&bench, 200, &usual).await, 2, "two entries of the log were passed");

        write(&*bench.store, execution(1, 2, committed(START + 100 * DAY))).await;
        for kind in DECIDED {
            assert_eq!(next(&bench, kind, 150).await, Some(190), "{kind}");
            assert_eq!(next(&bench, kind, 195).await, Some(195), "due: {kind}");
        }
        for kind in DELEGATED {
            assert_eq!(next(&bench, kind, 150).await, Some(210), "it has an entry of day 120: {kind}");
        }
        assert_eq!(next(&bench, "plans", 200).await, None, "its decision has a standing approval");
        assert_eq!(remove(&bench, 189, &usual).await, 0);
        assert_eq!(remove(&bench, 190, &usual).await, 2, "at the time that was told");
        assert_eq!(remaining::<Decision>(&bench, [101, 102]).await, [102]);
        assert_eq!(remaining::<AaepSession>(&bench, [1]).await.len(), 0);
        assert_eq!((next(&bench, DECIDED[0], 190).await, next(&bench, DECIDED[1], 190).await), (None, None));
        for kind in DELEGATED {
            assert_eq!(next(&bench, kind, 190).await, Some(210), "no decision holds it any more: {kind}");
        }
        remove(&bench, 209, &usual).await;
        assert_eq!(remaining::<Delegation>(&bench, [50]).await, [50]);
        remove(&bench, 210, &usual).await;
        assert_eq!(remaining::<Delegation>(&bench, [50]).await.len(), 0);
        assert_eq!(remaining::<Plan>(&bench, [1]).await, [1]);
    }

    async fn the_next_removal_of_rows_that_nothing_holds_is_that_of_the_oldest(bench) {
        let loose = EvidenceDraft { delegation: None, ..entry(1, START + 10 * DAY, 0, 70, "of no delegation") };
        append(&bench, vec![entry(1, START, 50, 60, "of a live one"), loose]).await;
        write(&*bench.store, delegation(50, None)).await;
        write(&*bench.store, clarification(1, START, confirmed(START + 20 * DAY))).await;
        write(&*bench.store, plan_after(1, &[(PlanStatus::Failed, START + 30 * DAY)])).await;
        for kind in AUDIT {
            assert_eq!(next(&bench, kind, 50).await, Some(100), "{kind}");
        }
        assert_eq!(next(&bench, "clarification sessions", 50).await, Some(110));
        assert_eq!(next(&bench, "plans", 50).await, Some(120));
        assert_eq!(next(&bench, "decisions", 50).await, None);
        remove(&bench, 101, &Retention::default()).await;
        for kind in AUDIT {
            assert_eq!(next(&bench, kind, 101).await, None, "the rest belongs to a live delegation: {kind}");
        }
    }
}
