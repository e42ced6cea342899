//! The actions offered to a person on a question's page. The engine checks each again when it is taken.

use super::{answer, question_summary};
use crate::pages::{Choosable, Field, PersonOffer, PlainLine};
use countersign_engine::{Assurance, Clarification, Decision, ProvenPerson, Question, is_entitled};
use countersign_protocol::aaep::event::{ResponseKind, YesNo};

/// The extensions a person can ask for, in seconds.
pub(super) const MORE_S: [i64; 2] = [60, 300];

/// `path` is that of the question's own page.
pub(super) fn of(decision: &Decision, by: &ProvenPerson, path: &str) -> PersonOffer {
    let has = |yes| says(decision, by, yes);
    match &decision.question {
        _ if !has(true) && !has(false) => PersonOffer::Nothing,
        _ if decision.is_locked() && !by.deciding.overrides() => PersonOffer::Locked,
        _ if decision.terms.floor > Assurance::Fresh => PersonOffer::NotHere,
        _ if decision.terms.floor > by.assurance => {
            PersonOffer::ProveFirst { path: format!("/sign-in?fresh&next={}", answer::in_query(path)) }
        }
        Question::Confirmation(asked) => {
            let takes = |reply| asked.allowed_replies.contains(&reply);
            let (yes, no) = (has(true) && takes(YesNo::Accept), has(false) && takes(YesNo::Reject));
            if yes || no { PersonOffer::Decide { yes, no } } else { PersonOffer::Nothing }
        }
        Question::Clarification(_) if !has(true) => PersonOffer::Nothing,
        Question::Clarification(asked) => PersonOffer::Respond(fields(asked)),
    }
}

/// Whether the person's approval or rejection would be valid: by policy, and by an approving role (R-1, M-06).
fn says(decision: &Decision, by: &ProvenPerson, yes: bool) -> bool {
    let own_no = by.person == decision.raised_by.person && !yes;
    let by_role = matches!(decision.question, Question::Clarification(_)) || own_no || by.deciding.approves();
    by_role && is_entitled(decision, by.person, &by.roles, yes)
}

fn fields(asked: &Clarification) -> Vec<Field> {
    let choices = asked.choices.iter();
    let choices =
        choices.map(|choice| Choosable { value: choice.value.clone(), label: PlainLine::cut(&choice.label, 300) });
    let choices: Vec<Choosable> = choices.collect();
    let field = |kind: &ResponseKind| match kind {
        ResponseKind::Freetext => Field::Text,
        ResponseKind::Numeric => Field::Number,
        ResponseKind::YesNo => Field::YesNo,
        ResponseKind::MultipleChoice => Field::Choices(choices.clone()),
    };
    asked.kinds.iter().map(field).collect()
}

/// The extensions that would still move the deadline.
pub(super) fn more_time(decision: &Decision) -> Vec<i64> {
    let left =
        question_summary::deadline(decision).map_or(0, |deadline| decision.terms.latest.millis_since(deadline) / 1000);
    let [short, long] = MORE_S;
    match left {
        ..=0 => Vec::new(),
        left if left <= short => vec![short],
        _ => vec![short, long],
    }
}
