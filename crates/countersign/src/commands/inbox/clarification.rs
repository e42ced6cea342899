//! Answers clarified before a question was raised, with their sources.

use crate::table::quoted;
use countersign_client::aaep::{Asks, ReceivedQuestion};
use serde_json::Value;

/// Only the service writes this member.
pub(super) fn of(question: &ReceivedQuestion) -> Option<&Value> {
    match question.request() {
        Asks::Confirmation(asked) => asked.extra_context.as_ref()?.get("clarification"),
        Asks::Clarification(_) => None,
    }
}

/// One line per answer.
pub(super) fn lines(clarified: &Value) -> Vec<String> {
    let answers = clarified.get("answers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let more = clarified.get("more").and_then(Value::as_u64).filter(|more| *more > 0);
    let more = more.map(|more| format!("Clarified: and {more} more"));
    answers.iter().map(line).chain(more).collect()
}

fn line(answer: &Value) -> String {
    let text = |name: &str| quoted(answer.get(name).and_then(Value::as_str).unwrap_or_default());
    // The source comes first and the answer last, in quotes: the answer cannot imitate the source.
    let whose = match answer.get("given_by").and_then(Value::as_str) {
        Some("person") => "Answered by a person",
        _ => "Answered by the agent itself",
    };
    format!("{whose}: for {} the answer is {}", text("field"), text("answer"))
}
