//! Steps: atomic, each independent of the rest of its batch.

use crate::store::{Bench, LATER, START, committed, count, entry, guard, on_both_stores, once, put, secret, spent};
use countersign_core::{
    records::{Secret, Stored as _},
    step::{Count, Effects, Once},
};
use countersign_engine::store::{AuditBy, AuditQuery, Outcome};
use countersign_protocol::time::UnixMillis;

on_both_stores! {
    async fn a_row_is_written_only_over_the_version_that_was_read(bench) {
        let store = &bench.store;
        assert_eq!(store.commit(put(secret(1, 2, "a"))).await, Outcome::Stale, "there is no version 1 yet");
        assert_eq!(store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        assert_eq!(store.commit(put(secret(1, 1, "a"))).await, Outcome::Stale, "it exists");
        assert_eq!(store.commit(put(secret(1, 3, "a"))).await, Outcome::Stale, "it is at 1");
        assert_eq!(store.commit(put(secret(1, 2, "a"))).await, Outcome::Committed);
        assert_eq!(bench.secret("a").await.unwrap().version, 2);
    }

    ///
    async fn a_step_that_guards_a_row_fails_once_that_row_has_changed(bench) {
        let store = &bench.store;
        let guarded =
            |version| Effects { guards: vec![guard(1, version)], once: vec![once("k")], ..Effects::default() };
        assert_eq!(store.commit(guarded(1)).await, Outcome::Stale, "it is missing");
        assert_eq!(store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        assert_eq!(store.commit(put(secret(1, 2, "a"))).await, Outcome::Committed);
        assert_eq!(store.commit(guarded(1)).await, Outcome::Stale, "it has changed");
        assert_eq!(store.commit(guarded(2)).await, Outcome::Committed);
        let outcomes = bench.commit_all(vec![put(secret(1, 3, "a")), guarded(2)]).await;
        assert_eq!(outcomes, [Outcome::Committed, Outcome::Stale], "a step sees those before it in its batch");
    }

    async fn of_many_simultaneous_changes_of_one_row_one_wins(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        let outcomes = bench.commit_all(vec![put(secret(1, 2, "a")); 40]).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Stale)));
    }

    async fn a_taken_unique_column_fails_its_step_alone_and_leaves_nothing_of_it(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "taken"))).await, Outcome::Committed);
        let mut steps: Vec<Effects> = (10..40).map(|key| put(secret(key, 1, &format!("n{key}")))).collect();
        let beaten = Effects {
            puts: vec![secret(50, 1, "fine"), secret(51, 1, "taken")],
            once: vec![once("beaten")],
            counts: vec![count("beaten", 9)],
            evidence: vec![entry(1, START, 5, 6, "beaten")],
            ..Effects::default()
        };
        steps.insert(15, beaten);
        let mut renamed = put(secret(10, 2, "taken"));
        renamed.once = vec![once("renamed")];
        steps.insert(16, renamed);
        let outcomes = bench.commit_all(steps).await;
        assert_eq!((&outcomes[15], &outcomes[16]), (&Outcome::Stale, &Outcome::Stale));
        assert_eq!(committed(&outcomes), 30);
        assert!(bench.secret("fine").await.is_none());
        assert_eq!(bench.secret("n10").await.unwrap().version, 1);
        assert_eq!(bench.store.count("beaten").await.unwrap(), 0);
        let again = Effects { once: vec![once("beaten"), once("renamed")], ..Effects::default() };
        assert_eq!(bench.store.commit(again).await, Outcome::Committed, "the keys were never spent");
        assert_eq!(bench.store.lane_heads(1).await.unwrap(), []);
    }

    async fn a_counter_never_passes_its_limit(bench) {
        let one = Effects { counts: vec![count("p:calls", 50)], ..Effects::default() };
        let outcomes = bench.commit_all(vec![one; 200]).await;
        assert_eq!(committed(&outcomes), 50);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::LimitReached { counter: "p:calls" })));
        assert_eq!(bench.store.count("p:calls").await.unwrap(), 50);
    }

    ///
    async fn a_once_key_is_used_exactly_once(bench) {
        let one = Effects { once: vec![once("p:proof")], ..Effects::default() };
        let outcomes = bench.commit_all(vec![one; 100]).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Spent { .. })));
    }

    async fn a_refused_step_leaves_no_key_no_count_and_no_evidence(bench) {
        let refused = |once_keys: &[&str], counts| Effects {
            once: once_keys.iter().map(|key| once(key)).collect(),
            counts,
            puts: vec![secret(7, 1, "never")],
            evidence: vec![entry(1, START, 5, 6, "never")],
            ..Effects::default()
        };
        let taken = Effects { once: vec![once("taken")], ..Effects::default() };
        assert_eq!(bench.store.commit(taken).await, Outcome::Committed);
        let beyond = refused(&["a", "b"], vec![count("x", 5), count("y", 0)]);
        let replayed = refused(&["a", "taken"], vec![count("x", 5)]);
        let fine = Effects { evidence: vec![entry(1, START, 5, 6, "fine")], ..Effects::default() };
        let outcomes = bench.commit_all(vec![beyond, fine.clone(), replayed, fine]).await;
        let expected =
            [Outcome::LimitReached { counter: "y" }, Outcome::Committed, spent("taken"), Outcome::Committed];
        assert_eq!(outcomes, expected);
        assert_eq!(bench.store.count("x").await.unwrap(), 0);
        assert!(bench.secret("never").await.is_none());
        assert_eq!(places(&bench).await, [1, 2], "and no hole");
        let again = refused(&["a", "b"], vec![count("x", 1)]);
        assert_eq!(bench.store.commit(again).await, Outcome::Committed);
    }
}

