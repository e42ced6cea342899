//! Authority for exactly one call, decided and not durable yet.

use super::{CallFacts, Counted};
use crate::{
    env::Env,
    records::{Record, UnsettledWrite, WriteFingerprint},
    refusal::Refusal,
    step::{Effects, SpentProof},
};
use countersign_protocol::canonical::NotCanonical;

/// Made by [`super::decide`] and by a claim, by nothing else. Never cloned: the engine turns it into one permit when its
/// step is durable.
#[derive(Debug)]
pub struct AuthorizedCall {
    facts: CallFacts,
    proof: Option<SpentProof>,
    /// Whether its intent is durable: the request is counted and the proof spent.
    begun: bool,
    /// The row by which its repeats are recognised; a write without approval has one from its intent on.
    write: Option<Box<UnsettledWrite>>,
}

/// A call's intent: its step, the counters in it, and the row of a write whose repeats are to be recognised.
pub struct Intent {
    pub effects: Effects,
    pub counted: Counted,
    pub write: Option<Box<UnsettledWrite>>,
}

impl AuthorizedCall {
    pub(super) fn new(facts: CallFacts, proof: Option<SpentProof>) -> Self {
        Self { facts, proof, begun: false, write: None }
    }

    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    pub(super) fn into_parts(self) -> (CallFacts, Option<SpentProof>) {
        (self.facts, self.proof)
    }

    /// The same once its intent is durable.
    #[must_use]
    pub fn begun(self, write: Option<Box<UnsettledWrite>>) -> Self {
        Self { begun: true, proof: None, write, ..self }
    }

    /// The row of a write that needed no approval, as its intent left it.
    pub fn write(&self) -> Option<&UnsettledWrite> {
        self.write.as_deref()
    }

    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The proof that it spends, until its intent is durable.
    pub fn proof(&self) -> Option<&SpentProof> {
        self.proof.as_ref()
    }

    /// What must be durable before a call is forwarded that is not speculative: that it was let through, while nothing
    /// had changed. A write with a fingerprint gets its row in the same step.
    pub fn intent(&self, fingerprint: Option<&WriteFingerprint>, env: &Env) -> Result<Intent, NotCanonical> {
        let counted = self.facts.usage.reserve(self.facts.writes());
        let write = fingerprint.map(|fingerprint| self.facts.unsettled(fingerprint, env, &mut env.mint()));
        let effects = Effects {
            guards: self.facts.guards.clone(),
            counts: counted.counts(),
            proof: self.proof.clone(),
            puts: write.iter().cloned().map(Record::UnsettledWrite).collect(),
            evidence: vec![self.facts.started(write.as_ref().map(|write| write.call_id.as_str()), env)?],
            ..Effects::default()
        };
        Ok(Intent { effects, counted, write: write.map(Box::new) })
    }

    /// That nothing has changed since this was decided, without any record of it.
    pub fn recheck(&self) -> Effects {
        Effects { guards: self.facts.guards.clone(), ..Effects::default() }
    }

    /// What must be durable before the answer of a read leaves. It is judged here once more: if it was cut off while
    /// the upstream worked, or its proof or the last of a limit was spent elsewhere, the answer is dropped.
    pub fn read(&self, outcome: &str, bytes: i64, env: &Env) -> Result<(Effects, Counted), NotCanonical> {
        let usage = &self.facts.usage;
        let request = if self.begun { Counted::default() } else { usage.reserve(false) };
        let counted = request.with(usage.egress(bytes, false));
        let effects = Effects {
            guards: self.facts.guards.clone(),
            counts: counted.counts(),
            proof: self.proof.clone(),
            evidence: vec![self.facts.outcome(outcome, None, env)?],
            ..Effects::default()
        };
        Ok((effects, counted))
    }

    /// The outcome of a write. A reservation returns only on the upstream's own answer that it did nothing.
    pub fn written(&self, outcome: &str, no_effect: bool, bytes: i64, env: &Env) -> Result<Effects, NotCanonical> {
        let usage = &self.facts.usage;
        let back = if no_effect { usage.give_back() } else { Counted::default() };
        let counts = back.with(usage.egress(bytes, true)).counts();
        let call_id = self.write().map(|write| write.call_id.as_str());
        Ok(Effects { counts, evidence: vec![self.facts.outcome(outcome, call_id, env)?], ..Effects::default() })
    }

    /// The entry of a call that is refused before anything was sent. Its proof is spent with it.
    pub fn refused(&self, refusal: &Refusal, env: &Env) -> Result<Effects, NotCanonical> {
        self.facts.refused(refusal, self.proof.clone(), env)
    }

    /// The entry of a call that nobody waits for any more, and of which nothing was sent.
    pub fn abandoned(&self, why: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let evidence = vec![self.facts.outcome(why, None, env)?];
        Ok(Effects { evidence, proof: self.proof.clone(), ..Effects::default() })
    }
}
