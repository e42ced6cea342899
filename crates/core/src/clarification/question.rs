//! Renders a gap as a clarification request to a person (W-31): a choice among suggestions, or free text.

use super::resolve::AnswerVerdict;
use crate::{
    held::{shortened, shown},
    records::{AskedGap, Clarification},
};
use countersign_protocol::{
    aaep::event::{Choice, ResponseKind, Summaries},
    clarification::Severity,
};

const QUESTION: usize = 1000;
const CONTEXT: usize = 1500;
const SAID: usize = 300;
const CHOICES: usize = 32;
const ACCEPT: &str = "accept";

/// The rule's texts, and the agent's rejected answer, marked as the agent's own.
pub fn for_gap(asked: &AskedGap, said: &str, verdict: &AnswerVerdict) -> Clarification {
    let gap = &asked.gap;
    let question = shortened(&shown(&gap.question, usize::MAX), QUESTION);
    let mut choices: Vec<Choice> = gap
        .suggestions
        .iter()
        .take(CHOICES)
        .map(|value| Choice { value: value.clone(), label: shown(value, SAID) })
        .collect();
    if gap.severity == Severity::Warn && !choices.is_empty() {
        // A person may leave a warning as it is (W-05).
        choices.push(Choice { value: ACCEPT.into(), label: "Leave it as it is".into() });
    }
    let mut kinds = Vec::new();
    if !choices.is_empty() {
        kinds.push(ResponseKind::MultipleChoice);
    }
    if choices.is_empty() || !gap.suggestions_exclusive {
        kinds.push(ResponseKind::Freetext);
    }
    Clarification {
        summaries: Summaries {
            terse: None,
            normal: Some(shortened(&format!("The agent asks instead of guessing: {question}"), QUESTION)),
            detailed: None,
        },
        question,
        kinds,
        choices,
        context: Some(context(asked, said, verdict)),
        default_response: None,
    }
}

fn context(asked: &AskedGap, said: &str, verdict: &AnswerVerdict) -> String {
    let gap = &asked.gap;
    let mut parts = vec![
        shortened(&shown(&gap.context, usize::MAX), CONTEXT),
        format!("It is about {} in the agent's plan.", shown(&gap.field, SAID)),
    ];
    if let AnswerVerdict::Escalated { why } = verdict
        && !said.trim().is_empty()
    {
        let inner = said.replace(['“', '”', '„', '‟'], "\"");
        parts.push(format!("The agent's own answer was “{}”: {why}.", shortened(&shown(&inner, usize::MAX), SAID)));
    }
    parts.join(" ")
}
