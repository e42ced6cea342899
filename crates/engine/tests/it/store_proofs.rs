//! Proofs of possession: each counts once, for all nodes, for as long as it is valid.

use crate::{
    postgres,
    store::{
        Bench, START, committed, count, entry, guard, on_both_stores, open_postgres, proof, put, secret, two_nodes,
    },
};
use countersign_core::step::{Effects, SpentProof};
use countersign_engine::store::Outcome;
use countersign_protocol::{hash::Digest, time::UnixMillis};
use futures_util::future::join_all;

fn show(proof: SpentProof) -> Effects {
    Effects { proof: Some(proof), ..Effects::default() }
}

fn made_at(jti: &str, issued_at: i64) -> SpentProof {
    let SpentProof { project, jkt, jti, .. } = proof(jti);
    SpentProof::new(project, jkt, jti, UnixMillis(issued_at))
}

/// As in a call: with an entry of the log.
fn call(jti: &str) -> Effects {
    Effects { evidence: vec![entry(1, START, 5, 6, jti)], ..show(proof(jti)) }
}

on_both_stores! {
    /// R-22, AAP-23-10
    async fn a_proof_counts_once_also_alone_in_its_step(bench) {
        for step in [show(proof("alone")), call("with evidence")] {
            assert_eq!(bench.store.commit(step.clone()).await, Outcome::Committed);
            assert_eq!(bench.store.commit(step.clone()).await, Outcome::Replayed);
            assert_eq!(bench.store.commit(step).await, Outcome::Replayed);
        }
        assert_eq!(bench.store.lane_heads(1).await.unwrap()[0].next_seq, 2, "a replay leaves nothing");
    }

    ///
    async fn of_a_proof_that_is_shown_many_times_at_once_one_counts(bench) {
        let outcomes = bench.commit_all(vec![call("a"); 100]).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Replayed)));
    }
}

/// R-22, AAP-23-10
#[tokio::test(flavor = "multi_thread")]
async fn of_a_proof_that_is_shown_to_two_nodes_at_once_one_counts() {
    let (_, left, right) = two_nodes().await;
    for round in 0..10 {
        let jtis: Vec<String> = (0..20).map(|n| format!("{round}:{n}")).collect();
        // In the opposite order, so that each waits for the other's rows.
        let there = jtis.iter().map(|jti| left.commit(call(jti)));
        let back = jtis.iter().rev().map(|jti| right.commit(call(jti)));
        let (there, mut back) = tokio::join!(join_all(there), join_all(back));
        back.reverse();
        for pair in there.into_iter().zip(back) {
            let once = [(Outcome::Committed, Outcome::Replayed), (Outcome::Replayed, Outcome::Committed)];
            assert!(once.contains(&pair), "{pair:?}");
        }
    }
}

