//! Plans and clarification sessions are removed some time after their end, with their dependent rows, and never while
//! they are open.

use crate::{
    store::{Bench, START, on_both_stores},
    store_decisions::{
        AT, put,
        rows::{allowance, decision, digest, execution, expired, pending, raiser},
        write,
    },
    store_plans::{LIVE, mplp_id, plan},
    store_retention::{DAY, committed, remaining, remove},
};
use countersign_core::{
    records::{
        Allowance, AllowanceState, ClarificationEntry, ClarificationKey, ClarificationSession, ClarificationState,
        Decision, DecisionState, DecisionTarget, Execution, ExecutionState, Plan,
    },
    step::Effects,
};
use countersign_engine::store::{self, ClarificationEntriesOf, ClarificationSessionById, Outcome, PlanById, Retention};
use countersign_protocol::{
    clarification::GivenBy,
    ids::RowKey,
    mplp::{BaseEvent, PlanStatus, TargetType},
    time::UnixMillis,
};
use serde_json::{Value, json};

/// A plan with an event of each status that it went through.
pub(crate) fn plan_after(key: RowKey, history: &[(PlanStatus, i64)]) -> Plan {
    let (status, _) = *history.last().unwrap();
    let mut plan = plan(key, 1, status);
    let name = |status: PlanStatus| json!(status).as_str().unwrap().replace('_', ".");
    plan.document.events = (1..)
        .zip(history)
        .map(|(n, (status, at))| BaseEvent {
            event_id: mplp_id(100 * key + n),
            event_type: format!("plan.{}", name(*status)),
            source: "countersign".into(),
            timestamp: UnixMillis(*at),
            trace_id: None,
            data: None,
        })
        .collect();
    plan
}

pub(crate) fn about_plan(key: RowKey, plan: RowKey, state: DecisionState) -> Decision {
    let target = DecisionTarget {
        target_type: TargetType::Plan,
        target_id: mplp_id(plan),
        plan: Some(plan),
        requested_by_role: "planner".into(),
        reason: None,
        trace: None,
    };
    Decision { target: Some(target), ..decision(key, 1, state) }
}

const ENDS: [PlanStatus; 3] = [PlanStatus::Completed, PlanStatus::Failed, PlanStatus::Cancelled];

on_both_stores! {
    async fn a_plan_goes_a_while_after_its_end_and_one_that_may_continue_never(bench) {
        for (key, end) in (1..).zip(ENDS) {
            write(&bench, plan_after(key, &[(PlanStatus::Draft, START), (end, START)])).await;
            write(&bench, plan_after(key + 10, &[(PlanStatus::Draft, START), (end, START + 50 * DAY)])).await;
        }
        for (key, live) in (21..).zip(LIVE.into_iter().chain([PlanStatus::Draft])) {
            write(&bench, plan_after(key, &[(live, START)])).await;
            // It was cancelled once, and written again.
            write(&bench, plan_after(key + 10, &[(PlanStatus::Cancelled, START), (live, START)])).await;
        }
        let all = || (1..=3).chain(11..=13).chain(21..=24).chain(31..=34);
        let open: Vec<RowKey> = (21..=24).chain(31..=34).collect();
        let usual = Retention::default();
        assert_eq!(remove(&bench, 89, &usual).await, 0);
        assert_eq!(remaining::<Plan>(&bench, all()).await, all().collect::<Vec<_>>());

        assert_eq!(remove(&bench, 90, &usual).await, 3);
        assert_eq!(remaining::<Plan>(&bench, all()).await, [&[11, 12, 13], &open[..]].concat());
        let by_id = |id| PlanById { project: 1, id: mplp_id(id) };
        assert!(store::find_one(&*bench.store, by_id(1)).await.unwrap().is_none());

        let longer = Retention { plans_days: 100, ..usual };
        assert_eq!(remove(&bench, 149, &longer).await, 0, "by its own setting");
        assert_eq!(remove(&bench, 10_000, &usual).await, 3);
        assert_eq!(remaining::<Plan>(&bench, all()).await, open);
    }

    async fn a_plan_goes_with_its_decisions_their_approvals_and_their_executions(bench) {
        let over = |key| plan_after(key, &[(PlanStatus::Completed, START)]);
        for plan in [over(1), over(2), over(3), over(4), plan_after(5, &[(PlanStatus::InProgress, START)])] {
            write(&bench, plan).await;
        }
        for key in 1..=5 {
            let state = if key == 4 { pending(START + 60_000) } else { expired() };
            write(&bench, about_plan(100 + key, key, state)).await;
        }
        for (key, state) in [(1, AllowanceState::Spent), (3, AllowanceState::Open), (5, AllowanceState::Spent)] {
            write(&bench, allowance(key, 1, START, state)).await;
        }
        for (key, state) in [(1, committed(START)), (2, ExecutionState::Unknown { since: AT }), (5, committed(START))] {
            write(&bench, execution(key, 1, state)).await;
        }
        let usual = Retention::default();
        assert_eq!(remove(&bench, 89, &usual).await, 0);

        // Its decision is kept for longer, so the plan is too.
        let short = Retention { plans_days: 1, ..usual };
        assert_eq!(remove(&bench, 89, &short).await, 0);

        assert_eq!(remove(&bench, 90, &usual).await, 2, "a decision and its plan");
        for days in [90, 10_000] {
            remove(&bench, days, &usual).await;
            // An unknown outcome, a standing approval, a pending question, and a plan in progress.
            assert_eq!(remaining::<Plan>(&bench, 1..=5).await, [2, 3, 4, 5]);
            assert_eq!(remaining::<Decision>(&bench, 101..=105).await, [102, 103, 104, 105]);
            assert_eq!(remaining::<Allowance>(&bench, [1, 3, 5]).await, [3, 5]);
            assert_eq!(remaining::<Execution>(&bench, [1, 2, 5]).await, [2, 5]);
        }
    }
}

