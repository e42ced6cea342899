//! A step: everything an operation wants to become true, all of it or nothing.

use crate::{
    env::Env,
    news::News,
    records::{Record, Table},
};
use countersign_protocol::{evidence::Leaf, hash::Digest, ids::RowKey, time::UnixMillis};

/// One decision. The view is exactly what it needs to know, loaded beforehand.
pub trait Operation {
    type View;
    type Answer;
    type Refusal;
    fn decide(self, view: &Self::View, env: &Env) -> Result<Step<Self::Answer>, Self::Refusal>;
}

/// What the caller is told once `effects` are durable.
#[derive(Debug)]
pub struct Step<A> {
    pub answer: A,
    pub effects: Effects,
}

/// What a step does to the world. Applied in one transaction, whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Rows that must still have the version they were read at, although the step does not change them.
    pub guards: Vec<Guard>,
    /// Counters to raise, each refused beyond its limit.
    pub counts: Vec<Count>,
    /// Keys that may be spent only once.
    pub once: Vec<Once>,
    /// The proof of possession that this step spends.
    pub proof: Option<SpentProof>,
    /// Rows to write. A row of version 1 must not exist yet; one of version n + 1 must be at n.
    pub puts: Vec<Record>,
    /// Rows to remove. It is no error if one is gone already.
    pub removes: Vec<(Table, RowKey)>,
    pub evidence: Vec<Draft>,
    /// The step counts only if the store's clock stands before this when it is written.
    pub before: Option<UnixMillis>,
    /// And only from this moment on.
    pub not_before: Option<UnixMillis>,
    /// What those who listen are told once the step is durable.
    pub news: Vec<News>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard {
    pub table: Table,
    pub key: RowKey,
    pub version: i64,
}

/// Adds `by` to the counter named `key`, unless that would exceed `limit`; adding nothing only looks whether the
/// limit is exceeded, and taking away is never refused. Never version-checked, so that
/// concurrent callers do not make each other fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Begins with the project, or with `node:` for what belongs to none.
    pub key: String,
    pub by: i64,
    pub limit: i64,
    /// When the counter may be forgotten.
    pub until: UnixMillis,
}

/// A key that is spent by being written (a code, a proof). Forgotten after `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    pub key: String,
    pub until: UnixMillis,
}

/// A proof of possession, which counts once for all nodes. It is kept apart from the once-keys, by the time at
/// which it was made, so that a day's worth of them costs no more than ten minutes' worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentProof {
    pub project: RowKey,
    /// Thumbprint of the key that made it.
    pub jkt: Digest,
    pub jti: String,
    /// Its own `iat`: within 300 s of the clock, or it would not have been accepted.
    pub issued_at: UnixMillis,
}

/// An entry for the evidence log. Lane and sequence are given by the writer.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub project: RowKey,
    pub at: UnixMillis,
    /// What happened, as audit queries filter by it: `call`, `session_started`, `delegation_revoked`, …
    pub event_type: &'static str,
    pub delegation: Option<RowKey>,
    pub session: Option<RowKey>,
    pub leaf: Leaf,
}

impl Draft {
    pub fn hash(&self) -> Digest {
        self.leaf.hash
    }
}

impl<A> Step<A> {
    /// A step that only answers.
    pub fn answer(answer: A) -> Self {
        Self { answer, effects: Effects::default() }
    }
}

impl Effects {
    pub fn is_empty(&self) -> bool {
        self.guards.is_empty()
            && self.counts.is_empty()
            && self.once.is_empty()
            && self.proof.is_none()
            && self.puts.is_empty()
            && self.removes.is_empty()
            && self.evidence.is_empty()
            && self.before.is_none()
            && self.not_before.is_none()
            && self.news.is_empty()
    }
}
