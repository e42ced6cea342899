//! An expired session blocks nothing any more.

use super::transition::session_entry;
use crate::{
    decision::ProjectRef,
    env::Env,
    records::{ClarificationSession, ClarificationState, Record},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};

/// Marks a session as expired, so that it is not loaded again. Questions and answers stay as they are.
pub struct Expire;

impl Operation for Expire {
    type View = (ProjectRef, ClarificationSession);
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, (place, session): &Self::View, env: &Env) -> Result<Step<()>, Refusal> {
        let state = match session.state {
            _ if env.now < session.expires_at => return Ok(Step::answer(())),
            ClarificationState::Open => ClarificationState::Expired,
            ClarificationState::Abandoned { at, by, holds: true } => {
                ClarificationState::Abandoned { at, by, holds: false }
            }
            _ => return Ok(Step::answer(())),
        };
        let mut mint = env.mint();
        let over = ClarificationSession { version: session.version + 1, state, ..session.clone() };
        let event = session_entry(place, &over, "clarification_expired")
            .open("open_gaps", over.unanswered().count() as u64)
            .open("chain_head", over.head.hex());
        let mut effects = Effects { not_before: Some(session.expires_at), ..Effects::default() };
        effects.evidence.push(event.seal(&mut mint)?);
        effects.puts.push(Record::ClarificationSession(over));
        Ok(Step { answer: (), effects })
    }
}
