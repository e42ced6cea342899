//! What an open gap keeps from running: mechanically, wherever the call comes by (W-26).

use crate::{
    records::{AskedGap, ClarificationSession},
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

/// Refuses if a BLOCK of one of these sessions blocks one of these operations.
pub fn check(sessions: &[ClarificationSession], operations: &[Operation], now: UnixMillis) -> Result<(), Refusal> {
    let blocks = |asked: &AskedGap| {
        asked.gap.severity == Severity::Block
            && asked.gap.blocked_operations.iter().any(|operation| operations.contains(operation))
    };
    let live = sessions.iter().filter(|session| session.is_live(now));
    match live
        .map(|session| (session, session.open_gaps().filter(|asked| blocks(asked)).collect::<Vec<_>>()))
        .find(|(_, gaps)| !gaps.is_empty())
    {
        Some((session, gaps)) => Err(required(session, gaps.into_iter())),
        None => Ok(()),
    }
}

/// The refusal that names what is unclear.
pub fn required<'a>(session: &ClarificationSession, gaps: impl Iterator<Item = &'a AskedGap>) -> Refusal {
    let gaps = gaps.map(|asked| (asked.gap.id.clone(), asked.gap.field.clone(), asked.gap.question.clone())).collect();
    Refusal::ClarificationRequired(Box::new(Unclear { session_id: session.id.to_string(), gaps }))
}

#[cfg(test)]
mod tests;
