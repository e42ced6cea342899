//! Clarified answers and gaps, as a person sees them.

use crate::pages::{ClarificationBox, ClarifiedAnswer, GapAsked, PlainLine, Prose, RefusedAnswer};
use countersign_engine::{AskedGap, Decision, GapState, Question, clarified_answers};
use countersign_protocol::clarification::GivenBy;
use serde_json::Value;

/// The answers clarified before the question was raised, in Countersign's own words, kept apart from the agent's.
pub(super) fn of(decision: &Decision) -> Option<ClarificationBox> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let told = clarified_answers::of_question(asked)?;
    Some(ClarificationBox {
        answers: told.get("answers").and_then(Value::as_array)?.iter().map(answer).collect(),
        more: told.get("more").and_then(Value::as_i64).unwrap_or_default(),
        session_id: PlainLine::cut(text(told, "session_id"), 200),
    })
}

fn answer(told: &Value) -> ClarifiedAnswer {
    ClarifiedAnswer {
        field: PlainLine::cut(text(told, "field"), 200),
        question: text(told, "question").into(),
        answer: text(told, "answer").into(),
        // Without proof that a person gave it, an answer counts as the agent's own.
        given_by: if text(told, "given_by") == "person" { GivenBy::Person } else { GivenBy::Own },
    }
}

fn text<'a>(told: &'a Value, member: &str) -> &'a str {
    told.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A summary without the sentence about clarified answers, which have their own section on the page.
pub(super) fn without_sentence(summary: &str) -> Option<&str> {
    let before = summary.rsplit_once(clarified_answers::SENTENCE).map_or(summary, |(before, _)| before);
    Some(before.trim_end()).filter(|before| !before.is_empty())
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
