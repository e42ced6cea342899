//! Ended records are removed after their time, and no others.

use crate::{
    store::{Bench, START, entry, on_both_stores},
    store_decisions::{
        AT, put,
        rows::{aaep_session, allowance, decision, digest, execution, expired, pending},
        write,
    },
    store_open::Folder,
    store_tables,
};
use countersign_core::{
    records::{
        AaepSession, AaepSessionState, Allowance, AllowanceState, Decision, Delegation, DelegationState, Execution,
        ExecutionState, Reporter, RevokeReason, Session, SessionAccount, Stored,
    },
    step::{Effects, EvidenceDraft},
};
use countersign_engine::store::{
    self, AuditBy, AuditPage, AuditQuery, ExecutionOfEffect, ExecutionsDone, FeedQuery, Outcome, Retention,
    StoreLocation, StoreOptions,
};
use countersign_protocol::{evidence, ids::RowKey, time::UnixMillis};
use std::sync::Arc;

pub(crate) const DAY: i64 = 86_400_000;

async fn is_there<T: Stored>(bench: &Bench, key: RowKey) -> bool {
    store::get::<T>(&*bench.store, key).await.unwrap().is_some()
}

/// The remaining ones of these rows.
pub(crate) async fn remaining<T: Stored>(bench: &Bench, keys: impl IntoIterator<Item = RowKey>) -> Vec<RowKey> {
    let mut found = Vec::new();
    for key in keys {
        if is_there::<T>(bench, key).await {
            found.push(key);
        }
    }
    found
}

/// Repeats until nothing is left to remove; returns the number of rows.
pub(crate) async fn remove(bench: &Bench, days: i64, retention: &Retention) -> u64 {
    let (now, mut all) = (UnixMillis(START + days * DAY + 1), 0);
    while bench.store.index_evidence(1000).await.unwrap() >= 1000 {}
    loop {
        match bench.store.remove_expired(retention, now).await.unwrap() {
            0 => return all,
            removed => all += removed,
        }
    }
}

pub(crate) fn committed(at: i64) -> ExecutionState {
    ExecutionState::Committed { at: UnixMillis(at), by: Reporter::Claimant }
}

on_both_stores! {
    ///
    async fn settled_decisions_go_after_their_time_and_unsettled_ones_never(bench) {
        let asked_in = |key, asked_in, state| Decision { asked_in, ..decision(key, 1, state) };
        let over = AaepSessionState::Over { at: AT };
        for (key, state) in [(1, over.clone()), (2, over)] {
            write(&bench, aaep_session(key, 1, state)).await;
        }
        for key in 101..=106 {
            let state = if key == 104 { pending(START) } else { expired() };
            write(&bench, asked_in(key, if key == 101 { 1 } else { 2 }, state)).await;
        }
        let effect = Some(digest(99));
        for (key, state) in [
            (1, committed(START)),
            (2, ExecutionState::Unknown { since: AT }),
            (5, committed(START + 50 * DAY)),
            (6, committed(START)),
        ] {
            let effect = effect.filter(|_| key == 6);
            write(&bench, Execution { effect, ..execution(key, 1, state) }).await;
        }
        for (key, state) in [(1, AllowanceState::Spent), (3, AllowanceState::Open)] {
            write(&bench, allowance(key, 1, START, state)).await;
        }
        let usual = Retention::default();
        assert_eq!(remove(&bench, 89, &usual).await, 0);
        assert_eq!(remaining::<Decision>(&bench, 101..=106).await, [101, 102, 103, 104, 105, 106]);

        assert_eq!(remove(&bench, 90, &usual).await, 3, "two decisions and an AAEP session");
        // Unknown, with a standing approval, pending, and with an execution that is not old enough.
        assert_eq!(remaining::<Decision>(&bench, 101..=106).await, [102, 103, 104, 105]);
        assert_eq!(remaining::<AaepSession>(&bench, [1, 2]).await, [2], "the other one has decisions");
        assert_eq!(remaining::<Allowance>(&bench, [1, 3]).await, [3]);
        // The effect of the last one must not happen again.
        assert_eq!(remaining::<Execution>(&bench, [1, 2, 5, 6]).await, [2, 5, 6]);
        let of_effect = ExecutionOfEffect { project: 1, effect: digest(99) };
        assert!(store::find_one(&*bench.store, of_effect).await.unwrap().is_some());
        let last_ran = ExecutionsDone { project: 1, digest: digest(5) };
        assert_eq!(store::find_all(&*bench.store, last_ran).await.unwrap().len(), 1);

        remove(&bench, 10_000, &usual).await;
        assert_eq!(remaining::<Decision>(&bench, 101..=106).await, [102, 103, 104], "however long it takes");
        assert_eq!(remaining::<Execution>(&bench, [2, 5, 6]).await, [2, 6]);
        assert!(is_there::<AaepSession>(&bench, 2).await);
    }
}

