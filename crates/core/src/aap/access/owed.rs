//! A call that is in order but for a person's yes to exactly it. Only a claim makes it a grant.

use super::{Confirmation, Counted, Grant};
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

#[derive(Clone, Debug)]
pub struct Owed {
    grant: Grant,
    /// The proof and the place among the hour's requests were taken already, when the call began to wait.
    counted: bool,
}

impl Owed {
    pub(super) fn new(grant: Grant) -> Self {
        Self { grant, counted: false }
    }

    /// What is known about the call. It permits nothing.
    pub fn call(&self) -> &Grant {
        &self.grant
    }

    /// The delegation that asks; a call without one has nobody to ask.
    pub fn principal(&self) -> Result<&str, Refusal> {
        self.grant.delegation_id().ok_or(Refusal::TierNotMet { needed: 2, has: 1 })
    }

    /// The digest of exactly what would run.
    pub fn digest(&self, request: &HttpRequest) -> Result<Digest, Refusal> {
        let action: HttpAction = request.action(&self.grant.project.id, self.principal()?, self.grant.route());
        Ok(Action::Http(action).digest()?)
    }

    /// The rules for it, as they are now.
    pub fn rules(&self) -> Digest {
        let route = self.grant.route();
        terms::rules(&self.grant.project.document, &route.action, Some(&route.id))
    }

    /// Whether the limits have room: nobody is asked about a call that they would refuse.
    pub fn room(&self) -> Counted {
        self.grant.room()
    }

    /// That the call was made and answered with `refusal`: its entry, its proof, its place among the hour's requests.
    pub fn answered(&self, refusal: &Refusal, env: &Env) -> Result<(Effects, Counted), NotCanonical> {
        let outcome = format!("{} {}", refusal.code().status(), refusal.code());
        let entry = self.grant.entry("call", env.now).open("outcome", outcome).seal(&mut env.mint())?;
        let counted = self.request();
        let effects = Effects {
            counts: counted.counts(),
            proof: self.proof(),
            evidence: vec![entry],
            guards: Vec::new(),
            ..Effects::default()
        };
        Ok((effects, counted))
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
        if self.counted { Counted::default() } else { self.grant.usage.request() }
    }

    fn proof(&self) -> Option<SpentProof> {
        self.grant.proof.clone().filter(|_| !self.counted)
    }

    /// Spends a yes on this call: the claim, the call's intent, its limits and its proof in one step.
    pub fn claim(
        &self,
        claim: Claim,
        view: &ClaimView,
        env: &Env,
    ) -> Result<(Step<(Grant, Execution)>, Counted), Refusal> {
        let confirmation = Confirmation::Decided { decision_id: view.decision.id.clone(), digest: claim.digest };
        // A yes is for the session that asked, not for another of the same delegation (AAP 14.1).
        if view.decision.raised_by.session != Some(self.grant.session()) {
            return Err(Refusal::ConfirmationInvalid("it was given to another session".into()));
        }
        let step = claim.decide(view, env)?;
        let grant = self.grant.clone().confirmed(confirmation);
        let counted = match self.counted {
            true => self.grant.usage.reserve_after_waiting(grant.writes()),
            false => self.grant.usage.reserve(grant.writes()),
        };
        let mut effects = step.effects;
        effects.guards.extend(grant.guards.iter().copied());
        effects.counts.extend(counted.counts());
        effects.proof = self.proof();
        effects.evidence.push(grant.started(env)?);
        Ok((Step { answer: (grant, step.answer), effects }, counted))
    }
}
