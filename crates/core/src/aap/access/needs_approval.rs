//! A call that passed every check except human approval. Only a claim authorizes it.

use super::{AuthorizedCall, CallFacts, Confirmation, Counted};
use crate::{
    decision::{
        claim::{Claim, ClaimView},
        terms,
    },
    env::Env,
    held::HttpRequest,
    records::Execution,
    refusal::Refusal,
    step::{Effects, Operation as _, SpentProof, Step},
};
use countersign_protocol::{
    action::{Action, HttpAction},
    canonical::NotCanonical,
    hash::Digest,
};

/// It permits nothing.
#[derive(Debug)]
pub struct NeedsApproval {
    facts: CallFacts,
    proof: Option<SpentProof>,
    /// The proof and the place among the hour's requests were taken already, when the call began to wait.
    counted: bool,
}

impl NeedsApproval {
    pub(super) fn new(facts: CallFacts, proof: Option<SpentProof>) -> Self {
        Self { facts, proof, counted: false }
    }

    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    /// The delegation that asks; a call without one has nobody to ask.
    pub fn principal(&self) -> Result<&str, Refusal> {
        self.facts.delegation_id().ok_or(Refusal::TierNotMet { needed: 2, has: 1 })
    }

    /// The digest of exactly what would run.
    pub fn digest(&self, request: &HttpRequest) -> Result<Digest, Refusal> {
        let action: HttpAction = request.action(&self.facts.project.id, self.principal()?, self.facts.route());
        Ok(Action::Http(action).digest()?)
    }

    /// The rules for it, as they are now.
    pub fn rules(&self) -> Digest {
        let route = self.facts.route();
        terms::rules(&self.facts.project.document, &route.action, Some(&route.id))
    }

    /// Whether the limits have room: nobody is asked about a call that they would refuse.
    pub fn room(&self) -> Counted {
        self.facts.room()
    }

    /// That the call was made and answered with `refusal`: its entry, its proof, its place among the hour's requests.
    pub fn refused(&self, refusal: &Refusal, env: &Env) -> Result<(Effects, Counted), NotCanonical> {
        let counted = self.request();
        let refused = self.facts.refused(refusal, self.proof(), env)?;
        Ok((Effects { counts: counted.counts(), ..refused }, counted))
    }

    /// The entry of a call that nobody waits for any more, and of which nothing was sent.
    pub fn abandoned(&self, why: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let evidence = vec![self.facts.outcome(why, None, env)?];
        Ok(Effects { counts: self.request().counts(), proof: self.proof(), evidence, ..Effects::default() })
    }

    /// What is taken when a call begins to wait: a proof must be spent before anybody relies on it, and not again
    /// when the wait is over.
    pub fn waits(&self) -> (Effects, Counted) {
        let counted = self.request();
        (Effects { counts: counted.counts(), proof: self.proof(), ..Effects::default() }, counted)
    }

    pub fn waiting(self) -> Self {
        Self { counted: true, ..self }
    }

    /// The same call decided again goes on where the first one was.
    pub fn continues(self, earlier: &Self) -> Self {
        Self { counted: earlier.counted, ..self }
    }

    /// Whether its proof is spent.
    pub fn is_waiting(&self) -> bool {
        self.counted
    }

    fn request(&self) -> Counted {
        if self.counted { Counted::default() } else { self.facts.usage.request() }
    }

    fn proof(&self) -> Option<SpentProof> {
        self.proof.clone().filter(|_| !self.counted)
    }

    /// Claims an approval for this call: the claim, the call's intent, its limits and its proof in one step.
    pub fn claim(
        &self,
        mut claim: Claim,
        view: &ClaimView,
        env: &Env,
    ) -> Result<(Step<(AuthorizedCall, Execution)>, Counted), Refusal> {
        let confirmation = Confirmation::Decided { decision_id: view.decision.id.clone(), digest: claim.digest };
        // An approval is for the session that asked, not for another of the same delegation (AAP 14.1).
        if view.decision.raised_by.session != Some(self.facts.session()) {
            return Err(Refusal::ConfirmationInvalid("it was given to another session".into()));
        }
        let facts = self.facts.clone().confirmed(confirmation);
        if let Some(probe) = &mut claim.probe {
            let reserved = facts.usage.give_back().counts();
            probe.gives_back = reserved.into_iter().map(|count| (count.key, count.until)).collect();
        }
        let step = claim.decide(view, env)?;
        let counted = match self.counted {
            true => facts.usage.reserve_after_waiting(facts.writes()),
            false => facts.usage.reserve(facts.writes()),
        };
        let mut effects = step.effects;
        effects.guards.extend(facts.guards.iter().copied());
        effects.counts.extend(counted.counts());
        effects.proof = self.proof();
        effects.evidence.push(facts.started(None, env)?);
        let authorized = AuthorizedCall::new(facts, None).begun(None);
        Ok((Step { answer: (authorized, step.answer), effects }, counted))
    }
}
