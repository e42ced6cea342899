//! Judges an answer and normalises the accepted text (W-05, W-13, W-14).

use super::{
    Rules,
    folding::{is_blank, same_but_for_case},
};
use countersign_protocol::clarification::{AnswerKind, Severity, limits::MAX_STRING};
use serde_json::Value;

/// Settles a WARN without a substantive answer.
const ACCEPT: &str = "accept";
/// An IEEE double preserves this many decimal digits.
const EXACT_DIGITS: usize = 15;
const LARGEST: u64 = (1 << 53) - 1;

/// The parts of a gap that decide about its answers.
#[derive(Clone, Copy, Debug)]
pub struct AnswerableGap<'a> {
    pub severity: Severity,
    pub suggestions: &'a [String],
    pub exclusive: bool,
    pub answer: AnswerKind,
}

/// An answer that settles its gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The suggestion in its own spelling, `accept`, or the answer as given.
    pub text: String,
}

/// Why an answer does not settle its gap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("the answer is blank")]
    Blank,
    #[error("the answer is longer than {MAX_STRING} characters")]
    Long,
    #[error("accept settles a WARN only: this gap needs an answer in substance")]
    AcceptOfBlock,
    #[error("only one of the suggestions answers this: {}", .0.join(", "))]
    NotSuggested(Vec<String>),
    #[error("the answer is still ambiguous: {0:?} names nothing")]
    Ambiguous(String),
    #[error("the answer must be a number, such as 250 or 12.5, of at most 15 digits")]
    NotANumber,
    #[error("the answer must be true or false")]
    NotABoolean,
}

impl Rules {
    /// Accepts an answer, or gives the reason for rejecting it.
    pub fn judge(&self, asked: &AnswerableGap<'_>, answer: &str) -> Result<Accepted, Unusable> {
        if is_blank(answer) {
            return Err(Unusable::Blank);
        }
        if answer.chars().count() > MAX_STRING {
            return Err(Unusable::Long);
        }
        if is_accept(answer) {
            let warn = asked.severity == Severity::Warn;
            return if warn { Ok(Accepted { text: ACCEPT.into() }) } else { Err(Unusable::AcceptOfBlock) };
        }
        let suggested = asked.suggestions.iter().find(|suggestion| same_but_for_case(suggestion, answer));
        match suggested {
            Some(suggestion) => Ok(Accepted { text: suggestion.clone() }),
            None if asked.exclusive => Err(Unusable::NotSuggested(asked.suggestions.to_vec())),
            None => self.judge_own_words(asked.answer, answer),
        }
    }

    fn judge_own_words(&self, kind: AnswerKind, answer: &str) -> Result<Accepted, Unusable> {
        if let Some(phrase) = self.lookout.vague_in(answer) {
            return Err(Unusable::Ambiguous(phrase.to_owned()));
        }
        match (value(kind, answer), kind) {
            (None, AnswerKind::Boolean) => Err(Unusable::NotABoolean),
            (None, _) => Err(Unusable::NotANumber),
            (Some(_), _) => Ok(Accepted { text: answer.to_owned() }),
        }
    }
}

pub(super) fn is_accept(answer: &str) -> bool {
    same_but_for_case(answer, ACCEPT)
}

/// The JSON value of an answer, if it is of this kind. `accept` stays a string for every kind.
pub(super) fn value(kind: AnswerKind, text: &str) -> Option<Value> {
    match kind {
        _ if is_accept(text) => Some(Value::from(ACCEPT)),
        AnswerKind::Text => Some(Value::from(text)),
        AnswerKind::Number => number(text.trim()),
        AnswerKind::Boolean if same_but_for_case(text, "true") => Some(Value::Bool(true)),
        AnswerKind::Boolean if same_but_for_case(text, "false") => Some(Value::Bool(false)),
        AnswerKind::Boolean => None,
    }
}

/// A JSON number that canonical JSON preserves as a double (W-22).
fn number(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    let number = value.as_number()?;
    let small = number.as_i64().is_some_and(|whole| whole.unsigned_abs() <= LARGEST);
    let digits = text.split(['e', 'E']).next().unwrap_or_default().chars().filter(char::is_ascii_digit);
    let exact = number.is_f64() && digits.skip_while(|digit| *digit == '0').count() <= EXACT_DIGITS;
    (small || exact).then_some(value)
}
