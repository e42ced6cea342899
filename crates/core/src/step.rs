//! A step: all effects of an operation, committed together or not at all.

use crate::{
    env::Env,
    records::{Record, Table},
    signals::Signal,
};
use countersign_protocol::{evidence::Leaf, hash::Digest, ids::RowKey, time::UnixMillis};

/// A decision. Its view is loaded beforehand and contains exactly the records it needs.
pub trait Operation {
    type View;
    type Answer;
    type Refusal;
    fn decide(self, view: &Self::View, env: &Env) -> Result<Step<Self::Answer>, Self::Refusal>;
}

/// The answer for the caller, valid once `effects` are durable.
#[derive(Debug)]
pub struct Step<A> {
    pub answer: A,
    pub effects: Effects,
}

/// The effects of a step. Applied in one transaction, all or nothing.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Unchanged rows that must still have the version read.
    pub guards: Vec<Guard>,
    /// Counters to raise, each up to its limit.
    pub counts: Vec<Count>,
    /// Keys that may be used only once.
    pub once: Vec<Once>,
    /// The proof of possession used by this step.
    pub proof: Option<SpentProof>,
    /// Rows to write. A row of version 1 must not exist yet; one of version n + 1 must be at n.
    pub puts: Vec<Record>,
    /// Rows to remove. A missing row is not an error.
    pub removes: Vec<(Table, RowKey)>,
    pub evidence: Vec<EvidenceDraft>,
    /// The step is valid only if the store's clock at commit is before this time.
    pub before: Option<UnixMillis>,
    /// The step is valid only from this time on.
    pub not_before: Option<UnixMillis>,
    /// Signals to send once the step is durable.
    pub news: Vec<Signal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard {
    pub table: Table,
    pub key: RowKey,
    pub version: i64,
}

/// Adds `by` to the counter at `key`, unless that would exceed `limit`; adding nothing only looks whether the
/// limit is exceeded, and taking away is never refused. Never version-checked, so that
/// concurrent callers do not make each other fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The counter's name, for the refusal beyond its limit. It is not stored.
    pub name: &'static str,
    /// Begins with the project, or with `node:` for what belongs to none.
    pub key: String,
    pub by: i64,
    pub limit: i64,
    /// Expiry of the counter.
    pub until: UnixMillis,
}

/// A key used up by writing it (a code, a proof). Removed after `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    pub key: String,
    pub until: UnixMillis,
}

/// A proof of possession, valid once across all nodes. Stored apart from the once-keys, ordered by its time of
/// issue, so that a day's worth of proofs costs no more than ten minutes' worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentProof {
    pub project: RowKey,
    /// Thumbprint of its key.
    pub jkt: Digest,
    pub jti: String,
    /// Its own `iat`, within 300 s of the clock: other proofs are refused.
    pub issued_at: UnixMillis,
    id: ProofId,
}

/// The identity of a proof: of a digest of its project, key and `jti`.
pub type ProofId = [u8; 16];

impl SpentProof {
    pub fn new(project: RowKey, jkt: Digest, jti: String, issued_at: UnixMillis) -> Self {
        let Digest(whole) = Digest::of_parts(&[&project.to_be_bytes(), &jkt.0, jti.as_bytes()]);
        let mut id = ProofId::default();
        id.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        Self { project, jkt, jti, issued_at, id }
    }

    pub const fn id(&self) -> ProofId {
        self.id
    }
}

/// An entry for the evidence log. The writer assigns lane and sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceDraft {
    pub project: RowKey,
    pub at: UnixMillis,
    /// The event type for audit queries: `call`, `session_started`, `delegation_revoked`, …
    pub event_type: &'static str,
    pub delegation: Option<RowKey>,
    pub session: Option<RowKey>,
    pub leaf: Leaf,
}

impl EvidenceDraft {
    pub fn hash(&self) -> Digest {
        self.leaf.hash
    }
}

impl<A> Step<A> {
    /// A step without effects.
    pub fn answer(answer: A) -> Self {
        Self { answer, effects: Effects::default() }
    }

    /// The same step with more effects after its own.
    #[must_use]
    pub fn and(self, more: Effects) -> Self {
        Self { answer: self.answer, effects: self.effects.and(more) }
    }

    /// The same step with another answer.
    pub fn map<B>(self, with: impl FnOnce(A) -> B) -> Step<B> {
        Step { answer: with(self.answer), effects: self.effects }
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

    /// Both in one step, `more` after these. A step spends one proof at most: the first one counts.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        let Self { guards, counts, once, proof, puts, removes, evidence, before, not_before, news } = more;
        self.guards.extend(guards);
        self.counts.extend(counts);
        self.once.extend(once);
        self.proof = self.proof.or(proof);
        self.puts.extend(puts);
        self.removes.extend(removes);
        self.evidence.extend(evidence);
        self.before = self.before.into_iter().chain(before).min();
        self.not_before = self.not_before.max(not_before);
        self.news.extend(news);
        self
    }
}

#[cfg(test)]
mod tests;
