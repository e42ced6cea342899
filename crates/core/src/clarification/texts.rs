//! The clarified answers in the text that a person reads before approving.

use crate::{
    held::{shortened, shown},
    records::{ClarificationSession, GapState},
};
use countersign_protocol::{
    clarification::GivenBy,
    hash::Digest,
    mplp::MplpId,
    question::{ClarificationFacts, ClarifiedAnswer},
};
use serde::{Deserialize, Serialize};

/// The most answers shown in a confirmation request; the record has all of them.
const MOST: usize = 20;
const FIELD: usize = 120;
const TEXT: usize = 300;
const NOTE: usize = 2000;

/// The result of a clarification session, kept with the decision that rests on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationResult {
    pub session_id: MplpId,
    pub rounds: i64,
    pub head: Digest,
    pub answers: Vec<ClarifiedAnswer>,
}

impl ClarificationResult {
    /// The answers that apply to the current plan; none if there are none.
    pub fn of(session: &ClarificationSession) -> Option<Self> {
        let answers: Vec<ClarifiedAnswer> = session
            .gaps
            .iter()
            .filter_map(|asked| match &asked.state {
                GapState::Resolved { accepted, given_by, applies: true, .. } => Some(ClarifiedAnswer {
                    field: asked.gap.field.clone(),
                    question: asked.gap.question.clone(),
                    answer: accepted.clone(),
                    given_by: *given_by,
                }),
                _ => None,
            })
            .collect();
        let (session_id, rounds, head) = (session.id.clone(), session.rounds, session.head);
        (!answers.is_empty()).then_some(Self { session_id, rounds, head, answers })
    }

    /// A session without any question.
    pub fn none(session: &ClarificationSession) -> Self {
        Self { session_id: session.id.clone(), rounds: session.rounds, head: session.head, answers: Vec::new() }
    }

    /// The facts of a confirmation request that rests on it.
    pub fn facts(&self) -> ClarificationFacts {
        let shorten = |one: &ClarifiedAnswer| ClarifiedAnswer {
            field: shortened(&one.field, FIELD),
            question: shortened(&one.question, TEXT),
            answer: shortened(&one.answer, TEXT),
            given_by: one.given_by,
        };
        ClarificationFacts {
            session_id: self.session_id.clone(),
            rounds: self.rounds,
            chain_head: self.head.into(),
            answers: self.answers.iter().take(MOST).map(shorten).collect(),
            more: self.answers.len().saturating_sub(MOST),
        }
    }
}

/// One line per answer: field, answer, and whether the agent or a person gave it.
pub fn lines(facts: &ClarificationFacts, language: &str) -> Vec<String> {
    let more = match language {
        "de" => format!("und {} weitere", facts.more),
        _ => format!("and {} more", facts.more),
    };
    let more = (facts.more > 0).then_some(more);
    facts.answers.iter().map(|answer| line(answer, language)).chain(more).collect()
}

/// All answers in one sentence, for speech output.
pub fn sentence(facts: &ClarificationFacts, language: &str) -> String {
    let begins = if language == "de" { "Zuvor geklärt:" } else { "Clarified before:" };
    shortened(&format!("{begins} {}.", lines(facts, language).join("; ")), NOTE)
}

fn line(answer: &ClarifiedAnswer, language: &str) -> String {
    let whose = match (answer.given_by, language) {
        (GivenBy::Own, "de") => "Antwort des Agenten selbst",
        (GivenBy::Own, _) => "the agent's own answer",
        (GivenBy::Person, "de") => "von einem Menschen beantwortet",
        (GivenBy::Person, _) => "answered by a person",
    };
    format!("{}: {} ({whose})", shown(&answer.field, usize::MAX), said(&answer.answer))
}

/// Quotes an answer so that it cannot close the quotation marks.
fn said(text: &str) -> String {
    let inner = text.replace(['“', '”', '„', '‟'], "\"");
    format!("“{}”", shortened(&shown(&inner, usize::MAX), TEXT))
}

#[cfg(test)]
mod tests;
