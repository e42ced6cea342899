//! One transaction for many steps, each of which succeeds or fails alone.
//!
//! The rows and counters of all steps are loaded and locked in bulk, the steps are judged in memory in their order, with
//! earlier ones visible to later ones, and the results of the successful ones are written in bulk. Only changed rows are
//! written at a step's turn, because only the database knows whether a unique column is taken.

use super::{
    Outcome,
    error::{StoreError, StoreFailure},
    maintenance::MaintenanceJob,
    proofs::{ProofId, StoredProof},
    signals::{self, FeedPosition},
    step::{Item, Needs, PendingLeaf, Ready, RowChange},
};
use countersign_core::records::Table;
use countersign_protocol::{evidence, hash::Digest, ids::RowKey};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    future::Future,
};

/// The database's side of a batch. Between `load` and `flush` a transaction is open.
pub(crate) trait Tx: Send {
    /// Ensures a connection and a lane.
    fn ready(&mut self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
    /// Begins the transaction, and returns everything the steps depend on, locked.
    fn load(&mut self, wants: &Wants<'_>) -> impl Future<Output = Result<World, StoreFailure>> + Send;
    /// Writes a step's rows, all or none; false if a row or a unique column does not meet the step's conditions.
    fn apply(&mut self, changes: &[RowChange]) -> impl Future<Output = Result<bool, StoreFailure>> + Send;
    /// Writes the gains, and commits.
    fn flush(&mut self, gains: &Gains<'_>) -> impl Future<Output = Result<(), StoreFailure>> + Send;
    /// Takes the records of the flushed batch into memory, where the database has one writer.
    fn cache_records(&mut self, _: &[&Ready], _: &[Outcome]) {}
    /// Hands the signals of the flushed batch to the listeners of this node.
    fn publish(&mut self, standing: &FeedPosition, news: signals::Batch);
    /// Ends the transaction without a change.
    fn abort(&mut self) -> impl Future<Output = ()> + Send;
    /// Runs a maintenance job between two batches.
    fn maintain(&mut self, job: MaintenanceJob) -> impl Future<Output = Result<u64, StoreError>> + Send;
    /// Called every few seconds.
    fn heartbeat(&mut self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}

/// Everything a batch depends on, in the order of locking: tables, then keys.
#[derive(Default)]
pub(crate) struct Wants<'a> {
    pub(crate) rows: BTreeMap<Table, Rows>,
    pub(crate) counts: BTreeSet<&'a str>,
    /// Those among them that are raised, not only read.
    pub(crate) raised: BTreeSet<&'a str>,
    /// Each with its first `until`.
    pub(crate) once: BTreeMap<&'a str, i64>,
    pub(crate) proofs: Vec<&'a StoredProof>,
    /// The projects with new evidence.
    pub(crate) projects: BTreeSet<RowKey>,
    /// Whether a step has a time window, so that the clock must be read after the last lock is acquired.
    pub(crate) timed: bool,
    /// Whether there are signals to place.
    pub(crate) news: bool,
}

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) keys: BTreeSet<RowKey>,
    /// Whether any of them is to be changed. One lock mode per table keeps one order of locking.
    pub(crate) exclusive: bool,
}

/// The loaded state that the batch is judged by.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) now: i64,
    pub(crate) versions: HashMap<(Table, RowKey), i64>,
    pub(crate) counts: HashMap<String, Tally>,
    /// Once-keys that are taken, with their expiry.
    pub(crate) spent: HashMap<String, i64>,
    /// The spent ones among the proofs of the batch.
    pub(crate) proofs: HashSet<ProofId>,
    pub(crate) next_pos: i64,
    /// The number of commits of this lane.
    pub(crate) commits: i64,
    pub(crate) heads: HashMap<RowKey, Head>,
    pub(crate) standing: FeedPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) value: i64,
    pub(crate) until: i64,
}

/// The head of a project's log in this lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) next_seq: i64,
    pub(crate) chain: Digest,
}

impl Head {
    pub(crate) const START: Self = Self { next_seq: 1, chain: Digest([0; 32]) };
}

