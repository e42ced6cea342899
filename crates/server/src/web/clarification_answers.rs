//! Clarified answers and gaps, as a person sees them.

use crate::pages::{ClarificationBox, ClarifiedAnswer, GapAsked, PlainLine, Prose, RefusedAnswer};
use countersign_engine::{AskedGap, Decision, GapState, Question};
use countersign_protocol::question;

/// The answers clarified before the question was raised, in Countersign's own words, kept apart from the agent's.
pub(super) fn of(decision: &Decision) -> Option<ClarificationBox> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let told = asked.facts.clarification.as_ref()?;
    let answer = |one: &question::ClarifiedAnswer| ClarifiedAnswer {
        field: PlainLine::cut(&one.field, 200),
        question: one.question.as_str().into(),
        answer: one.answer.as_str().into(),
        given_by: one.given_by,
    };
    Some(ClarificationBox {
        answers: told.answers.iter().map(answer).collect(),
        more: i64::try_from(told.more).unwrap_or(i64::MAX),
        session_id: PlainLine::cut(told.session_id.as_str(), 200),
    })
}

/// An open gap. The question of a closed gap already holds the text as it was shown.
pub(super) fn gap(asked: &AskedGap) -> Option<GapAsked> {
    let GapState::Open { refused, .. } = &asked.state else { return None };
    let said = refused.as_ref().filter(|(answer, _)| !answer.trim().is_empty());
    Some(GapAsked {
        field: PlainLine::cut(&asked.gap.field, 200),
        why: asked.gap.context.as_str().into(),
        severity: asked.gap.severity,
        stops: asked.gap.blocked_operations.clone(),
        said: said.map(|(answer, why)| RefusedAnswer { answer: Prose::new(answer), why: Prose::new(why) }),
    })
}
