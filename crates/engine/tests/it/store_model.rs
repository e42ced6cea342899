//! The batch against a reference model that applies one step after the other to a few maps.

use crate::store::{Bench, START, entry, guard, proof, secret, spent};
use countersign_core::{
    records::{Secret, Stored as _},
    signals::Signal,
    step::{Count, Effects, Once, SpentProof},
};
use countersign_engine::store::Outcome;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
use std::collections::{BTreeMap, BTreeSet};

/// A step in small numbers, so that steps conflict with each other.
#[derive(Clone, Debug)]
struct Small {
    guards: Vec<(RowKey, i64)>,
    puts: Vec<(RowKey, i64, u8)>,
    removes: Vec<RowKey>,
    once: Vec<(u8, bool)>,
    proof: Option<(u8, bool)>,
    counts: Vec<(u8, i64, i64, bool)>,
    entries: u8,
    /// It counts before the first moment and not before the second, as distances from now.
    window: (Option<i64>, Option<i64>),
    news: Vec<RowKey>,
}

fn small() -> impl Strategy<Value = Small> {
    (
        vec((0..3_i64, 1..3_i64), 0..2),
        vec((0..3_i64, 1..4_i64, 0..4_u8), 0..3),
        vec(0..3_i64, 0..2),
        vec((0..4_u8, any::<bool>()), 0..2),
        prop_oneof![1 => Just(None), 1 => (0..6_u8, any::<bool>()).prop_map(Some)],
        vec((0..2_u8, -1..3_i64, 0..4_i64, any::<bool>()), 0..2),
        0..3_u8,
        (near_now(0..=1), near_now(-1..=0)),
        vec(0..9_i64, 0..3),
    )
        .prop_map(|(guards, puts, removes, once, proof, counts, entries, window, news)| {
            // Removals in most steps would leave nothing to compare.
            let removes = if entries == 0 { removes } else { vec![] };
            Small { guards, puts, removes, once, proof, counts, entries, window, news }
        })
}

/// Mostly no limit, or one that fits as often as not.
fn near_now(distances: std::ops::RangeInclusive<i64>) -> impl Strategy<Value = Option<i64>> {
    prop_oneof![4 => Just(None), 1 => distances.prop_map(Some)]
}

/// Past, or far away.
fn until(past: bool) -> UnixMillis {
    UnixMillis(if past { START - 1 } else { START + 1000 })
}

/// The name of a small counter.
fn named(counter: u8) -> &'static str {
    if counter == 0 { "first" } else { "second" }
}

impl Small {
    fn effects(&self, case: i64) -> Effects {
        let key = |key: RowKey| case * 100 + key;
        let once = |(name, past): &(u8, bool)| Once { key: format!("{case}:{name}"), until: until(*past) };
        let count = |(name, by, limit, past): &(u8, i64, i64, bool)| Count {
            name: named(*name),
            key: format!("{case}:{name}"),
            by: *by,
            limit: *limit,
            until: until(*past),
        };
        Effects {
            guards: self.guards.iter().map(|(row, version)| guard(key(*row), *version)).collect(),
            counts: self.counts.iter().map(count).collect(),
            once: self.once.iter().map(once).collect(),
            proof: self.proof.map(|(jti, later)| {
                let issued_at = UnixMillis(if later { START + 299_000 } else { START - 299_000 });
                SpentProof::new(case, proof("").jkt, jti.to_string(), issued_at)
            }),
            puts: self.puts.iter().map(|(row, v, name)| secret(key(*row), *v, &format!("{case}:{name}"))).collect(),
            removes: self.removes.iter().map(|row| (Secret::TABLE, key(*row))).collect(),
            evidence: (0..self.entries).map(|n| entry(case, START, 50, 60, &n.to_string())).collect(),
            before: self.window.0.map(|distance| UnixMillis(START + distance)),
            not_before: self.window.1.map(|distance| UnixMillis(START - distance)),
            news: self.news.iter().map(|decision| Signal::Changed { decision: *decision }).collect(),
        }
    }
}

#[derive(Clone, Default)]
struct Model {
    rows: BTreeMap<RowKey, (i64, u8)>,
    spent: BTreeMap<u8, bool>,
    proofs: BTreeSet<u8>,
    counts: BTreeMap<u8, (i64, bool)>,
    entries: i64,
    news: Vec<Signal>,
}