/// The results of a batch's successful steps.
#[derive(Default)]
pub(crate) struct Gains<'a> {
    pub(crate) now: i64,
    pub(crate) counts: BTreeMap<&'a str, Tally>,
    pub(crate) once: BTreeMap<&'a str, i64>,
    pub(crate) proofs: Vec<&'a StoredProof>,
    pub(crate) entries: Vec<PlacedLeaf<'a>>,
    pub(crate) heads: BTreeMap<RowKey, Head>,
    pub(crate) next_pos: i64,
    /// This one included.
    pub(crate) commits: i64,
    pub(crate) standing: FeedPosition,
    pub(crate) news: Vec<&'a Item>,
    rows_changed: bool,
}

/// An entry with its position in the lane, and its number in its project's part of the lane.
pub(crate) struct PlacedLeaf<'a> {
    pub(crate) pos: i64,
    pub(crate) seq: i64,
    pub(crate) entry: &'a PendingLeaf,
}

/// Runs the steps in one transaction. An error means that none of them happened, unless it is
/// [`StoreFailure::Unknown`].
pub(crate) async fn run<T: Tx>(tx: &mut T, steps: &[&Ready]) -> Result<Vec<Outcome>, StoreFailure> {
    let result = judge(tx, steps).await;
    if result.is_err() {
        tx.abort().await;
    }
    result
}

async fn judge<T: Tx>(tx: &mut T, steps: &[&Ready]) -> Result<Vec<Outcome>, StoreFailure> {
    let mut world = tx.load(&Wants::of(steps)).await?;
    world.proofs.reserve(steps.iter().filter(|step| step.proof.is_some()).count());
    let standing = std::mem::take(&mut world.standing);
    let (next_pos, commits) = (world.next_pos, world.commits.saturating_add(1));
    let mut gains = Gains { now: world.now, next_pos, commits, standing, ..Gains::default() };
    let mut outcomes = Vec::with_capacity(steps.len());
    for step in steps {
        outcomes.push(commit_step(tx, &mut world, &mut gains, step).await?);
    }
    if gains.is_empty() {
        tx.abort().await;
    } else {
        tx.flush(&gains).await?;
        // Before anybody hears of it: a listener reads the records at once.
        tx.cache_records(steps, &outcomes);
        tx.publish(&gains.standing, gains.news.iter().map(|item| item.news.clone()).collect());
    }
    Ok(outcomes)
}

/// One step's turn: judged, written, and only then visible to later steps.
async fn commit_step<'a, T: Tx>(
    tx: &mut T,
    world: &mut World,
    gains: &mut Gains<'a>,
    step: &'a Ready,
) -> Result<Outcome, StoreFailure> {
    let trial = match Trial::of(world, step) {
        Ok(trial) => trial,
        Err(refusal) => return Ok(refusal),
    };
    if !step.changes.is_empty() && !tx.apply(&step.changes).await? {
        return Ok(Outcome::Stale);
    }
    gains.rows_changed |= !step.changes.is_empty();
    trial.settle(world, gains);
    if let Some(proof) = &step.proof {
        world.proofs.insert(proof.id);
        gains.proofs.push(proof);
    }
    gains.append(world, &step.entries);
    gains.news.extend(&step.news);
    Ok(Outcome::Committed)
}

/// The tentative changes of a step.
struct Trial<'a> {
    versions: HashMap<(Table, RowKey), Option<i64>>,
    once: BTreeMap<&'a str, i64>,
    counts: BTreeMap<&'a str, Tally>,
}

impl<'a> Trial<'a> {
    /// In the order of precedence: a stale view is decided again, then a step outside its time window fails, a spent proof
    /// or key is a replay before any limit, and limits come last.
    fn of(world: &World, step: &'a Ready) -> Result<Self, Outcome> {
        let mut trial = Self { versions: HashMap::new(), once: BTreeMap::new(), counts: BTreeMap::new() };
        let current = |guard: &countersign_core::step::Guard| {
            world.versions.get(&(guard.table, guard.key)) == Some(&guard.version)
        };
        if !step.guards.iter().all(current) || !step.changes.iter().all(|change| trial.change(world, change)) {
            return Err(Outcome::Stale);
        }
        if !step.window.is_open_at(world.now) {
            return Err(Outcome::OutOfTime);
        }
        if let Some(proof) = &step.proof {
            proof.check(world.now, &world.proofs)?;
        }
        for once in &step.once {
            trial.spend(world, once).ok_or_else(|| Outcome::Spent { key: once.key.clone() })?;
        }
        for count in &step.counts {
            trial.count(world, count).ok_or(Outcome::LimitReached { counter: count.name })?;
        }
        Ok(trial)
    }

