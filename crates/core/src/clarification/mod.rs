//! Clarifications: block, ask, and prove it (Agent Clarification Protocol).
//!
//! ```text
//! session   open ─ every gap answered, confirmed by its agent ─► confirmed        open ─► expired, abandoned
//! gap       open ─ usable answer ─► resolved      open ─ another plan ─► superseded
//!             └─ unusable, or a person must answer ─► an ordinary decision, whose answer resolves the gap
//! ```
//!
//! Only [`crate::decision`] handles decisions by people. This module handles answers by the agent itself, and the chain
//! that records all answers.

pub mod abandon;
pub mod confirm;
pub mod expire;
pub mod key;
pub mod person;
pub mod question;
pub mod required_answerer;
pub mod resolve;
pub mod rules;
pub mod stops;
pub mod submit;
pub mod texts;
pub mod transition;
pub mod view;

use crate::{
    decision::ProjectRef,
    records::{ClarificationSession, ClarificationState, Project, Raiser},
    refusal::Refusal,
    step::Guard,
};
use countersign_protocol::time::UnixMillis;
use key::AskingKey;
use rules::Rules;
use std::sync::Arc;
use transition::TransitionContext;

/// The view of every operation on a known session.
pub struct ClarificationView {
    pub project: Arc<Project>,
    pub session: ClarificationSession,
    pub rules: Arc<Rules>,
    pub key: AskingKey,
    pub guards: Vec<Guard>,
}

impl ClarificationView {
    fn context<'a>(&'a self, place: &'a ProjectRef) -> TransitionContext<'a> {
        TransitionContext { place, document: &self.project.document, rules: &self.rules, key: &self.key }
    }
}

/// A session of another principal is reported as not found (R-10).
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
