//! Records in memory are never older than what a caller was told.

use crate::{
    store::{Bench, LATER, START, on_both_stores, put, secret},
    store_decisions::{
        NONE, keys,
        rows::{allowance, decision, digest, expired, pending},
        write,
    },
};
use countersign_core::{
    records::{Allowance, AllowanceState, RevokedReceipt, Secret, Stored, WebSession},
    step::Effects,
};
use countersign_engine::store::{
    self, AllowancesOfDecision, AllowancesOpenByDigest, DecisionPendingSame, ExecutionUnderWay, ExecutionsDone,
    Outcome, RevokedReceiptByHash, SecretByName, WebSessionByToken,
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use futures_util::future::join_all;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

async fn version(bench: &Bench) -> Option<i64> {
    bench.secret("a").await.map(|secret| secret.version)
}

fn web_session(key: RowKey) -> WebSession {
    let (at, token_hash) = (UnixMillis(START), Digest::of(&key.to_be_bytes()));
    WebSession {
        key,
        version: 1,
        token_hash,
        person: 1,
        generation: 1,
        started_at: at,
        proven_at: at,
        expires_at: LATER,
    }
}

on_both_stores! {
    async fn a_look_up_after_a_commit_finds_the_committed_record_under_every_name(bench) {
        for next in 1..=3 {
            assert_eq!(bench.store.commit(put(secret(1, next, "a"))).await, Outcome::Committed);
            for _ in 0..2 {
                assert_eq!(version(&bench).await, Some(next));
                assert_eq!(store::get::<Secret>(&*bench.store, 1).await.unwrap().map(|s| s.version), Some(next));
            }
        }
    }

    /// C-41
    async fn a_revoked_receipt_that_was_looked_for_in_vain_is_found_once_it_is_revoked(bench) {
        let revoked = |key: RowKey, text: &[u8]| {
            RevokedReceipt { key, version: 1, project: 1, sha256: Digest::of(text), at: UnixMillis(START) }
        };
        let is_revoked = async |text: &[u8]| {
            let lookup = RevokedReceiptByHash { project: 1, sha256: Digest::of(text) };
            store::find_one(&*bench.store, lookup).await.unwrap().is_some()
        };
        for (key, text) in [(1, b"one"), (2, b"two")] {
            assert!(!is_revoked(text).await && !is_revoked(text).await);
            assert_eq!(bench.store.commit(put(revoked(key, text).into_record())).await, Outcome::Committed);
            assert!(is_revoked(text).await && is_revoked(text).await);
        }
        let removes = vec![(RevokedReceipt::TABLE, 1)];
        assert_eq!(bench.store.commit(Effects { removes, ..Effects::default() }).await, Outcome::Committed);
        assert_eq!((is_revoked(b"one").await, is_revoked(b"two").await), (false, true));
    }

    async fn a_step_that_fails_changes_no_record_in_memory(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        assert_eq!(version(&bench).await, Some(1));
        let puts = vec![secret(1, 2, "a"), secret(2, 7, "b")];
        assert_eq!(bench.store.commit(Effects { puts, ..Effects::default() }).await, Outcome::Stale);
        assert_eq!(version(&bench).await, Some(1));
    }

    async fn a_removed_row_is_gone_and_its_unique_name_can_be_taken_again(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        assert_eq!(version(&bench).await, Some(1));
        let removes = vec![(Secret::TABLE, 1)];
        assert_eq!(bench.store.commit(Effects { removes, ..Effects::default() }).await, Outcome::Committed);
        assert_eq!(version(&bench).await, None);
        assert_eq!(bench.store.commit(put(secret(2, 1, "a"))).await, Outcome::Committed);
        assert_eq!(bench.secret("a").await.map(|secret| secret.key), Some(2));
    }

    async fn a_swept_row_is_gone_from_memory_too(bench) {
        let session = web_session(5);
        assert_eq!(bench.store.commit(put(session.clone().into_record())).await, Outcome::Committed);
        let find = || store::find_one(&*bench.store, WebSessionByToken(session.token_hash));
        assert!(find().await.unwrap().is_some());
        let long_after = UnixMillis(LATER.0 + 24 * 3_600_000);
        bench.store.sweep(long_after).await.unwrap();
        assert!(find().await.unwrap().is_none());
    }

    async fn a_row_that_was_looked_for_in_vain_is_found_once_it_is_written(bench) {
        let same = || keys(&bench, DecisionPendingSame { project: 1, same: digest(1) });
        let digests = || keys(&bench, AllowancesOpenByDigest { project: 1, digest: digest(1) });
        let (done, under_way) = (ExecutionsDone { project: 1, digest: digest(1) }, ExecutionUnderWay { project: 1, digest: digest(1) });
        for _ in 0..2 {
            assert_eq!((same().await, digests().await), (vec![], vec![]));
            assert_eq!((keys(&bench, done.clone()).await, keys(&bench, under_way.clone()).await), (vec![], vec![]));
        }
        write(&bench, decision(1, 1, pending(START))).await;
        assert_eq!(same().await, [1]);
        write(&bench, decision(1, 2, expired())).await;
        assert_eq!(same().await, NONE);
        let approved = Allowance { digest: Some(digest(1)), ..allowance(7, 1, START, AllowanceState::Open) };
        write(&bench, approved).await;
        assert_eq!(digests().await, [7]);
    }

    async fn the_allowances_of_a_settled_decision_are_those_of_its_step_and_every_later_one(bench) {
        let of_it = |key| Allowance { decision: 1, ..allowance(key, 1, START, AllowanceState::Open) };
        let all = || keys(&bench, AllowancesOfDecision(1));
        write(&bench, decision(1, 1, pending(START))).await;
        assert_eq!(all().await, NONE);
        let puts = vec![of_it(9).into_record(), decision(1, 2, expired()).into_record(), of_it(8).into_record()];
        assert_eq!(bench.store.commit(Effects { puts, ..Effects::default() }).await, Outcome::Committed);
        assert_eq!(all().await, [8, 9]);
        write(&bench, decision(1, 3, expired())).await;
        assert_eq!(all().await, [8, 9]);
        write(&bench, of_it(7)).await;
        assert_eq!(all().await, [7, 8, 9]);
        let removes = vec![(Allowance::TABLE, 8)];
        assert_eq!(bench.store.commit(Effects { removes, ..Effects::default() }).await, Outcome::Committed);
        assert_eq!(all().await, [7, 9]);
    }

    ///
    async fn no_reader_sees_an_older_record_than_one_that_was_acknowledged(bench) {
        assert_eq!(bench.store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
        let acknowledged = Arc::new(AtomicI64::new(1));
        let readers = (0..4).map(|_| {
            let (store, acknowledged) = (bench.store.clone(), acknowledged.clone());
            tokio::spawn(async move {
                loop {
                    let least = acknowledged.load(Ordering::SeqCst);
                    let found = store::find_one(&*store, SecretByName("a".into())).await.unwrap().unwrap();
                    assert!(found.version >= least, "{} after {least}", found.version);
                    if least >= 200 {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            })
        });
        let readers: Vec<_> = readers.collect();
        for next in 2..=200 {
            // A change of another row in between, so that readers lose what they are about to store.
            let steps = vec![put(secret(1, next, "a")), put(secret(1000 + next, 1, &format!("other {next}")))];
            assert_eq!(bench.commit_all(steps).await, [Outcome::Committed, Outcome::Committed]);
            acknowledged.store(next, Ordering::SeqCst);
        }
        for ended in join_all(readers).await {
            ended.unwrap();
        }
    }
}
