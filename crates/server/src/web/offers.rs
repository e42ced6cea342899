//! The offers to a person, as elements of a question's page.

use super::answer;
use crate::pages::{Choosable, Field, PersonOffer, PlainLine};
use countersign_engine::{Clarification, Decision, Question};
use countersign_protocol::aaep::{
    event::{Choice, ResponseKind},
    questions::Offer,
};

/// `path` is that of the question's own page.
pub(super) fn of(offer: &Offer, decision: &Decision, path: &str) -> PersonOffer {
    match (offer, &decision.question) {
        (Offer::Locked, _) => PersonOffer::Locked,
        (Offer::NotHere, _) => PersonOffer::NotHere,
        (Offer::ProveFirst, _) => {
            PersonOffer::ProveFirst { path: format!("/sign-in?fresh&next={}", answer::in_query(path)) }
        }
        (Offer::Decide { approve, reject }, _) => PersonOffer::Decide { yes: *approve, no: *reject },
        (Offer::Respond { kinds }, Question::Clarification(asked)) => {
            PersonOffer::Respond(kinds.iter().map(|kind| field(*kind, asked)).collect())
        }
        (Offer::Nothing | Offer::Respond { .. }, _) => PersonOffer::Nothing,
    }
}

fn field(kind: ResponseKind, asked: &Clarification) -> Field {
    match kind {
        ResponseKind::Freetext => Field::Text,
        ResponseKind::Numeric => Field::Number,
        ResponseKind::YesNo => Field::YesNo,
        ResponseKind::MultipleChoice => {
            let choices = asked.choices.iter();
            let choice = |one: &Choice| Choosable { value: one.value.clone(), label: PlainLine::cut(&one.label, 300) };
            Field::Choices(choices.map(choice).collect())
        }
    }
}