impl Model {
    fn commit(&mut self, case: i64, step: &Small) -> Outcome {
        let mut next = self.clone();
        let outcome = next.try_commit(case, step);
        if outcome == Outcome::Committed {
            *self = next;
        }
        outcome
    }

    fn try_commit(&mut self, case: i64, step: &Small) -> Outcome {
        if step.guards.iter().any(|(row, version)| self.rows.get(row).map(|(v, _)| v) != Some(version)) {
            return Outcome::Stale;
        }
        let mut taken = false;
        for (row, version, name) in &step.puts {
            if self.rows.get(row).map_or(0, |(v, _)| *v) != version - 1 {
                return Outcome::Stale;
            }
            taken |= self.rows.iter().any(|(other, (_, n))| other != row && n == name);
            self.rows.insert(*row, (*version, *name));
        }
        for row in &step.removes {
            self.rows.remove(row);
        }
        if step.window.0.is_some_and(|distance| distance <= 0) || step.window.1.is_some_and(|distance| distance < 0) {
            return Outcome::OutOfTime;
        }
        // The time of a proof does not matter: its `jti` counts once.
        if step.proof.is_some_and(|(jti, _)| !self.proofs.insert(jti)) {
            return Outcome::Replayed;
        }
        for (name, past) in &step.once {
            if self.spent.get(name) == Some(&false) {
                return spent(&format!("{case}:{name}"));
            }
            self.spent.insert(*name, *past);
        }
        for (name, by, limit, past) in &step.counts {
            let known = self.counts.get(name).filter(|(_, past)| !past);
            let value = known.map_or(0, |(value, _)| *value) + by;
            if *by >= 0 && value > *limit {
                return Outcome::LimitReached { counter: named(*name) };
            }
            if *by == 0 {
                continue;
            }
            self.counts.insert(*name, (value.max(0), *past && known.is_none()));
        }
        self.entries += i64::from(step.entries);
        self.news.extend(step.news.iter().map(|decision| Signal::Changed { decision: *decision }));
        if taken { Outcome::Stale } else { Outcome::Committed }
    }
}

async fn agrees(bench: &Bench, case: i64, batches: &[Vec<Small>]) {
    let mut model = Model::default();
    let mut listener = bench.store.listen();
    for batch in batches {
        let outcomes = bench.commit_all(batch.iter().map(|step| step.effects(case)).collect()).await;
        let expected: Vec<Outcome> = batch.iter().map(|step| model.commit(case, step)).collect();
        assert_eq!(outcomes, expected);
    }
    let told: Vec<_> = std::iter::from_fn(|| listener.try_recv().ok()).flatten().collect();
    assert!(told.iter().map(|news| &**news).eq(&model.news), "{told:?} instead of {:?}", model.news);
    for name in 0..4_u8 {
        let expected = model.rows.iter().find(|(_, (_, n))| *n == name).map(|(row, (v, _))| (case * 100 + row, *v));
        let found = bench.secret(&format!("{case}:{name}")).await;
        assert_eq!(found.map(|found| (found.key, found.version)), expected);
        let expected = model.counts.get(&name).filter(|(_, past)| !past).map_or(0, |(value, _)| *value);
        assert_eq!(bench.store.count(&format!("{case}:{name}")).await.unwrap(), expected);
    }
    let heads = bench.store.lane_heads(case).await.unwrap();
    assert_eq!(heads.first().map_or(1, |head| head.next_seq), model.entries + 1);
}

fn check(cases: u32, open: impl AsyncFn() -> Bench) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bench = runtime.block_on(open());
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let case = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&vec(vec(small(), 1..12), 1..4), |batches| {
            case.set(case.get() + 1);
            runtime.block_on(agrees(&bench, case.get(), &batches));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_batch_on_sqlite_comes_out_as_if_its_steps_had_come_one_by_one() {
    check(128, Bench::sqlite);
}

#[test]
fn a_batch_on_postgresql_comes_out_as_if_its_steps_had_come_one_by_one() {
    check(48, Bench::postgres);
}