on_both_stores! {
    /// AAP-23-10
    async fn the_same_jti_of_another_key_or_project_is_another_proof(bench) {
        let one = proof("a");
        let other_key = SpentProof::new(one.project, Digest::of(b"other"), one.jti.clone(), one.issued_at);
        let other_project = SpentProof::new(2, one.jkt, one.jti, one.issued_at);
        let steps = [proof("a"), other_key, other_project, proof("b"), proof("")].map(show);
        assert_eq!(committed(&bench.commit_all(steps.to_vec()).await), 5);
        assert!(bench.commit_all(steps.to_vec()).await.iter().all(|outcome| *outcome == Outcome::Replayed));
    }

    /// AAP-23-10
    async fn a_jti_that_is_used_again_with_another_time_is_a_replay(bench) {
        for (n, (first, second)) in [(-299, 299), (299, -299), (0, 1)].into_iter().enumerate() {
            let at = |seconds: i64| show(made_at(&n.to_string(), START + seconds * 1000));
            assert_eq!(bench.store.commit(at(first)).await, Outcome::Committed);
            assert_eq!(bench.store.commit(at(second)).await, Outcome::Replayed);
            let together = |seconds: i64| show(made_at(&format!("{n} together"), START + seconds * 1000));
            let outcomes = bench.commit_all(vec![together(first), together(second)]).await;
            assert_eq!(outcomes, [Outcome::Committed, Outcome::Replayed]);
        }
    }

    ///
    async fn a_proof_whose_step_came_to_nothing_may_be_shown_again(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        let stale = Effects { guards: vec![guard(1, 9)], ..call("stale") };
        let taken = Effects { puts: vec![secret(2, 1, "a")], ..call("taken") };
        let beyond = Effects { counts: vec![count("c", 0)], ..call("beyond") };
        let early = Effects { not_before: Some(UnixMillis(START + 1)), ..call("early") };
        let failed = vec![stale, taken, beyond, early];
        let expected = [Outcome::Stale, Outcome::Stale, Outcome::LimitReached { counter: "c" }, Outcome::OutOfTime];
        assert_eq!(bench.commit_all(failed.clone()).await, expected, "nothing else in the batch");
        let with_one_that_counts = failed.into_iter().chain([call("fine")]).collect();
        let outcomes = bench.commit_all(with_one_that_counts).await;
        assert_eq!((&outcomes[..4], &outcomes[4]), (&expected[..], &Outcome::Committed));
        for jti in ["stale", "taken", "beyond", "early"] {
            assert_eq!(bench.store.commit(call(jti)).await, Outcome::Committed, "{jti}");
            assert_eq!(bench.store.commit(call(jti)).await, Outcome::Replayed, "{jti}");
        }
    }

    ///
    async fn a_replay_in_the_batch_spoils_nothing_of_the_others(bench) {
        assert_eq!(bench.store.commit(call("seen")).await, Outcome::Committed);
        let steps = (0..30).map(|n| if n % 3 == 0 { call("seen") } else { call(&n.to_string()) }).collect();
        let outcomes = bench.commit_all(steps).await;
        let replayed: Vec<usize> = (0..30).filter(|n| outcomes[*n] == Outcome::Replayed).collect();
        assert_eq!(replayed, (0..30).step_by(3).collect::<Vec<_>>());
        assert_eq!(bench.store.lane_heads(1).await.unwrap()[0].next_seq, 22, "and no hole");
    }

    ///
    async fn a_proof_from_another_time_is_refused_since_it_may_be_forgotten_already(bench) {
        let at = |seconds: i64| show(made_at(&seconds.to_string(), START + seconds * 1000));
        for seconds in [-931, 331, -86_400, 86_400] {
            assert_eq!(bench.store.commit(at(seconds)).await, Outcome::OutOfTime, "{seconds}");
        }
        for seconds in [-900, -300, 300] {
            assert_eq!(bench.store.commit(at(seconds)).await, Outcome::Committed, "{seconds}");
        }
        let far = show(made_at("far", i64::MIN));
        assert_eq!(bench.store.commit(far).await, Outcome::OutOfTime);
    }

    /// R-22, AAP-23-10
    async fn a_proof_is_remembered_as_long_as_it_could_be_shown_whenever_old_ones_are_forgotten(bench) {
        // From moments all over the ten minutes after which a table or a bucket ends.
        for (hours, offset) in (0..).step_by(3).zip([0, 1, 150, 299, 301, 450, 599]) {
            let start = START + hours * 3_600_000 + offset * 1000;
            let mut live = Vec::new();
            for second in (0..=600).step_by(60) {
                let now = start + second * 1000;
                bench.set_now(now).await;
                bench.store.sweep(UnixMillis(now)).await.unwrap();
                for made in [-300, 0, 300] {
                    let shown = made_at(&format!("{offset}:{second}:{made}"), now + made * 1000);
                    assert_eq!(bench.store.commit(show(shown.clone())).await, Outcome::Committed);
                    live.push(shown);
                }
                live.retain(|shown| shown.issued_at.0 >= now - 300_000);
                let outcomes = bench.commit_all(live.iter().cloned().map(show).collect()).await;
                assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Replayed), "{offset} {second}");
            }
        }
    }

    /// AAP-23-10
    async fn a_jti_is_remembered_for_ten_minutes_and_not_for_hours(bench) {
        let at = |seconds: i64| show(made_at("a", START + seconds * 1000));
        let go_to = async |seconds: i64| {
            bench.set_now(START + seconds * 1000).await;
            bench.store.sweep(UnixMillis(START + seconds * 1000)).await.unwrap();
        };
        assert_eq!(bench.store.commit(at(-299)).await, Outcome::Committed);
        for seconds in [299, 450, 600] {
            go_to(seconds).await;
            assert_eq!(bench.store.commit(at(seconds)).await, Outcome::Replayed, "{seconds}");
        }
        for minutes in (15..=180).step_by(5) {
            go_to(minutes * 60).await;
            if minutes % 60 == 0 {
                assert_eq!(bench.store.commit(at(minutes * 60)).await, Outcome::Committed, "{minutes}");
                assert_eq!(bench.store.commit(at(minutes * 60)).await, Outcome::Replayed, "{minutes}");
            }
        }
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_the_ring_are_emptied_when_they_are_past_by_any_node() {
    let (url, left, right) = two_nodes().await;
    let rows = "SELECT (SELECT count(*) FROM proofs_0) + (SELECT count(*) FROM proofs_1) \
                + (SELECT count(*) FROM proofs_2) + (SELECT count(*) FROM proofs_3)";
    let mut most = 0;
    for minute in 0..120 {
        let now = START + minute * 60_000;
        postgres::set_clock(&url, now).await;
        let shown = |node: &str| show(made_at(&format!("{node}{minute}"), now));
        let spent = tokio::join!(left.commit(shown("left")), right.commit(shown("right")));
        assert_eq!(spent, (Outcome::Committed, Outcome::Committed));
        let (l, r) = tokio::join!(left.sweep(UnixMillis(now)), right.sweep(UnixMillis(i64::MAX)));
        assert!(l.is_ok() && r.is_ok(), "{l:?} {r:?}");
        most = most.max(postgres::run(&url, rows).await.trim().parse::<i64>().unwrap());
    }
    assert!((32..=80).contains(&most), "of 240 proofs {most} were kept at once");
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_starts_knows_the_proofs_that_the_others_have_seen() {
    let url = postgres::fresh_database().await;
    let first = open_postgres(&url).await;
    postgres::set_clock(&url, START).await;
    assert_eq!(first.commit(call("a")).await, Outcome::Committed);
    first.close().await;
    assert_eq!(open_postgres(&url).await.commit(call("a")).await, Outcome::Replayed);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite_a_proof_alone_needs_no_disk() {
    let bench = Bench::sqlite().await;
    let before = bench.store.lane_heads(1).await.unwrap();
    assert_eq!(committed(&bench.commit_all((0..2000).map(|n| show(proof(&n.to_string()))).collect()).await), 2000);
    assert_eq!(bench.store.lane_heads(1).await.unwrap(), before);
    assert_eq!(bench.store.commit(show(proof("1999"))).await, Outcome::Replayed);
}