    fn change(&mut self, world: &World, change: &RowChange) -> bool {
        let known = self.versions.get(&change.row).copied().unwrap_or_else(|| world.versions.get(&change.row).copied());
        let fits = match change.needs {
            Needs::Absent => known.is_none(),
            Needs::Version(version) => known == Some(version),
            Needs::Anything => true,
        };
        self.versions.insert(change.row, change.becomes);
        fits
    }

    fn spend(&mut self, world: &World, once: &'a countersign_core::step::Once) -> Option<()> {
        let key = once.key.as_str();
        let held = self.once.get(key).or_else(|| world.spent.get(key));
        if held.is_some_and(|until| *until >= world.now) {
            return None;
        }
        self.once.insert(key, once.until.0);
        Some(())
    }

    fn count(&mut self, world: &World, count: &'a countersign_core::step::Count) -> Option<()> {
        let key = count.key.as_str();
        let known = self.counts.get(key).or_else(|| world.counts.get(key)).filter(|tally| tally.until >= world.now);
        let value = known.map_or(0, |tally| tally.value).saturating_add(count.by);
        // A decrement is never refused, and never takes a counter below zero.
        if count.by >= 0 && value > count.limit {
            return None;
        }
        if count.by == 0 {
            return Some(());
        }
        let until = known.map_or(count.until.0, |tally| tally.until.max(count.until.0));
        self.counts.insert(key, Tally { value: value.max(0), until });
        Some(())
    }

    fn settle(self, world: &mut World, gains: &mut Gains<'a>) {
        for (row, version) in self.versions {
            match version {
                Some(version) => world.versions.insert(row, version),
                None => world.versions.remove(&row),
            };
        }
        for (key, until) in self.once {
            world.spent.insert(key.to_owned(), until);
            gains.once.insert(key, until);
        }
        for (key, tally) in self.counts {
            world.counts.insert(key.to_owned(), tally);
            gains.counts.insert(key, tally);
        }
    }
}

impl<'a> Gains<'a> {
    fn is_empty(&self) -> bool {
        self.proofs.is_empty() && self.writes_nothing()
    }

    /// Whether nothing was gained but proofs.
    pub(crate) fn writes_nothing(&self) -> bool {
        let writes = self.rows_changed || !self.entries.is_empty() || !self.news.is_empty();
        !writes && self.counts.is_empty() && self.once.is_empty()
    }

    /// Gives each entry the next position in the lane and in its project, without a hole.
    fn append(&mut self, world: &mut World, entries: &'a [PendingLeaf]) {
        for entry in entries {
            let head = world.heads.entry(entry.project).or_insert(Head::START);
            self.entries.push(PlacedLeaf { pos: self.next_pos, seq: head.next_seq, entry });
            head.chain = evidence::chain(&head.chain, head.next_seq, &entry.hash);
            head.next_seq += 1;
            self.next_pos += 1;
            self.heads.insert(entry.project, *head);
        }
    }
}

impl<'a> Wants<'a> {
    fn of(steps: &[&'a Ready]) -> Self {
        let mut wants = Self::default();
        for step in steps {
            wants.add(step);
        }
        wants
    }

    fn add(&mut self, step: &'a Ready) {
        for guard in &step.guards {
            self.rows.entry(guard.table).or_default().keys.insert(guard.key);
        }
        for change in &step.changes {
            let rows = self.rows.entry(change.row.0).or_default();
            rows.keys.insert(change.row.1);
            // A row that does not exist cannot be locked; its insert decides.
            rows.exclusive |= change.needs != Needs::Absent;
        }
        for count in &step.counts {
            self.counts.insert(&count.key);
            if count.by != 0 {
                self.raised.insert(&count.key);
            }
        }
        for once in &step.once {
            self.once.entry(&once.key).or_insert(once.until.0);
        }
        self.proofs.extend(&step.proof);
        self.projects.extend(step.entries.iter().map(|entry| entry.project));
        self.timed |= !step.window.is_open_always();
        self.news |= !step.news.is_empty();
    }
}
