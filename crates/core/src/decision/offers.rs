//! The answers offered to a person, decided once for pages, terminal and lists. Each answer is checked again when given.

use super::{
    answer::{ProvenPerson, is_entitled},
    audience,
};
use crate::records::{Assurance, Decision, DecisionState, Question};
use countersign_protocol::aaep::{
    event::YesNo,
    questions::{Offer, Offers},
};

/// The extensions a person can ask for, in seconds.
pub const MORE_TIME_S: [i64; 2] = [60, 300];

/// The offers to an authenticated person about a question.
pub fn offers(decision: &Decision, by: &ProvenPerson) -> Offers {
    Offers { offer: answer(decision, by), more_time_seconds: more_time(decision, by) }
}

fn answer(decision: &Decision, by: &ProvenPerson) -> Offer {
    let (approves, rejects) = (is_entitled(decision, by, true), is_entitled(decision, by, false));
    let floor = decision.terms.floor_for(by.approves_high_risk);
    match &decision.question {
        _ if !decision.is_pending() || (!approves && !rejects) => Offer::Nothing,
        _ if decision.is_locked() && !by.deciding.overrides() => Offer::Locked,
        _ if floor > Assurance::Fresh => Offer::NotHere,
        _ if floor > by.assurance => Offer::ProveFirst,
        Question::Confirmation(asked) => {
            let takes = |reply| asked.allowed_replies.contains(&reply);
            let (approve, reject) = (approves && takes(YesNo::Accept), rejects && takes(YesNo::Reject));
            if approve || reject { Offer::Decide { approve, reject } } else { Offer::Nothing }
        }
        Question::Clarification(_) if !approves => Offer::Nothing,
        Question::Clarification(asked) => Offer::Respond { kinds: asked.kinds.clone() },
    }
}

/// The extensions that would still move the deadline.
fn more_time(decision: &Decision, by: &ProvenPerson) -> Vec<i64> {
    let DecisionState::Pending { deadline, .. } = decision.state else { return Vec::new() };
    let may = by.may_answer && audience(decision).includes(by.person, &by.roles);
    let left = decision.terms.latest.millis_since(deadline) / 1000;
    let [short, long] = MORE_TIME_S;
    match left {
        _ if !may => Vec::new(),
        ..=0 => Vec::new(),
        left if left <= short => vec![short],
        _ => vec![short, long],
    }
}
