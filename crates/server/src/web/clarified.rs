//! What was unclear, as it is put before a person.

use crate::pages::{Clarified, ClarifiedAnswer, GapAsked, Line, Prose, Refused};
use countersign_engine::{AskedGap, Decision, GapState, Question, clarified_words};
use countersign_protocol::clarification::GivenBy;
use serde_json::Value;

/// What was clarified before a question was asked: the plane's own words, which stand apart from the agent's.
pub(super) fn of(decision: &Decision) -> Option<Clarified> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let told = clarified_words::of_question(asked)?;
    Some(Clarified {
        answers: told.get("answers").and_then(Value::as_array)?.iter().map(answer).collect(),
        more: told.get("more").and_then(Value::as_i64).unwrap_or_default(),
        session_id: Line::cut(text(told, "session_id"), 200),
    })
}

fn answer(told: &Value) -> ClarifiedAnswer {
    ClarifiedAnswer {
        field: Line::cut(text(told, "field"), 200),
        question: text(told, "question").into(),
        answer: text(told, "answer").into(),
        // What is not surely a person's is the agent's own.
        given_by: if text(told, "given_by") == "person" { GivenBy::Person } else { GivenBy::Own },
    }
}

fn text<'a>(told: &'a Value, member: &str) -> &'a str {
    told.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A summary without the sentence about what was clarified, which has a place of its own on a page.
pub(super) fn without_sentence(summary: &str) -> Option<&str> {
    let before = summary.rsplit_once(clarified_words::SENTENCE).map_or(summary, |(before, _)| before);
    Some(before.trim_end()).filter(|before| !before.is_empty())
}

/// A gap while it is open. What was asked about one that is not any more stands in its question as it was asked.
pub(super) fn gap(asked: &AskedGap) -> Option<GapAsked> {
    let GapState::Open { refused, .. } = &asked.state else { return None };
    let said = refused.as_ref().filter(|(answer, _)| !answer.trim().is_empty());
    Some(GapAsked {
        field: Line::cut(&asked.gap.field, 200),
        why: asked.gap.context.as_str().into(),
        severity: asked.gap.severity,
        stops: asked.gap.blocked_operations.clone(),
        said: said.map(|(answer, why)| Refused { answer: Prose::new(answer), why: Prose::new(why) }),
    })
}
