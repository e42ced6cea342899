//! Confirms a plan without open gaps. The attestation names the chain it rests on (W-16, W-27).

use super::{
    ClarificationView,
    transition::{SessionTransition, number, session_entry},
};
use crate::{
    env::Env,
    records::{ClarificationSession, ClarificationState, Raiser},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    clarification::{
        Attestation, ChainReference, DigestText, Inputs, Signature, Stamp, attestation::ATTESTATION_VERSION, signed,
    },
    hash::Digest,
};
use serde_json::Value;

pub struct ConfirmPlan {
    pub by: Raiser,
    /// Maps the digest of the accepted plan to the key under which the session is found.
    pub same: Box<dyn Fn(&Digest) -> Digest + Send + Sync>,
}

impl Operation for ConfirmPlan {
    type View = ClarificationView;
    /// The confirmed session. If a gap is still open: the unchanged session, or one with new questions.
    type Answer = ClarificationSession;
    type Refusal = Refusal;

    fn decide(self, view: &ClarificationView, env: &Env) -> Result<Step<ClarificationSession>, Refusal> {
        super::is_own(&view.session, &self.by)?;
        if view.session.is_confirmed() {
            return Ok(Step::answer(view.session.clone()));
        }
        super::is_live(&view.session, env.now)?;
        let place = (view.project.key, view.project.id.clone());
        let mut moving = SessionTransition::of(view.context(&place), &view.session, env.now)?;
        let mut mint = env.mint();
        // The rules may have changed since the last evaluation and may find new gaps.
        moving.evaluate()?;
        if moving.session().gaps.len() == view.session.gaps.len() && moving.session().open_gaps().next().is_some() {
            return Ok(Step::answer(view.session.clone()));
        }
        if moving.session().open_gaps().next().is_none() {
            let accepted = moving.plan_with_answers()?;
            let digest = signed::plan_digest(&accepted)?;
            let attestation = attest(&moving, DigestText(digest))?;
            let attestation = serde_json::to_value(attestation).map_err(|_| Refusal::Internal)?;
            let event = session_entry(moving.place(), moving.session(), "clarification_confirmed")
                .hidden("plan_sha256", digest.hex());
            let at = moving.session().last_at;
            let state = ClarificationState::Confirmed { at, accepted, attestation };
            moving.close(state, (self.same)(&digest), event);
        } else {
            moving.record_check();
        }
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        let answer = moving.finish(&mut effects, &mut mint)?;
        Ok(Step { answer, effects })
    }
}

fn attest(moving: &SessionTransition<'_>, plan_digest: DigestText) -> Result<Attestation, Refusal> {
    let (session, key) = (moving.session(), moving.key());
    let (rounds, head) = (number(session.rounds), DigestText(session.head));
    let mut attestation = Attestation {
        attestation_version: ATTESTATION_VERSION.into(),
        session_id: session.id.clone(),
        agent_id: session.agent_id.clone(),
        agent_public_key: key.public_key.clone(),
        issued_at: Stamp::of(session.last_at),
        plan_digest,
        inputs: Inputs { clarification_rounds: rounds, clarification_chain_ref: head },
        clarification: ChainReference { rounds, head, chain_signature: moving.sign_chain()? },
        signature: Signature::from_bytes([0; 64]),
    };
    attestation.signature = key.sign(&attestation)?;
    Ok(attestation)
}

/// The accepted plan and its attestation, if the session is confirmed.
pub fn accepted(session: &ClarificationSession) -> Option<(&Value, &Value)> {
    match &session.state {
        ClarificationState::Confirmed { accepted, attestation, .. } => Some((accepted, attestation)),
        ClarificationState::Open | ClarificationState::Expired | ClarificationState::Abandoned { .. } => None,
    }
}
