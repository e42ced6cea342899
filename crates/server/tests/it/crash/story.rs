//! The story: seven questions, each with another end.

use serde_json::{Value, json};

/// An act, and the question that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step(pub(super) Act, pub(super) &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Raise,
    MoreTime,
    Accept,
    Reject,
    Respond,
    Claim,
    StillRuns,
    Committed,
    Failed,
    Withdraw,
    /// A minute and a second pass, and overdue work is done.
    Minute,
}

use Act::{Accept, Claim, Committed, Failed, Minute, MoreTime, Raise, Reject, Respond, StillRuns, Withdraw};

/// Every kind of commit that a decision can have, at least once.
pub(super) const STORY: &[Step] = &[
    Step(Raise, TIDIED),
    Step(Raise, LEFT_OPEN),
    Step(MoreTime, LEFT_OPEN),
    Step(Raise, PAID),
    Step(Accept, PAID),
    Step(Claim, PAID),
    Step(StillRuns, PAID),
    Step(Committed, PAID),
    Step(Raise, REFUSED),
    Step(Reject, REFUSED),
    Step(Raise, TAKEN_BACK),
    Step(Withdraw, TAKEN_BACK),
    Step(Raise, EXPLAINED),
    Step(Respond, EXPLAINED),
    Step(Raise, LOST),
    Step(Accept, LOST),
    Step(Claim, LOST),
    Step(Minute, LOST),
    Step(Claim, TIDIED),
    Step(Failed, TIDIED),
];

/// Accepted by default after a minute, if a node is running.
pub(super) const TIDIED: &str = "tidied";
/// Not answered during the story.
pub(super) const LEFT_OPEN: &str = "left open";
pub(super) const PAID: &str = "paid";
pub(super) const REFUSED: &str = "refused";
pub(super) const TAKEN_BACK: &str = "taken back";
pub(super) const EXPLAINED: &str = "explained";
/// Claimed, executed, and never reported.
pub(super) const LOST: &str = "lost";

pub(super) const QUESTIONS: [&str; 7] = [TIDIED, LEFT_OPEN, PAID, REFUSED, TAKEN_BACK, EXPLAINED, LOST];

pub(super) fn is_clarification(question: &str) -> bool {
    question == EXPLAINED
}

pub(super) fn tool(question: &str) -> &'static str {
    if question == TIDIED { "notes.tidy" } else { "payments.send" }
}

pub(super) fn arguments(question: &str) -> Value {
    json!({ "for": question })
}

/// The state of a question: that of the decision, and that of its execution.
pub(super) type Standing = (String, String);

pub(super) fn stands(decision: &Value) -> Standing {
    let execution = decision["execution"]["state"].as_str().unwrap_or("none");
    (decision["state"].as_str().expect("a state").to_owned(), execution.to_owned())
}

/// The questions that a step changes, with their new states.
pub(super) fn became(step: Step) -> Vec<(String, Standing)> {
    let stands = |name: &str, state: &str, execution: &str| (name.to_owned(), (state.to_owned(), execution.to_owned()));
    let Step(act, name) = step;
    let yes = if name == TIDIED { "expired" } else { "accepted" };
    let (state, execution) = match act {
        Raise | MoreTime => ("pending", "none"),
        Accept => ("accepted", "none"),
        Reject => ("rejected", "none"),
        Respond => ("answered", "none"),
        Withdraw => ("cancelled", "none"),
        Claim | StillRuns => (yes, "claimed"),
        Committed => (yes, "committed"),
        Failed => (yes, "failed"),
        Minute => return vec![stands(TIDIED, "expired", "none"), stands(LOST, "accepted", "unknown")],
    };
    vec![stands(name, state, execution)]
}