on_both_stores! {
    async fn each_kind_has_its_own_time(bench) {
        write(&bench, Decision { asked_in: 7, ..decision(101, 1, expired()) }).await;
        write(&bench, delegation(50, Some(START))).await;
        append(&bench, vec![entry(1, START, 50, 60, "old")]).await;
        let short = Retention { decisions_days: 1, ..Retention::default() };
        assert_eq!(remove(&bench, 2, &short).await, 1);
        assert!(!is_there::<Decision>(&bench, 101).await);
        assert!(is_there::<Delegation>(&bench, 50).await);
        assert_eq!(audit(&bench, 50).await.rows.len(), 1);
    }
}

pub(crate) fn delegation(key: RowKey, ended: Option<i64>) -> Delegation {
    let revoked = |at| DelegationState::Revoked { at: UnixMillis(at), reason: RevokeReason::ManualRevoke };
    Delegation {
        id: format!("agt_{key}"),
        policy_expires_at: UnixMillis(START + 100_000 * DAY),
        idle_check_at: None,
        state: ended.map_or(DelegationState::Active, revoked),
        ..store_tables::delegation(key)
    }
}

pub(crate) fn session(key: RowKey, delegation: Option<RowKey>) -> Session {
    Session { delegation, jkt: None, ..store_tables::session(key) }
}

pub(crate) async fn append(bench: &Bench, evidence: Vec<EvidenceDraft>) {
    let step = Effects { evidence, ..Effects::default() };
    assert_eq!(bench.store.commit(step).await, Outcome::Committed);
}

async fn audit(bench: &Bench, delegation: RowKey) -> AuditPage {
    asked(bench, AuditBy::Delegation(vec![delegation])).await
}

async fn asked(bench: &Bench, by: AuditBy) -> AuditPage {
    let query = AuditQuery { project: 1, by, from: None, to: None, event_type: None, after: None, limit: 1000 };
    bench.store.audit(query).await.unwrap()
}

fn openings(page: &AuditPage) -> usize {
    page.rows.iter().filter(|row| row.openings.is_some()).count()
}

on_both_stores! {
    /// AAP-G-07, R-25, R-33
    async fn the_audit_of_a_delegation_is_kept_for_its_life_and_90_days_and_the_leaves_for_good(bench) {
        for (key, ended) in [(50, None), (51, Some(START + 10 * DAY))] {
            write(&bench, delegation(key, ended)).await;
            write(&bench, session(key + 10, Some(key))).await;
            let entries = (0..1500).map(|n| entry(1, START + n, key, key + 10, &n.to_string()));
            append(&bench, entries.collect()).await;
        }
        write(&bench, session(70, None)).await;
        append(&bench, vec![EvidenceDraft { delegation: None, ..entry(1, START, 0, 70, "of no delegation") }]).await;
        let heads = bench.store.lane_heads(1).await.unwrap();
        let usual = Retention::default();

        assert_eq!(remove(&bench, 89, &usual).await, 0);
        assert_eq!((audit(&bench, 50).await.total, audit(&bench, 51).await.total), (1500, 1500));
        assert_eq!(openings(&asked(&bench, AuditBy::Session(vec![70])).await), 1);

        // For an entry without a delegation its own time counts.
        remove(&bench, 99, &usual).await;
        assert_eq!(asked(&bench, AuditBy::Session(vec![70])).await.total, 0);
        assert_eq!(openings(&audit(&bench, 51).await), 1000, "a whole page of it, ten days longer");

        assert!(remove(&bench, 100, &usual).await >= 1500);
        assert_eq!(audit(&bench, 51).await.total, 0);
        assert_eq!(asked(&bench, AuditBy::Session(vec![61])).await.total, 0);
        assert_eq!(remaining::<Session>(&bench, [60, 61]).await, [60]);
        assert_eq!(remaining::<Delegation>(&bench, [50, 51]).await, [50]);

        remove(&bench, 50_000, &usual).await;
        // Row keys begin in 2025, and this clock before.
        assert_eq!(remaining::<Session>(&bench, [60, 70]).await, [60]);
        let kept = audit(&bench, 50).await;
        assert_eq!((kept.total, openings(&kept)), (1500, 1000), "as long as it lives");
        assert_eq!(bench.store.lane_heads(1).await.unwrap(), heads, "the chain is as it was");
        let stats = bench.store.stats().await.unwrap();
        let leaves = stats.kinds.iter().find(|kind| kind.kind == "evidence leaves").unwrap();
        assert!(leaves.rows >= 3001, "{leaves:?}");
        for row in &kept.rows {
            assert_eq!(evidence::leaf_hash(&row.leaf), row.hash);
        }
    }
}

