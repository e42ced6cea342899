//! Clarification on the pages: the answers a question rests on, each with its source, and the gap a person is asked to
//! close (R-2, R-14, W-13).

use super::{Frame, PlainLine, Prose, question_summary::QuestionMark};
use countersign_protocol::clarification::{GivenBy, Operation, Severity};
use serde::Serialize;

/// The answers that were clarified before a question was raised.
#[derive(Clone, Debug)]
pub struct ClarificationBox {
    pub answers: Vec<ClarifiedAnswer>,
    /// Number of further answers; the session record has all.
    pub more: i64,
    /// The clarification session that holds the record.
    pub session_id: PlainLine,
}

#[derive(Clone, Debug)]
pub struct ClarifiedAnswer {
    /// The path of the field in the agent's plan.
    pub field: PlainLine,
    pub question: Prose,
    pub answer: Prose,
    pub given_by: GivenBy,
}

/// A gap in an agent's plan that stops it.
#[derive(Clone, Debug)]
pub struct GapAsked {
    /// The path of the field in the agent's plan.
    pub field: PlainLine,
    /// The text of the rule that found it.
    pub why: Prose,
    pub severity: Severity,
    pub stops: Vec<Operation>,
    /// The agent's own answer, and why it was refused.
    pub said: Option<RefusedAnswer>,
}

#[derive(Clone, Debug)]
pub struct RefusedAnswer {
    pub answer: Prose,
    /// In English, regardless of the page's language.
    pub why: Prose,
}

impl ClarificationBox {
    pub(super) fn more_text(&self, frame: &Frame) -> Option<String> {
        (self.more > 0).then(|| frame.say_count("clarified-more", self.more))
    }

    /// All the text an approval covers.
    pub(super) fn words(&self, frame: &Frame) -> ClarifiedWords<'_> {
        ClarifiedWords {
            answers: self.answers.iter().map(|one| one.words(frame)).collect(),
            more: self.more,
            session_id: self.session_id.as_str(),
        }
    }
}

impl ClarifiedAnswer {
    /// The source of the answer, always stated.
    pub(super) fn whose(&self, frame: &Frame) -> QuestionMark {
        match self.given_by {
            GivenBy::Own => QuestionMark { kind: "care", text: frame.say("clarified-own") },
            GivenBy::Person => QuestionMark { kind: "calm", text: frame.say("clarified-person") },
        }
    }

    fn words(&self, frame: &Frame) -> [String; 4] {
        let said = [self.field.as_str(), self.question.as_str(), self.answer.as_str(), &self.whose(frame).text];
        said.map(str::to_owned)
    }
}

impl GapAsked {
    /// The operations that stay blocked until a person answers.
    pub(super) fn stops_text(&self, frame: &Frame) -> String {
        let named: Vec<String> = self.stops.iter().map(|operation| frame.say(word(*operation))).collect();
        match (self.severity, named.is_empty()) {
            (Severity::Block, false) => frame.say_of("gap-stops-also", "what", named.join(", ")),
            _ => frame.say("gap-stops"),
        }
    }

    /// Only a warning may be left unresolved (W-05).
    pub(super) fn may_stand(&self) -> bool {
        self.severity == Severity::Warn
    }

    pub(super) fn words(&self, frame: &Frame) -> GapWords<'_> {
        GapWords {
            field: self.field.as_str(),
            stops: self.stops_text(frame),
            may_stand: self.may_stand(),
            said: self.said.as_ref().map(|said| (said.answer.as_str(), said.why.as_str())),
        }
    }
}

fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Planner => "gap-planner",
        Operation::Developer => "gap-developer",
        Operation::Build => "gap-build",
        Operation::Attest => "gap-attest",
    }
}

#[derive(Serialize)]
pub(super) struct ClarifiedWords<'a> {
    answers: Vec<[String; 4]>,
    more: i64,
    session_id: &'a str,
}

#[derive(Serialize)]
pub(super) struct GapWords<'a> {
    field: &'a str,
    stops: String,
    may_stand: bool,
    said: Option<(&'a str, &'a str)>,
}
