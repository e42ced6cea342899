//! Renders a question as its AAEP event. Rendering is deterministic: a replay is the same event (S1).

use super::runs::{self, Composition};
use crate::{
    aaep::{
        event_writer::{self, Chosen},
        texts::LANGUAGES,
    },
    mplp::confirm::confirm_id,
    records::{AaepSession, Decision, DecisionState, Question},
};
use countersign_protocol::{
    aaep::{
        envelope::LocalizationHints,
        event::{AwaitingClarification, AwaitingConfirmation, Event, Payload},
    },
    canonical::{self, NotCanonical},
};
use serde_json::{Map, Value, json};

/// The question as it was rendered, in canonical JSON. Its digest is in the evidence, so a bundle can prove it.
///
/// It holds exactly what the row keeps unchanged, so that it can be written again after the answer.
pub fn document(decision: &Decision) -> Result<Vec<u8>, NotCanonical> {
    canonical::to_vec(&json!({
        "decision_id": decision.id,
        "words": decision.words,
        "language": decision.language,
        "tool": decision.action,
        "question": decision.question,
    }))
}

/// The question's payload, with the hub's texts in this language.
pub fn payload(decision: &Decision, reply_token: &str, language: &str) -> Payload {
    let timeout_seconds = decision.terms.timeout_s;
    match &decision.question {
        Question::Confirmation(asked) => {
            let texts = Composition::new(decision, asked).texts(language);
            Payload::AwaitingConfirmation(AwaitingConfirmation {
                action: texts.action,
                consequence: texts.consequence,
                reply_token: reply_token.to_owned(),
                timeout_seconds,
                default_decision: decision.terms.default,
                summaries: texts.summaries,
                risk_level: Some(decision.terms.risk),
                irreversible: Some(decision.terms.irreversible),
                reversibility: decision.terms.reversibility,
                allowed_replies: Some(asked.allowed_replies.clone()),
                extra_context: asked.extra_context.clone(),
            })
        }
        Question::Clarification(asked) => Payload::AwaitingClarification(AwaitingClarification {
            question: asked.question.clone(),
            reply_token: reply_token.to_owned(),
            timeout_seconds,
            summaries: runs::of_clarification(decision, asked, language),
            accepted_response_kinds: Some(asked.kinds.clone()),
            choices: (!asked.choices.is_empty()).then(|| asked.choices.clone()),
            context: asked.context.clone(),
            default_response: asked.default_response.clone(),
        }),
    }
}

/// The members that do not come from the session. `language` is that of the question's author; our extension names
/// the language of the hub's texts in the summaries.
pub fn chosen(decision: &Decision, correlation_id: Option<String>, language: &str) -> Chosen {
    let mut members = extension(decision);
    members.extend(runs::what_runs(decision).map(|runs| ("runs".to_owned(), json!(runs))));
    if let Question::Confirmation(asked) = &decision.question
        && let Value::Object(facts) = json!(asked.facts)
    {
        members.extend(facts);
    }
    members.insert("summary_language".into(), json!(language));
    Chosen {
        localization_hints: Some(LocalizationHints::of(&decision.language)),
        correlation_id,
        ..Chosen::with_extension(members)
    }
}

/// The language of the hub's texts for a subscriber without a preference.
pub fn own_language(decision: &Decision) -> &'static str {
    let primary = decision.language.split('-').next().unwrap_or_default();
    let [first, ..] = LANGUAGES;
    LANGUAGES.into_iter().find(|language| *language == primary).unwrap_or(first)
}

pub fn other_languages(decision: &Decision) -> impl Iterator<Item = &'static str> {
    let own = own_language(decision);
    LANGUAGES.into_iter().filter(move |language| *language != own)
}

/// Our extension in every event about a decision: its id, the author of its texts and the requesting operator.
pub fn extension(decision: &Decision) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("decision_id".into(), json!(decision.id));
    members.insert("words".into(), json!(decision.words));
    if let Some(operator) = &decision.raised_by.operator {
        members.insert("operator".into(), json!(operator.as_str()));
    }
    if let Some(target) = &decision.target {
        // MPLP clients know the decision by these members (MPLP 4.2).
        members.insert("notification".into(), json!("approval_required"));
        members.insert("confirm_id".into(), json!(confirm_id(decision)));
        members.insert("target_type".into(), json!(target.target_type));
        members.insert("target_id".into(), json!(target.target_id));
    }
    if let Some(at) = decision.last_ran_at {
        members.insert("last_ran_at".into(), json!(at.to_rfc3339()));
    }
    // After an extension, `timeout_seconds` no longer tells a late subscriber the deadline.
    if let DecisionState::Pending { deadline, .. } = decision.state
        && deadline > decision.asked_at.plus_secs(decision.terms.timeout_s)
    {
        members.insert("deadline".into(), json!(deadline.to_rfc3339()));
    }
    members
}

/// The event for a late subscriber: same id, same time, same token.
pub fn event(decision: &Decision, session: &AaepSession, reply_token: &str, language: &str) -> Event {
    let mut event = event_writer::stamp(
        session,
        decision.event_id.clone(),
        decision.asked_at,
        payload(decision, reply_token, language),
        chosen(decision, None, language),
    );
    event.envelope.sequence_number = None;
    event
}