on_both_stores! {
    /// AAP-G-07
    async fn an_ended_delegation_stays_while_a_decision_or_a_late_entry_of_it_does(bench) {
        write(&bench, delegation(50, Some(START))).await;
        write(&bench, delegation(51, Some(START))).await;
        append(&bench, vec![entry(1, START, 50, 60, "old"), entry(1, START, 51, 61, "old")]).await;
        let mut kept = decision(102, 1, expired());
        kept.raised_by.principal = "agt_50".into();
        write(&bench, kept).await;
        write(&bench, execution(2, 1, ExecutionState::Unknown { since: AT })).await;
        append(&bench, vec![entry(1, START + 30 * DAY, 51, 61, "refused")]).await;
        remove(&bench, 119, &Retention::default()).await;
        assert_eq!((audit(&bench, 50).await.total, audit(&bench, 51).await.total), (1, 2));
        remove(&bench, 121, &Retention::default()).await;
        assert_eq!((audit(&bench, 50).await.total, audit(&bench, 51).await.total), (1, 0));
        assert_eq!(remaining::<Delegation>(&bench, [50, 51]).await, [50]);
    }
}

on_both_stores! {
    /// AAP-G-07, AAP-21-04
    async fn a_session_of_two_modes_stays_until_both_of_its_delegations_have_ended(bench) {
        for (key, ended) in [(50, Some(START)), (51, None), (52, Some(START)), (53, Some(START))] {
            write(&bench, delegation(key, ended)).await;
        }
        let mixed = |key, user, account| Session {
            service_account: Some(SessionAccount { delegation: account, account_id: "svc_one".into(), receipt: None }),
            ..session(key, Some(user))
        };
        write(&bench, mixed(60, 50, 51)).await;
        write(&bench, mixed(61, 52, 53)).await;
        remove(&bench, 100, &Retention::default()).await;
        assert_eq!(remaining::<Session>(&bench, [60, 61]).await, [60]);
        assert_eq!(remaining::<Delegation>(&bench, 50..=53).await, [50, 51]);
        let over = delegation(51, Some(START + 10 * DAY));
        write(&bench, Delegation { version: 2, ..over }).await;
        remove(&bench, 110, &Retention::default()).await;
        assert_eq!(remaining::<Session>(&bench, [60]).await, Vec::<RowKey>::new());
        assert_eq!(remaining::<Delegation>(&bench, [50, 51]).await, Vec::<RowKey>::new());
    }
}

on_both_stores! {
    async fn feed_entries_expire_on_their_own_and_an_absent_reader_goes_on_after_them(bench) {
        let told = |at| EvidenceDraft { event_type: "decision_settled", ..entry(1, at, 50, 60, "told") };
        append(&bench, vec![told(START), entry(1, START, 50, 60, "call"), told(START + 20 * DAY)]).await;
        let page = async || {
            let query = FeedQuery { project: 1, after: vec![], limit: 100 };
            bench.store.feed(query).await.unwrap().rows.len()
        };
        let short = Retention { feed_days: 10, ..Retention::default() };
        remove(&bench, 9, &short).await;
        assert_eq!(page().await, 2);
        remove(&bench, 11, &short).await;
        assert_eq!(page().await, 1);
        remove(&bench, 31, &short).await;
        assert_eq!(page().await, 0);
        assert_eq!(audit(&bench, 50).await.total, 3, "the audit keeps it");
    }
}

on_both_stores! {
    async fn one_call_removes_a_bounded_number_of_rows(bench) {
        let settled: Vec<Effects> = (0..2300).map(|n| put(decision(1000 + n, 1, expired()))).collect();
        assert_eq!(crate::store::committed(&bench.commit_all(settled).await), 2300);
        let now = UnixMillis(START + 91 * DAY);
        let usual = Retention::default();
        assert_eq!(bench.store.remove_expired(&usual, now).await.unwrap(), 2000);
        assert_eq!(bench.store.remove_expired(&usual, now).await.unwrap(), 300);
        assert_eq!(bench.store.remove_expired(&usual, now).await.unwrap(), 0);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_file_gives_the_room_of_removed_rows_back() {
    let folder = Folder::new("retention");
    let path = folder.0.join("countersign.db");
    let clock: store::StoreClock = Arc::new(|| AT);
    let options = StoreOptions { readers: 2, place: StoreLocation::File(path.clone()), clock };
    let store = store::open(options.clone()).await.unwrap();
    let large = |key| {
        let mut large = decision(key, 1, expired());
        large.language = "x".repeat(4000);
        put(large)
    };
    for from in (1000..5000).step_by(500) {
        futures_util::future::join_all((from..from + 500).map(|key| store.commit(large(key)))).await;
    }
    let before = store.stats().await.unwrap();
    assert!(before.gives_back && before.total_bytes > 16_000_000, "{before:?}");
    let now = UnixMillis(START + 91 * DAY);
    while store.remove_expired(&Retention::default(), now).await.unwrap() > 0 {}
    let after = store.stats().await.unwrap();
    assert!(after.total_bytes < before.total_bytes / 4, "{after:?}");
    assert!(after.log_bytes.unwrap() <= 64 * 1024 * 1024);
    store.close().await;
    assert!(std::fs::metadata(&path).unwrap().len() < before.total_bytes / 4);
    let again = store::open(options).await.unwrap();
    again.ping().await.unwrap();
    assert_eq!(again.health().fault, None);
}
