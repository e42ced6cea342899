//! Clarifications: refuse, ask, and prove it (Agent Clarification Protocol).
//!
//! ```text
//! session   open ─ every gap answered, confirmed by its agent ─► confirmed        open ─► expired, abandoned
//! gap       open ─ usable answer ─► resolved      open ─ another plan ─► superseded
//!             └─ unusable, or owed by a person ─► a decision like any other, whose answer resolves it
//! ```
//!
//! What a person decides is decided by [`crate::decision`] alone; here is what an agent may answer itself, and the
//! chain that has all of it.

pub mod abandon;
pub mod confirm;
pub mod expire;
pub mod key;
pub mod moving;
pub mod owes;
pub mod person;
pub mod question;
pub mod resolve;
pub mod rules;
pub mod stops;
pub mod submit;
pub mod view;
pub mod words;

use crate::{
    records::{ClarificationSession, ClarificationState, Raiser},
    refusal::Refusal,
};
use countersign_protocol::time::UnixMillis;

/// What another principal submitted does not exist for this one (R-10).
fn is_own(session: &ClarificationSession, by: &Raiser) -> Result<(), Refusal> {
    match session.by.principal == by.principal {
        true => Ok(()),
        false => Err(no_session()),
    }
}

fn is_live(session: &ClarificationSession, now: UnixMillis) -> Result<(), Refusal> {
    match session.state {
        ClarificationState::Confirmed { .. } => {
            Err(Refusal::Conflict("the session is closed: its plan was confirmed. Begin another one".into()))
        }
        ClarificationState::Abandoned { .. } => {
            Err(Refusal::Conflict("the session was abandoned: submit the plan in another one".into()))
        }
        _ if !session.is_live(now) => {
            Err(Refusal::Conflict("the session's time is over: submit the plan in another one".into()))
        }
        _ => Ok(()),
    }
}

pub fn no_session() -> Refusal {
    Refusal::NotFound("there is no such clarification session".into())
}
