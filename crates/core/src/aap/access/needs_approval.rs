//! A call that passed every check except human approval. Only a claim authorizes it.

use super::{AuthorizedCall, CallFacts, Confirmation, CountedLimits};
use crate::{
    decision::{
        claim::{Claim, ClaimView},
        queue::Queue,
    },
    env::Env,
    records::{Execution, QueuedCall},
    refusal::Refusal,
    step::{Effects, Operation as _, SpentProof, Step},
};
use countersign_protocol::canonical::NotCanonical;

/// It permits nothing.
#[derive(Debug)]
pub struct NeedsApproval {
    facts: Box<CallFacts>,
    proof: Option<SpentProof>,
    /// The proof is used and the request is counted already, since the call became pending.
    counted: bool,
}

impl NeedsApproval {
    pub(super) fn new(facts: CallFacts, proof: Option<SpentProof>) -> Self {
        Self { facts: Box::new(facts), proof, counted: false }
    }

    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    /// Checks the limits: no person is asked about a call that they would refuse. What the call was counted in
    /// already, it does not count against.
    pub fn limit_checks(&self) -> CountedLimits {
        if self.counted { self.facts.limit_checks_after_waiting() } else { self.facts.limit_checks() }
    }

    /// Records the call and its `refusal`: audit entry, used proof, counted request.
    pub fn record_refusal(&self, refusal: &Refusal, env: &Env) -> Result<(Effects, CountedLimits), NotCanonical> {
        let counted = self.request();
        let refused = self.facts.refusal_entry(refusal, self.proof(), env)?;
        Ok((Effects { counts: counted.to_vec(), ..refused }, counted))
    }

    /// The audit entry of a call abandoned by its caller before anything was sent.
    pub fn record_abandonment(&self, why: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let evidence = vec![self.facts.outcome(why, None, &[], env)?];
        Ok(Effects { counts: self.request().to_vec(), proof: self.proof(), evidence, ..Effects::default() })
    }

    /// The step that makes a call pending. The proof must be used before anyone relies on it, and not a second time
    /// after the approval.
    pub fn pending_effects(&self) -> (Effects, CountedLimits) {
        let counted = self.request();
        let puts = self.facts.begun_session().into_iter().collect();
        (Effects { counts: counted.to_vec(), proof: self.proof(), puts, ..Effects::default() }, counted)
    }

    pub fn into_pending(self) -> Self {
        Self { counted: true, ..self }
    }

    /// The same call, decided again after its approval: it is not counted twice.
    pub fn continuing(self, earlier: &Self) -> Self {
        Self { counted: earlier.counted, ..self }
    }

    /// Whether its proof is used.
    pub fn is_pending(&self) -> bool {
        self.counted
    }

    fn request(&self) -> CountedLimits {
        if self.counted { CountedLimits::default() } else { self.facts.usage.request() }
    }

    fn proof(&self) -> Option<SpentProof> {
        self.proof.clone().filter(|_| !self.counted)
    }

    /// Holds the call for its undo window: everything that a claim needs holds now, and is decided again when the window
    /// has closed.
    pub fn queue(
        &self,
        claim: Claim,
        queue: Queue,
        view: &ClaimView,
        env: &Env,
    ) -> Result<(Step<QueuedCall>, CountedLimits), Refusal> {
        let confirmation = Confirmation::Decided { decision_id: view.decision.id.clone(), digest: claim.digest };
        self.facts.check_asked_in_session(view)?;
        claim.decide(view, env)?;
        let facts = CallFacts::clone(&self.facts).with_confirmation(confirmation);
        let counted = self.request();
        let call = Effects {
            guards: facts.guards.clone(),
            counts: counted.to_vec(),
            proof: self.proof(),
            puts: facts.begun_session().into_iter().collect(),
            evidence: vec![facts.outcome("202 Accepted", None, &[], env)?],
            ..Effects::default()
        };
        Ok((queue.decide(view, env)?.and(call), counted))
    }

    /// Claims an approval for this call: claim, intent, limits and proof in one step.
    pub fn claim(
        &self,
        mut claim: Claim,
        view: &ClaimView,
        env: &Env,
    ) -> Result<(Step<(AuthorizedCall, Execution)>, CountedLimits), Refusal> {
        let confirmation = Confirmation::Decided { decision_id: view.decision.id.clone(), digest: claim.digest };
        self.facts.check_asked_in_session(view)?;
        let facts = CallFacts::clone(&self.facts).with_confirmation(confirmation);
        if let Some(probe) = &mut claim.probe {
            let reserved = facts.usage.release().to_vec();
            probe.gives_back = reserved.into_iter().map(|count| (count.key, count.until)).collect();
        }
        let step = claim.decide(view, env)?;
        let counted = match self.counted {
            true => facts.usage.reserve_after_waiting(facts.writes()),
            false => facts.usage.reserve(facts.writes()),
        };
        let call = Effects {
            guards: facts.guards.clone(),
            counts: counted.to_vec(),
            proof: self.proof(),
            puts: facts.begun_session().into_iter().collect(),
            evidence: vec![facts.started_entry(None, env)?],
            ..Effects::default()
        };
        let authorized = AuthorizedCall::new(facts, None).started(None);
        Ok((step.and(call).map(|execution| (authorized, execution)), counted))
    }
}
