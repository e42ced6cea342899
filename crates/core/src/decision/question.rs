//! A pending question in a subscriber's list. The reply token is omitted: only the event carries it.

use super::{answer::ProvenPerson, offers::offers, render, runs};
use crate::records::{AaepSession, Decision, DecisionState, Question};
use countersign_protocol::{aaep::questions::OpenQuestion, decisions::DecisionKind, question::QuestionFacts};

/// The question document for an authenticated person; `None` once it is settled.
pub fn document(decision: &Decision, session: &AaepSession, page: String, by: &ProvenPerson) -> Option<OpenQuestion> {
    let DecisionState::Pending { deadline, .. } = decision.state else { return None };
    let common = OpenQuestion {
        decision_id: decision.id.clone(),
        event_id: decision.event_id.clone(),
        session_id: session.id.clone(),
        kind: DecisionKind::Confirmation,
        action: None,
        consequence: None,
        question: None,
        context: None,
        accepted_response_kinds: Vec::new(),
        choices: Vec::new(),
        allowed_replies: Vec::new(),
        words: decision.words,
        agent_id: session.producer.agent_id.clone(),
        operator: decision.raised_by.operator.as_ref().map(ToString::to_string),
        risk_level: None,
        irreversible: None,
        default_decision: None,
        language: decision.language.clone(),
        asked_at: decision.asked_at,
        deadline,
        latest: decision.terms.latest,
        assurance: decision.terms.floor_for(by.approves_high_risk),
        high_risk_token_suffices: decision.terms.high_risk_tokens,
        page,
        last_ran_at: decision.last_ran_at,
        offers: offers(decision, by),
        facts: QuestionFacts::default(),
        runs: runs::what_runs(decision),
    };
    let texts = |asked| runs::Composition::new(decision, asked).texts(render::own_language(decision));
    Some(match &decision.question {
        Question::Confirmation(asked) => OpenQuestion {
            kind: match decision.expansion {
                Some(_) => DecisionKind::ScopeExpansion,
                None => DecisionKind::Confirmation,
            },
            action: Some(texts(asked).action),
            consequence: Some(texts(asked).consequence),
            allowed_replies: asked.allowed_replies.clone(),
            risk_level: Some(decision.terms.risk),
            irreversible: Some(decision.terms.irreversible),
            default_decision: Some(decision.terms.default),
            facts: (*asked.facts).clone(),
            ..common
        },
        Question::Clarification(asked) => OpenQuestion {
            kind: DecisionKind::Clarification,
            question: Some(asked.question.clone()),
            context: asked.context.clone(),
            accepted_response_kinds: asked.kinds.clone(),
            choices: asked.choices.clone(),
            ..common
        },
    })
}
