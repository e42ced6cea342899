//! What was clarified, as a person reads it before saying yes.

use crate::{
    held::{shortened, shown},
    records::{ClarificationSession, Confirmation, GapState},
};
use countersign_protocol::{clarification::GivenBy, hash::Digest, mplp::MplpId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The member of a question's context that has them. Only the plane writes it.
pub const MEMBER: &str = "clarification";

/// What the sentence in a question's summaries begins with.
pub const SENTENCE: &str = "Clarified before: ";

/// How many answers a question shows; the record has all.
const MOST: usize = 20;
const FIELD: usize = 120;
const TEXT: usize = 300;
const NOTE: usize = 2000;

/// What came out of a session, kept with what rests on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clarified {
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

impl Clarified {
    /// The answers that apply to the plan of now; none if there are none.
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

    /// That nothing had to be asked.
    pub fn none(session: &ClarificationSession) -> Self {
        Self { session_id: session.id.clone(), rounds: session.rounds, head: session.head, answers: Vec::new() }
    }

    /// One line an answer: what was asked, what the answer was, and whose it is.
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

    /// All of it in a sentence or a few, for whoever listens.
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

/// What a question says about it.
pub fn of_question(asked: &Confirmation) -> Option<&Value> {
    asked.extra_context.as_ref()?.get(MEMBER)
}

/// Says in a question what was clarified before it (WWA-6.2-06): for those who listen, and for machines.
pub fn mark(question: &mut Confirmation, clarified: &Clarified) {
    let told = clarified.sentence();
    question.notes.push(shortened(&told, NOTE));
    question.extra_context.get_or_insert_with(Map::new).insert(MEMBER.into(), clarified.context());
}

/// Somebody's own words, in quotes that they cannot end.
fn said(text: &str) -> String {
    let inner = text.replace(['“', '”', '„', '‟'], "\"");
    format!("“{}”", shortened(&shown(&inner, usize::MAX), TEXT))
}

#[cfg(test)]
mod tests;
