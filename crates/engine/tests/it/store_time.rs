//! Steps that count only at their time, and counters that are only read.

use crate::store::{LATER, START, changed, count, entry, guard, on_both_stores, once, put, secret};
use countersign_core::step::{Count, Effects};
use countersign_engine::store::Outcome;
use countersign_protocol::time::UnixMillis;

const AT: UnixMillis = UnixMillis(START + 500);

on_both_stores! {
    ///
    async fn at_its_last_moment_a_step_is_too_late_by_the_stores_clock(bench) {
        let in_time = |key: i64| Effects { before: Some(AT), ..put(secret(key, 1, &key.to_string())) };
        bench.set_now(AT.0).await;
        assert_eq!(bench.store.commit(in_time(1)).await, Outcome::OutOfTime);
        bench.set_now(AT.0 + 1).await;
        assert_eq!(bench.store.commit(in_time(2)).await, Outcome::OutOfTime);
        assert!(bench.secret("1").await.is_none() && bench.secret("2").await.is_none());
    }

    ///
    async fn just_before_its_last_moment_a_step_counts(bench) {
        bench.set_now(AT.0 - 1).await;
        let in_time = Effects { before: Some(AT), ..put(secret(1, 1, "a")) };
        assert_eq!(bench.store.commit(in_time).await, Outcome::Committed);
    }

    ///
    async fn at_its_first_moment_a_step_counts_and_before_it_does_not(bench) {
        let due = || Effects { not_before: Some(AT), ..put(secret(1, 1, "a")) };
        bench.set_now(AT.0 - 1).await;
        assert_eq!(bench.store.commit(due()).await, Outcome::OutOfTime);
        assert!(bench.secret("a").await.is_none());
        bench.set_now(AT.0).await;
        assert_eq!(bench.store.commit(due()).await, Outcome::Committed);
    }

    ///
    async fn an_answer_and_the_lapse_of_the_same_deadline_never_both_count(bench) {
        for (n, now) in [(1, AT.0 - 1), (2, AT.0), (3, AT.0 + 1)] {
            let name = n.to_string();
            bench.set_now(now).await;
            assert_eq!(bench.store.commit(put(secret(n, 1, &name))).await, Outcome::Committed);
            let answer = Effects { before: Some(AT), ..put(secret(n, 2, &name)) };
            let lapse = Effects { not_before: Some(AT), ..put(secret(n, 2, &name)) };
            let outcomes = bench.commit_all(vec![answer, lapse]).await;
            assert_eq!(crate::store::committed(&outcomes), 1, "{outcomes:?}");
            assert_eq!(outcomes[0] == Outcome::Committed, now < AT.0);
        }
    }

    async fn a_stale_view_is_reported_before_a_missed_time_and_that_before_the_rest(bench) {
        let missed = Effects {
            before: Some(UnixMillis(START)),
            once: vec![once("k")],
            counts: vec![count("c", 0)],
            ..Effects::default()
        };
        let stale = Effects { guards: vec![guard(1, 1)], ..missed.clone() };
        assert_eq!(bench.store.commit(stale).await, Outcome::Stale);
        assert_eq!(bench.store.commit(missed).await, Outcome::OutOfTime);
        let again = Effects { once: vec![once("k")], ..Effects::default() };
        assert_eq!(bench.store.commit(again).await, Outcome::Committed, "the key was not spent");
    }

    async fn a_missed_time_fails_its_step_alone_and_leaves_nothing_of_it(bench) {
        let mut listener = bench.store.listen();
        let late = Effects {
            before: Some(UnixMillis(START)),
            evidence: vec![entry(1, START, 5, 6, "late")],
            news: vec![changed(1)],
            ..put(secret(1, 1, "late"))
        };
        let only_asks = Effects { before: Some(UnixMillis(START)), ..Effects::default() };
        let fine = |n: i64| Effects { news: vec![changed(n)], ..put(secret(n, 1, &n.to_string())) };
        let outcomes = bench.commit_all(vec![fine(7), late, only_asks, fine(8)]).await;
        let expected = [Outcome::Committed, Outcome::OutOfTime, Outcome::OutOfTime, Outcome::Committed];
        assert_eq!(outcomes, expected);
        assert_eq!(bench.store.lane_heads(1).await.unwrap(), []);
        let told: Vec<_> = std::iter::from_fn(|| listener.try_recv().ok()).flatten().collect();
        assert!(told.iter().map(|news| &**news).eq(&[changed(7), changed(8)]), "{told:?}");
    }

    async fn a_look_at_a_counter_is_refused_beyond_the_limit_and_changes_nothing(bench) {
        let by = |by, limit| {
            let count = Count { name: "c", key: "c".into(), by, limit, until: UnixMillis(LATER.0 + by) };
            Effects { counts: vec![count], ..Effects::default() }
        };
        assert_eq!(bench.store.commit(by(0, -1)).await, Outcome::LimitReached { counter: "c" }, "nothing is above -1");
        assert_eq!(bench.store.commit(by(0, 0)).await, Outcome::Committed);
        assert_eq!(bench.store.commit(by(3, 9)).await, Outcome::Committed);
        assert_eq!(bench.store.commit(by(0, 2)).await, Outcome::LimitReached { counter: "c" });
        let outcomes = bench.commit_all(vec![by(0, 3), by(1, 9), by(0, 3), by(0, 4)]).await;
        let refused = Outcome::LimitReached { counter: "c" };
        assert_eq!(outcomes, [Outcome::Committed, Outcome::Committed, refused, Outcome::Committed]);
        assert_eq!(bench.store.count("c").await.unwrap(), 4);
        let late = Count { name: "c", key: "c".into(), by: 0, limit: 9, until: UnixMillis(LATER.0 + 9000) };
        let looks = Effects { counts: vec![late], ..put(secret(1, 1, "a")) };
        assert_eq!(bench.store.commit(looks).await, Outcome::Committed);
        bench.set_now(LATER.0 + 4).await;
        assert_eq!(bench.store.count("c").await.unwrap(), 0, "looking does not make it last longer");
    }
}
