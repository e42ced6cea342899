//! The one writer of a node: takes steps from a queue and commits them in groups.
//!
//! The commit window adapts: immediate with few steps queued, a moment later with many, because syncing as fast as the
//! disk allows costs more than it gains.

use super::{
    Outcome,
    batch::{self, Tx},
    error::{StoreError, StoreFailure},
    maintenance::MaintenanceJob,
    record_cache::RecordCache,
    step::Ready,
};
use countersign_core::step::Effects;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};

const QUEUE: usize = 4096;
const GROUP: usize = 512;
/// With this many steps a group of late, it pays to wait for more.
const MANY: f32 = 4.0;
const WINDOW: Duration = Duration::from_millis(2);
const BEAT: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 3;

const STOPPED: &str = "its writer has stopped; restart this node";

/// The handle of the writer. Dropping the last one ends it once the queue is empty.
#[derive(Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    told: bool,
    /// Whether the last step could not be written.
    failing: Arc<AtomicBool>,
}

pub(crate) enum Job {
    Step(Ready, oneshot::Sender<Outcome>),
    Maintain(MaintenanceJob, oneshot::Sender<Result<u64, StoreError>>),
    Close(oneshot::Sender<()>),
}

pub(crate) type Jobs = mpsc::Receiver<Job>;

impl Writer {
    /// `told`: other nodes read the signals.
    pub(crate) fn new(told: bool) -> (Self, Jobs) {
        let (jobs, queue) = mpsc::channel(QUEUE);
        (Self { jobs, told, failing: Arc::default() }, queue)
    }

    /// `known`: the records in memory.
    pub(crate) async fn commit(&self, effects: Effects, known: Option<&RecordCache>) -> Outcome {
        let step = match Ready::from(effects, self.told, known) {
            Ok(step) if step.is_empty() => return Outcome::Committed,
            Ok(step) => step,
            Err(why) => return Outcome::Unavailable(format!("a row could not be written as JSON: {why}")),
        };
        let answer = self.enqueue(|reply| Job::Step(step, reply)).await;
        let outcome = answer.unwrap_or_else(|| Outcome::Unavailable(STOPPED.into()));
        self.failing.store(matches!(outcome, Outcome::Unavailable(_)), Ordering::Relaxed);
        outcome
    }

    pub(crate) fn is_sound(&self) -> bool {
        !self.jobs.is_closed() && !self.failing.load(Ordering::Relaxed)
    }

    pub(crate) async fn maintain(&self, chore: MaintenanceJob) -> Result<u64, StoreError> {
        let answer = self.enqueue(|reply| Job::Maintain(chore, reply)).await;
        answer.unwrap_or_else(|| Err(StoreError::Unavailable(STOPPED.into())))
    }

    /// Ends the writer after the queued jobs.
    pub(crate) async fn close(&self) {
        self.enqueue(Job::Close).await;
    }

    async fn enqueue<R>(&self, job: impl FnOnce(oneshot::Sender<R>) -> Job) -> Option<R> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.ok()?;
        answer.await.ok()
    }
}

/// Writes until all senders are gone, or until a close job; its sender is answered by the caller, once nothing of the
/// database is open any more.
pub(crate) async fn run<T: Tx>(mut tx: T, mut jobs: Jobs) -> Option<oneshot::Sender<()>> {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut usual = Usual::default();
    loop {
        let job = tokio::select! {
            // The heartbeat comes first, or a busy node would lose its lane.
            biased;
            _ = beat.tick() => {
                if let Err(why) = tx.heartbeat().await { tracing::warn!(%why, "the store could not be reached") }
                continue;
            }
            job = jobs.recv() => job,
        };
        let Some(job) = job else {
            tx.close().await;
            return None;
        };
        let group = collect_group(job, &mut jobs, &mut usual).await;
        write(&mut tx, group.steps).await;
        for (chore, reply) in group.chores {
            let _gone = reply.send(tx.maintain(chore).await);
        }
        if group.close.is_some() {
            tx.close().await;
            return group.close;
        }
    }
}

#[derive(Default)]
struct Group {
    steps: Vec<(Ready, oneshot::Sender<Outcome>)>,
    chores: Vec<(MaintenanceJob, oneshot::Sender<Result<u64, StoreError>>)>,
    close: Option<oneshot::Sender<()>>,
}

/// How many steps a group had of late. The queue's length at the moment says little: the writer is woken by the first step,
/// and on a busy machine that is long before the others of the same moment are there.
#[derive(Default)]
struct Usual(f32);

impl Usual {
    fn observe(&mut self, steps: usize) {
        self.0 += (steps as f32 - self.0) / 4.0;
    }
}

async fn collect_group(first: Job, jobs: &mut Jobs, usual: &mut Usual) -> Group {
    let mut group = Group::default();
    group.add(first);
    group.drain(jobs);
    let busy = usual.0.max(group.steps.len() as f32) >= MANY;
    if busy && group.steps.len() < GROUP && group.close.is_none() {
        tokio::time::sleep(WINDOW).await;
        group.drain(jobs);
    }
    usual.observe(group.steps.len());
    group
}

impl Group {
    fn add(&mut self, job: Job) {
        match job {
            Job::Step(step, reply) => self.steps.push((step, reply)),
            Job::Maintain(chore, reply) => self.chores.push((chore, reply)),
            Job::Close(reply) => self.close = Some(reply),
        }
    }

    fn drain(&mut self, jobs: &mut Jobs) {
        while self.steps.len() < GROUP && self.close.is_none() {
            let Ok(job) = jobs.try_recv() else { break };
            self.add(job);
        }
    }
}

async fn write<T: Tx>(tx: &mut T, group: Vec<(Ready, oneshot::Sender<Outcome>)>) {
    if group.is_empty() {
        return;
    }
    let steps: Vec<&Ready> = group.iter().map(|(step, _)| step).collect();
    let outcomes = settle(tx, &steps).await;
    for ((_, reply), outcome) in group.into_iter().zip(outcomes) {
        let _gone = reply.send(outcome);
    }
}

/// The outcome of each step. A group that the database refuses is tried step by step, so that one step that it cannot
/// take does not spoil the others.
async fn settle<T: Tx>(tx: &mut T, steps: &[&Ready]) -> Vec<Outcome> {
    match attempt(tx, steps).await {
        Ok(outcomes) => outcomes,
        Err(StoreFailure::Refused(_) | StoreFailure::Again(_)) if steps.len() > 1 => {
            let mut outcomes = Vec::with_capacity(steps.len());
            for step in steps {
                let alone = attempt(tx, std::slice::from_ref(step)).await;
                outcomes.extend(alone.unwrap_or_else(|why| vec![unavailable(&why)]));
            }
            outcomes
        }
        Err(why) => steps.iter().map(|_| unavailable(&why)).collect(),
    }
}

/// Runs a batch, and again if nothing of it can have happened. An unknown commit is never repeated.
async fn attempt<T: Tx>(tx: &mut T, steps: &[&Ready]) -> Result<Vec<Outcome>, StoreFailure> {
    let mut tried = 1;
    loop {
        tx.ready().await?;
        match batch::run(tx, steps).await {
            Err(StoreFailure::Again(_) | StoreFailure::Lost(_)) if tried < ATTEMPTS => tried += 1,
            settled => return settled,
        }
    }
}

fn unavailable(why: &StoreFailure) -> Outcome {
    tracing::warn!(%why, "a step could not be committed");
    Outcome::Unavailable(why.to_string())
}

#[cfg(test)]
mod tests;
