//! Blocks calls while a gap is open, at every enforcement point (W-26).

use crate::{
    records::{AskedGap, ClarificationSession, ClarificationState},
    refusal::{Refusal, Unclear},
};
use countersign_protocol::{
    clarification::{ClarificationPolicy, Operation, Severity},
    time::UnixMillis,
};

/// The operations that list an action. An action that none of them lists belongs to `build` if it needs approval.
pub fn operations_of(policy: &ClarificationPolicy, action: &str, held: bool) -> Vec<Operation> {
    let lists = |(_, actions): &(&Operation, &Vec<String>)| actions.iter().any(|listed| listed == action);
    let listed: Vec<Operation> = policy.operations.iter().filter(lists).map(|(operation, _)| *operation).collect();
    match listed.is_empty() {
        true if held => vec![Operation::Build],
        _ => listed,
    }
}

/// The attempted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedAction {
    /// A confirmation request to a person; it executes nothing.
    Asking,
    /// The execution of a call.
    Running {
        irreversible: bool,
        /// None without a person's approval of this call.
        approved_at: Option<UnixMillis>,
    },
}

/// Refuses if a BLOCK of one of these sessions blocks one of these operations.
///
/// An open BLOCK blocks all calls. A BLOCK that a person had to answer when the agent abandoned the session blocks only
/// irreversible calls without a later approval.
pub fn check(
    sessions: &[ClarificationSession],
    operations: &[Operation],
    about: StoppedAction,
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
            ClarificationState::Abandoned { at, holds: true, .. } if about.requires_answer(at) => {
                session.unanswered_blocks().filter(blocks).collect()
            }
            _ => continue,
        };
        if !gaps.is_empty() {
            return Err(required(session, gaps.into_iter()));
        }
    }
    Ok(())
}

impl StoppedAction {
    fn requires_answer(self, since: UnixMillis) -> bool {
        match self {
            Self::Asking => false,
            Self::Running { irreversible, approved_at } => irreversible && approved_at.is_none_or(|at| at <= since),
        }
    }
}

/// The refusal that lists the open gaps.
pub fn required<'a>(session: &ClarificationSession, gaps: impl Iterator<Item = &'a AskedGap>) -> Refusal {
    let gaps = gaps.map(|asked| (asked.gap.id.clone(), asked.gap.field.clone(), asked.gap.question.clone())).collect();
    Refusal::ClarificationRequired(Box::new(Unclear { session_id: session.id.to_string(), gaps }))
}

#[cfg(test)]
mod tests;
