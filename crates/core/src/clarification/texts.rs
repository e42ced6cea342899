//! The clarified answers in the text that a person reads before approving.

use crate::{
    held::{shortened, shown},
    records::{ClarificationSession, Confirmation, GapState},
};
use countersign_protocol::{clarification::GivenBy, hash::Digest, mplp::MplpId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The context member of a confirmation request that holds the answers. Only the plane writes it.
pub const MEMBER: &str = "clarification";

/// The first words of the sentence in a confirmation request's notes.
pub const SENTENCE: &str = "Clarified before: ";

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClarifiedAnswer {
    pub field: String,
    pub question: String,
    pub answer: String,
    pub given_by: GivenBy,
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

    /// One line per answer: field, answer, and whether the agent or a person gave it.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.answers.iter().take(MOST).map(ClarifiedAnswer::line).collect();
        if let Some(more) = self.answers.len().checked_sub(MOST).filter(|more| *more > 0) {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// For machines, and for pages in other languages.
    pub fn context(&self) -> Value {
        let answers: Vec<Value> = self.answers.iter().take(MOST).map(ClarifiedAnswer::context).collect();
        json!({
            "session_id": self.session_id,
            "rounds": self.rounds,
            "chain_head": format!("sha256:{}", self.head.hex()),
            "answers": answers,
            "more": self.answers.len().saturating_sub(MOST),
        })
    }

    /// All answers in one sentence, for speech output.
    pub fn sentence(&self) -> String {
        format!("{SENTENCE}{}.", self.lines().join("; "))
    }
}

impl ClarifiedAnswer {
    fn line(&self) -> String {
        let whose = match self.given_by {
            GivenBy::Own => "the agent's own answer",
            GivenBy::Person => "answered by a person",
        };
        format!("{}: {} ({whose})", shown(&self.field, FIELD), said(&self.answer))
    }

    fn context(&self) -> Value {
        json!({
            "field": shortened(&self.field, FIELD),
            "question": shortened(&self.question, TEXT),
            "answer": shortened(&self.answer, TEXT),
            "given_by": self.given_by,
        })
    }
}

/// The clarified answers in a confirmation request's context.
pub fn of_question(asked: &Confirmation) -> Option<&Value> {
    asked.extra_context.as_ref()?.get(MEMBER)
}

/// Adds the clarified answers to a confirmation request (WWA-6.2-06): a note for people, and a context member for
/// machines.
pub fn mark(question: &mut Confirmation, clarified: &ClarificationResult) {
    let told = clarified.sentence();
    question.notes.push(shortened(&told, NOTE));
    question.extra_context.get_or_insert_with(Map::new).insert(MEMBER.into(), clarified.context());
}

/// Quotes an answer so that it cannot close the quotation marks.
fn said(text: &str) -> String {
    let inner = text.replace(['“', '”', '„', '‟'], "\"");
    format!("“{}”", shortened(&shown(&inner, usize::MAX), TEXT))
}

#[cfg(test)]
mod tests;
