//! Reads a form as an answer of the kind that the question takes.

use super::form::Form;
use crate::pages::{Language, QuestionError};
use countersign_engine::AnswerContent;
use countersign_protocol::aaep::event::{ResponseKind, YesNo};
use serde_json::Value;

/// A standing approval.
pub(super) const MORE: &str = "accept-more";

/// The maximum length of a reason, the same as on the wire (AAEP 6.3.2).
const LONGEST: usize = 4096;

pub(super) fn of(form: &Form, language: Language) -> Result<AnswerContent, QuestionError> {
    match form.field("answer") {
        "accept" => reply(form, YesNo::Accept),
        MORE => Ok(AnswerContent::Reply { decision: YesNo::Accept, rationale: None, modified_action: None }),
        "reject" => reply(form, YesNo::Reject),
        "respond" => response(form, language).map(|response| AnswerContent::Response { response, confidence: None }),
        _ => Err(QuestionError::NotAllowed),
    }
}

/// An optional reason. An approval stores its reason too.
pub(super) fn reason(form: &Form) -> Result<Option<String>, QuestionError> {
    let reason = unix_lines(form.field("reason"));
    match reason.chars().count() {
        0 => Ok(None),
        1..=LONGEST => Ok(Some(reason)),
        _ => Err(QuestionError::ReasonTooLong),
    }
}

fn reply(form: &Form, decision: YesNo) -> Result<AnswerContent, QuestionError> {
    Ok(AnswerContent::Reply { decision, rationale: reason(form)?, modified_action: None })
}

fn response(form: &Form, language: Language) -> Result<Value, QuestionError> {
    let said = form.field("response");
    let (kind, response) = match form.field("kind") {
        "freetext" => (ResponseKind::Freetext, text(said)),
        "numeric" => (ResponseKind::Numeric, number(said, language)),
        "yes_no" => (ResponseKind::YesNo, yes_or_no(said)),
        "multiple_choice" => {
            (ResponseKind::MultipleChoice, Some(said.to_owned()).filter(|s| !s.is_empty()).map(Value::String))
        }
        _ => return Err(QuestionError::NotAllowed),
    };
    response.ok_or(QuestionError::NoResponse(kind))
}

fn text(said: &str) -> Option<Value> {
    let said = unix_lines(said);
    (1..=LONGEST).contains(&said.chars().count()).then_some(Value::String(said))
}

/// A number in JSON syntax; in German with a decimal comma.
fn number(said: &str, language: Language) -> Option<Value> {
    let said = match language {
        Language::German if !said.contains('.') => said.trim().replacen(',', ".", 1),
        _ => said.trim().to_owned(),
    };
    serde_json::from_str(&said).ok().filter(Value::is_number)
}

fn yes_or_no(said: &str) -> Option<Value> {
    match said {
        "yes" => Some(Value::Bool(true)),
        "no" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// Browsers send line breaks as two characters.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}
