//! What an open gap keeps from running: mechanically, wherever the call comes by (W-26).

use crate::{
    records::{AskedGap, ClarificationSession, ClarificationState},
    refusal::{Refusal, Unclear},
};
use countersign_protocol::{
    clarification::{ClarificationPolicy, Operation, Severity},
    time::UnixMillis,
};

/// The operations that an action belongs to: those that list it; else `build`, if it waits for a yes.
pub fn operations_of(policy: &ClarificationPolicy, action: &str, held: bool) -> Vec<Operation> {
    let lists = |(_, actions): &(&Operation, &Vec<String>)| actions.iter().any(|listed| listed == action);
    let listed: Vec<Operation> = policy.operations.iter().filter(lists).map(|(operation, _)| *operation).collect();
    match listed.is_empty() {
        true if held => vec![Operation::Build],
        _ => listed,
    }
}

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A person is asked; nothing runs by that.
    Asking,
    /// A call runs.
    Running {
        irreversible: bool,
        /// When a person approved it.
        approved_at: Option<UnixMillis>,
    },
}

/// Refuses if a BLOCK of one of these sessions blocks one of these operations.
///
/// An open one blocks all of them. One that a person owed when its agent gave the session up blocks only what cannot be
/// undone and what no person approved after that.
pub fn check(
    sessions: &[ClarificationSession],
    operations: &[Operation],
    about: About,
    now: UnixMillis,
) -> Result<(), Refusal> {
    let blocks = |asked: &&AskedGap| {
        asked.gap.severity == Severity::Block
            && asked.gap.blocked_operations.iter().any(|operation| operations.contains(operation))
    };
    for session in sessions {
        let gaps: Vec<&AskedGap> = match session.state {
            _ if now >= session.expires_at => continue,
            ClarificationState::Open => session.open_gaps().filter(blocks).collect(),
            ClarificationState::Abandoned { at, holds: true, .. } if about.needs_an_answer(at) => {
                session.owed().filter(blocks).collect()
            }
            _ => continue,
        };
        if !gaps.is_empty() {
            return Err(required(session, gaps.into_iter()));
        }
    }
    Ok(())
}

impl About {
    fn needs_an_answer(self, since: UnixMillis) -> bool {
        match self {
            Self::Asking => false,
            Self::Running { irreversible, approved_at } => irreversible && approved_at.is_none_or(|at| at <= since),
        }
    }
}

/// The refusal that names what is unclear.
pub fn required<'a>(session: &ClarificationSession, gaps: impl Iterator<Item = &'a AskedGap>) -> Refusal {
    let gaps = gaps.map(|asked| (asked.gap.id.clone(), asked.gap.field.clone(), asked.gap.question.clone())).collect();
    Refusal::ClarificationRequired(Box::new(Unclear { session_id: session.id.to_string(), gaps }))
}

#[cfg(test)]
mod tests;
