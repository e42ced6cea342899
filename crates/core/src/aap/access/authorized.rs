//! Authority for exactly one call, decided but not yet durable.

use super::{CallFacts, CountedLimits, WriteResult};
use crate::{
    env::Env,
    records::{CancelCall, Delegation, Record, ReversibleWrite, UnsettledWrite, WriteFingerprint},
    refusal::Refusal,
    step::{Effects, SpentProof},
};
use countersign_protocol::canonical::NotCanonical;

/// Created only by [`super::decide`] and by a claim. Never cloned: the engine turns it into one permit when its step is
/// durable.
#[derive(Debug)]
pub struct AuthorizedCall {
    /// On the heap, since the call is handed from future to future.
    facts: Box<CallFacts>,
    proof: Option<SpentProof>,
    /// Whether its intent is durable: the request is counted and the proof is used.
    begun: bool,
    /// The row of a write without approval, from its intent on.
    write: Option<Box<UnsettledWrite>>,
}

/// A call's intent: its step, the step's counters, and the row of a write without approval.
pub struct Intent {
    pub effects: Effects,
    pub counted: CountedLimits,
    pub write: Option<Box<UnsettledWrite>>,
    /// Names a write that its upstream can undo.
    pub reversible: Option<String>,
}

impl AuthorizedCall {
    pub(super) fn new(facts: CallFacts, proof: Option<SpentProof>) -> Self {
        Self { facts: Box::new(facts), proof, begun: false, write: None }
    }

    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    pub(super) fn into_parts(self) -> (CallFacts, Option<SpentProof>) {
        (*self.facts, self.proof)
    }

    /// The call after its intent is durable.
    #[must_use]
    pub fn started(self, write: Option<Box<UnsettledWrite>>) -> Self {
        Self { facts: Box::new(self.facts.begun()), begun: true, proof: None, write }
    }

    /// The row of a write without approval, as its intent left it.
    pub fn write(&self) -> Option<&UnsettledWrite> {
        self.write.as_deref()
    }

    pub fn is_started(&self) -> bool {
        self.begun
    }

    /// The proof to mark as used, until the intent is durable.
    pub fn proof(&self) -> Option<&SpentProof> {
        self.proof.as_ref()
    }

    /// The step to commit before a call is forwarded, unless it is speculative: records the call as let through while
    /// the guards hold. A write gets its row in the same step, so that the end of its session finds it: with a fingerprint
    /// the one that refuses repeats, else that of its cancel endpoint or one that only shows it as under way.
    ///
    /// `cancel`: how its upstream undoes it (AAP 17.7).
    pub fn intent(
        &self,
        fingerprint: Option<&WriteFingerprint>,
        cancel: Option<&CancelCall>,
        env: &Env,
    ) -> Result<Intent, NotCanonical> {
        let counted = self.facts.usage.reserve(self.facts.writes());
        let mut mint = env.mint();
        let needs_row = fingerprint.is_some() || (cancel.is_none() && self.facts.is_repeatable_write());
        let write = needs_row.then(|| self.facts.unsettled(fingerprint, env, &mut mint));
        let reversible = cancel.map(|cancel| {
            let call_id = write.as_ref().map_or_else(|| mint.id("call"), |write| write.call_id.clone());
            let (project, session) = (self.facts.project().key, self.facts.session());
            ReversibleWrite::new((project, session), (&call_id, self.facts.action()), cancel, env.now, &mut mint)
        });
        let reversible_id = reversible.as_ref().map(|write| write.call_id.clone());
        let call_id = write.as_ref().map(|write| write.call_id.as_str()).or(reversible_id.as_deref());
        let puts = write.iter().cloned().map(Record::UnsettledWrite);
        let effects = Effects {
            guards: self.facts.guards.clone(),
            counts: counted.to_vec(),
            proof: self.proof.clone(),
            puts: puts.chain(reversible.map(Record::ReversibleWrite)).chain(self.facts.begun_session()).collect(),
            evidence: vec![self.facts.started_entry(call_id, env)?],
            ..Effects::default()
        };
        Ok(Intent { effects, counted, write: write.map(Box::new), reversible: reversible_id })
    }

    /// Whether since its intent its delegation has ended by its usage budget alone. The call was counted within that budget,
    /// so a call beyond it takes no response away (AAP 8.3); all other guards still hold.
    pub fn outlasts_budget(&mut self, delegation: &Delegation) -> bool {
        self.begun && delegation.is_used_up() && self.facts.follow_delegation(delegation)
    }

    /// Checks that the guards still hold, without a record.
    pub fn recheck(&self) -> Effects {
        Effects { guards: self.facts.guards.clone(), ..Effects::default() }
    }

    /// The step to commit before the response of a read is released. The response is dropped if, meanwhile, access was
    /// revoked, the proof was used elsewhere or a limit was exhausted.
    pub fn record_read(
        &self,
        outcome: &str,
        bytes: i64,
        data_subjects: &[String],
        env: &Env,
    ) -> Result<(Effects, CountedLimits), NotCanonical> {
        let usage = &self.facts.usage;
        let request = if self.begun { CountedLimits::default() } else { usage.reserve(false) };
        let counted = request.with(usage.egress(bytes, false));
        let effects = Effects {
            guards: self.facts.guards.clone(),
            counts: counted.to_vec(),
            proof: self.proof.clone(),
            puts: self.facts.begun_session().into_iter().collect(),
            evidence: vec![self.facts.outcome(outcome, None, data_subjects, env)?],
            ..Effects::default()
        };
        Ok((effects, counted))
    }

    /// The outcome of a write. A reservation returns only on the upstream's own response that nothing was done.
    /// `reversible` names a write that its upstream can undo.
    pub fn record_write(
        &self,
        (outcome, result): (&str, WriteResult),
        no_effect: bool,
        reversible: Option<&str>,
        bytes: i64,
        data_subjects: &[String],
        env: &Env,
    ) -> Result<Effects, NotCanonical> {
        let usage = &self.facts.usage;
        let back = if no_effect { usage.release() } else { CountedLimits::default() };
        let counts = back.with(usage.egress(bytes, true)).to_vec();
        let call_id = self.write().map(|write| write.call_id.as_str()).or(reversible);
        let evidence = vec![self.facts.write_outcome((outcome, result), call_id, data_subjects, env)?];
        Ok(Effects { counts, evidence, ..Effects::default() })
    }

    /// The audit entry of a call refused before anything was sent. It uses the call's proof.
    pub fn record_refusal(&self, refusal: &Refusal, env: &Env) -> Result<Effects, NotCanonical> {
        self.facts.refusal_entry(refusal, self.proof.clone(), env)
    }

    /// The audit entry of a call abandoned by its caller before anything was sent.
    pub fn record_abandonment(&self, why: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let evidence = vec![self.facts.outcome(why, None, &[], env)?];
        Ok(Effects { evidence, proof: self.proof.clone(), ..Effects::default() })
    }
}