async fn places(bench: &Bench) -> Vec<i64> {
    let by = AuditBy::Delegation(vec![5]);
    let query = AuditQuery { project: 1, by, from: None, to: None, event_type: None, after: None, limit: 100 };
    bench.store.audit(query).await.unwrap().rows.iter().map(|row| row.place.seq).collect()
}

on_both_stores! {
    ///
    async fn keys_and_counters_are_free_again_after_their_time_by_the_stores_clock(bench) {
        let both = || Effects { once: vec![once("k")], counts: vec![count("c", 1)], ..Effects::default() };
        assert_eq!(bench.store.commit(both()).await, Outcome::Committed);
        bench.set_now(LATER.0).await;
        assert_eq!(bench.store.now().await.unwrap(), LATER);
        assert_eq!(bench.store.commit(both()).await, spent("k"), "it is not past yet");
        bench.set_now(LATER.0 + 1).await;
        assert_eq!(bench.store.count("c").await.unwrap(), 0);
        let renewed = Effects {
            once: vec![Once { key: "k".into(), until: UnixMillis(LATER.0 + 50) }],
            counts: vec![Count { name: "c", key: "c".into(), by: 1, limit: 1, until: UnixMillis(LATER.0 + 50) }],
            ..Effects::default()
        };
        assert_eq!(bench.store.commit(renewed).await, Outcome::Committed);
        assert_eq!(bench.store.commit(both()).await, spent("k"));
    }

    async fn giving_back_makes_room_but_never_more_than_there_was(bench) {
        let by =
            |by| Effects { counts: vec![Count { name: "c", key: "c".into(), by, limit: 2, until: LATER }], ..Effects::default() };
        assert_eq!(bench.store.commit(by(2)).await, Outcome::Committed);
        assert_eq!(bench.store.commit(by(1)).await, Outcome::LimitReached { counter: "c" });
        assert_eq!(bench.store.commit(by(-1)).await, Outcome::Committed);
        assert_eq!(bench.store.commit(by(1)).await, Outcome::Committed);
        assert_eq!(bench.store.commit(by(-9)).await, Outcome::Committed);
        assert_eq!(bench.store.count("c").await.unwrap(), 0);
    }

    async fn a_removed_row_is_gone_and_removing_it_again_is_no_error(bench) {
        let remove = || Effects { removes: vec![(Secret::TABLE, 1)], ..Effects::default() };
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        assert_eq!(bench.store.commit(remove()).await, Outcome::Committed);
        assert_eq!(bench.store.commit(remove()).await, Outcome::Committed);
        assert!(bench.secret("a").await.is_none());
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
    }

    ///
    async fn a_closed_store_answers_unavailable_instead_of_hanging(bench) {
        bench.store.close().await;
        assert!(matches!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Unavailable(_)));
    }
}
