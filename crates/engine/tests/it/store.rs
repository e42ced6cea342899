//! Helpers for the tests of the store: both databases, a manual clock, and small rows.

use crate::postgres;
use countersign_core::{
    records::{Record, Secret, Stored},
    signals::Signal,
    step::{Count, Effects, EvidenceDraft, Guard, Once, SpentProof},
};
use countersign_engine::store::{
    self, Outcome, PostgresLocation, Search, SecretByName, Store, StoreLocation, StoreOptions,
};
use countersign_protocol::{evidence::LeafMembers, hash::Digest, ids::RowKey, time::UnixMillis};
use futures_util::future::join_all;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// The start of the manual clock.
pub(crate) const START: i64 = 1_700_000_000_000;
pub(crate) const LATER: UnixMillis = UnixMillis(START + 60_000);

/// A store and its clock.
pub(crate) struct Bench {
    pub(crate) store: Arc<dyn Store>,
    clock: BenchClock,
}

enum BenchClock {
    Ours(Arc<AtomicI64>),
    Postgres(String),
}

impl Bench {
    pub(crate) async fn sqlite() -> Self {
        let clock = Arc::new(AtomicI64::new(START));
        let options = StoreOptions { readers: 8, place: StoreLocation::Temporary, clock: reading(&clock) };
        Self { store: store::open(options).await.unwrap(), clock: BenchClock::Ours(clock) }
    }

    pub(crate) async fn postgres() -> Self {
        let url = postgres::migrated_database().await;
        let store = open_postgres(&url).await;
        postgres::set_clock(&url, START).await;
        Self { store, clock: BenchClock::Postgres(url) }
    }

    pub(crate) async fn set_now(&self, millis: i64) {
        match &self.clock {
            BenchClock::Ours(clock) => clock.store(millis, Ordering::SeqCst),
            BenchClock::Postgres(url) => postgres::set_clock(url, millis).await,
        }
    }

    /// All at once, in this order.
    pub(crate) async fn commit_all(&self, steps: Vec<Effects>) -> Vec<Outcome> {
        join_all(steps.into_iter().map(|step| self.store.commit(step))).await
    }

    pub(crate) async fn secret(&self, name: &str) -> Option<Secret> {
        store::find_one(&*self.store, SecretByName(name.into())).await.unwrap()
    }

    pub(crate) async fn found<T: Stored>(&self, search: &Search) -> Vec<T> {
        let documents = self.store.list(search.clone()).await.unwrap();
        // The records in memory are those of the database, both when they are read and when they are known.
        for _ in 0..2 {
            let records = self.store.records(search.clone()).await.unwrap();
            let records: Vec<Arc<T>> = records.into_iter().map(|record| record.downcast().unwrap()).collect();
            let in_memory = records.iter().map(|record| serde_json::to_value(&**record).unwrap());
            let stored = documents.iter().map(|document| serde_json::from_str::<serde_json::Value>(document).unwrap());
            assert!(in_memory.eq(stored), "{search:?}");
        }
        documents.iter().map(|document| serde_json::from_str(document).unwrap()).collect()
    }
}

/// One promise, proven on both databases: a module with the tests `on_sqlite` and `on_postgres`.
macro_rules! on_both_stores {
    ($($(#[doc = $doc:expr])* async fn $name:ident($bench:ident) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, reason = "the promise may need nothing of its file")]
            use super::*;

            $(#[doc = $doc])*
            async fn promise($bench: $crate::store::Bench) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn on_sqlite() {
                promise($crate::store::Bench::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                promise($crate::store::Bench::postgres().await).await;
            }
        })+
    };
}
pub(crate) use on_both_stores;

pub(crate) async fn open_postgres(url: &str) -> Arc<dyn Store> {
    let options =
        StoreOptions { readers: 8, place: StoreLocation::Postgres(PostgresLocation::new(url)), clock: fixed() };
    store::open(options).await.unwrap()
}

pub(crate) async fn two_nodes() -> (String, Arc<dyn Store>, Arc<dyn Store>) {
    let url = postgres::fresh_database().await;
    let (left, right) = tokio::join!(open_postgres(&url), open_postgres(&url));
    postgres::set_clock(&url, START).await;
    (url, left, right)
}

pub(crate) fn fixed() -> store::StoreClock {
    Arc::new(|| UnixMillis(START))
}

fn reading(clock: &Arc<AtomicI64>) -> store::StoreClock {
    let clock = clock.clone();
    Arc::new(move || UnixMillis(clock.load(Ordering::SeqCst)))
}

pub(crate) fn secret(key: RowKey, version: i64, name: &str) -> Record {
    Secret { key, version, name: name.into(), sealed: format!("sealed {version}") }.into_record()
}

pub(crate) fn put(record: Record) -> Effects {
    Effects { puts: vec![record], ..Effects::default() }
}

pub(crate) fn guard(key: RowKey, version: i64) -> Guard {
    Guard { table: Secret::TABLE, key, version }
}

pub(crate) fn spent(key: &str) -> Outcome {
    Outcome::Spent { key: key.into() }
}

pub(crate) fn once(key: &str) -> Once {
    Once { key: key.into(), until: LATER }
}

/// A proof of project 1, made now.
pub(crate) fn proof(jti: &str) -> SpentProof {
    SpentProof::new(1, Digest::of(b"key"), jti.into(), UnixMillis(START))
}

pub(crate) fn count(name: &'static str, limit: i64) -> Count {
    Count { name, key: name.into(), by: 1, limit, until: LATER }
}

/// An entry of a delegation and a session; `note` is behind a commitment.
pub(crate) fn entry(project: RowKey, at: i64, delegation: RowKey, session: RowKey, note: &str) -> EvidenceDraft {
    let mut members = LeafMembers::new();
    members.open("at", at);
    members.open("note", note);
    members.hidden("who", format!("person of {note}"));
    let leaf = members.seal(|| [7; 16]).unwrap();
    EvidenceDraft {
        project,
        at: UnixMillis(at),
        event_type: "call",
        delegation: Some(delegation),
        session: Some(session),
        leaf,
    }
}

/// The smallest signal.
pub(crate) fn changed(decision: RowKey) -> Signal {
    Signal::Changed { decision }
}

pub(crate) fn committed(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| **outcome == Outcome::Committed).count()
}
