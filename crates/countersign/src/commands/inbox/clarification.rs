//! Answers clarified before a question was raised, with their sources.

use crate::table::quoted;
use countersign_protocol::{
    clarification::GivenBy,
    question::{ClarificationFacts, ClarifiedAnswer},
};

/// One line per answer.
pub(super) fn lines(clarified: &ClarificationFacts) -> Vec<String> {
    let more = (clarified.more > 0).then(|| format!("Clarified: and {} more", clarified.more));
    clarified.answers.iter().map(line).chain(more).collect()
}

fn line(answer: &ClarifiedAnswer) -> String {
    // The source comes first and the answer last, in quotes: the answer cannot imitate the source.
    let whose = match answer.given_by {
        GivenBy::Person => "Answered by a person",
        GivenBy::Own => "Answered by the agent itself",
    };
    format!("{whose}: for {} the answer is {}", quoted(&answer.field), quoted(&answer.answer))
}