/// A session that expires an hour after the start, or later.
pub(crate) fn clarification(key: RowKey, expires_at: i64, state: ClarificationState) -> ClarificationSession {
    ClarificationSession {
        key,
        version: 1,
        project: 1,
        id: mplp_id(key),
        by: raiser(key),
        agent_id: "shop".into(),
        public_key: "ed25519:00".into(),
        same: digest(key),
        opened_at: AT,
        last_at: AT,
        expires_at: UnixMillis(expires_at),
        plans: vec![],
        gaps: vec![],
        rounds: 0,
        entries: CHAIN,
        head: digest(key),
        message: Value::Null,
        chain_signature: String::new(),
        state,
    }
}

/// The number of entries in the chain of each session.
pub(crate) const CHAIN: i64 = 3;

pub(crate) fn confirmed(at: i64) -> ClarificationState {
    ClarificationState::Confirmed { at: UnixMillis(at), accepted: Value::Null, attestation: Value::Null }
}

/// With its chain, whose rows have the keys from 1000 times the session's on.
pub(crate) fn with_chain(session: ClarificationSession) -> Effects {
    let mut step = Effects::default();
    for position in 1..=CHAIN {
        let (key, session) = (session.key * 1000 + position, session.key);
        let entry = ClarificationEntry { key, version: 1, session, position, document: json!({ "n": position }) };
        step.puts.extend(put(entry).puts);
    }
    step.puts.extend(put(session).puts);
    step
}

/// The number of remaining entries of each chain.
async fn chains(bench: &Bench, sessions: impl IntoIterator<Item = RowKey>) -> Vec<usize> {
    let mut found = Vec::new();
    for session in sessions {
        let entries = ClarificationEntriesOf(session);
        found.push(store::find_all(&*bench.store, entries).await.unwrap().len());
    }
    found
}

on_both_stores! {
    /// W-11, R-14
    async fn a_clarification_session_goes_with_its_chain_a_while_after_its_end_and_an_open_one_never(bench) {
        let abandoned = |by, holds| ClarificationState::Abandoned { at: AT, by, holds };
        let expires = START + 50 * DAY;
        let far = START + 100_000 * DAY;
        for session in [
            clarification(1, expires, confirmed(START)),
            clarification(2, expires, abandoned(GivenBy::Person, false)),
            // It stops calls until it expires.
            clarification(3, expires, abandoned(GivenBy::Own, true)),
            clarification(4, expires, ClarificationState::Open),
            clarification(5, START, ClarificationState::Expired),
            // Expired, but no call has noticed yet.
            clarification(6, START, ClarificationState::Open),
            clarification(7, far, ClarificationState::Open),
            clarification(8, far, abandoned(GivenBy::Own, true)),
        ] {
            assert_eq!(bench.store.commit(with_chain(session)).await, Outcome::Committed);
        }
        let key = ClarificationKey {
            key: 9,
            version: 1,
            project: 1,
            generation: 1,
            agent_id: "shop".into(),
            public_key: "ed25519:00".into(),
            sealed: None,
            created_at: AT,
            retired_at: Some(AT),
            rotation: None,
        };
        write(&bench, key).await;
        let usual = Retention::default();
        assert_eq!(remove(&bench, 89, &usual).await, 0);
        assert_eq!(chains(&bench, 1..=8).await, [3; 8]);

        assert_eq!(remove(&bench, 90, &usual).await, 4);
        assert_eq!(remaining::<ClarificationSession>(&bench, 1..=8).await, [3, 4, 7, 8]);
        assert_eq!(chains(&bench, 1..=8).await, [0, 0, 3, 3, 0, 0, 3, 3]);

        assert_eq!(remove(&bench, 139, &usual).await, 0);
        let longer = Retention { clarifications_days: 100, ..usual };
        assert_eq!(remove(&bench, 149, &longer).await, 0, "by its own setting");
        assert_eq!(remove(&bench, 10_000, &usual).await, 2);
        assert_eq!(remaining::<ClarificationSession>(&bench, 1..=8).await, [7, 8]);
        assert_eq!(chains(&bench, 1..=8).await, [0, 0, 0, 0, 0, 0, 3, 3]);
        let id = ClarificationSessionById { project: 1, id: mplp_id(1) };
        assert!(store::find_one(&*bench.store, id).await.unwrap().is_none());
        assert_eq!(remaining::<ClarificationKey>(&bench, [9]).await, [9], "the keys of old chains are evidence");
    }

    async fn one_call_removes_a_bounded_number_of_clarification_sessions(bench) {
        let ended = |key| with_chain(clarification(key, START, confirmed(START)));
        assert_eq!(crate::store::committed(&bench.commit_all((1..=420).map(ended).collect()).await), 420);
        let now = UnixMillis(START + 91 * DAY);
        let usual = Retention::default();
        for removed in [400, 20, 0] {
            assert_eq!(bench.store.remove_expired(&usual, now).await.unwrap(), removed);
        }
        assert_eq!(chains(&bench, 1..=420).await, [0; 420]);
    }
}
