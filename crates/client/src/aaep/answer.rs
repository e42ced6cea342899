//! A person's answer and its reply: the token is echoed byte for byte, only in the reply's body (AAEP 6.2.3, 6.3, 6.5).

use super::question::{Asks, ReceivedQuestion};
use countersign_protocol::{
    aaep::{
        event::{Choice, ResponseKind, YesNo},
        problem::MemberProblem,
        reply::{self, ClarificationReply, ConfirmationReply, Reply, Response},
    },
    time::UnixMillis,
};
use serde_json::{Number, Value};

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Approve { rationale: Option<String> },
    Reject { reason: Option<String> },
    Response(Response),
}

/// Why an input does not answer a question. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAnswer {
    #[error("the time to answer is over")]
    TooLate,
    #[error("this question takes approve or reject")]
    ApproveOrReject,
    #[error("this question does not allow {0}")]
    NotAllowed(&'static str),
    #[error("this question takes {0}")]
    OtherKind(String),
    #[error("the answer cannot be sent: {0}")]
    Unsendable(#[from] MemberProblem),
}

impl ReceivedQuestion {
    /// Parses a person's input as an answer to this question. A choice may be named by its number, its value or its
    /// label.
    pub fn read_answer(&self, typed: &str) -> Result<Answer, NotAnAnswer> {
        let typed = typed.trim();
        let Asks::Clarification(asked) = self.request() else {
            return match approval(typed).or_else(|| yes_or_no(typed)) {
                Some(true) => Ok(Answer::Approve { rationale: None }),
                Some(false) => Ok(Answer::Reject { reason: None }),
                None => Err(NotAnAnswer::ApproveOrReject),
            };
        };
        let takes = |kind| self.kinds().contains(&kind);
        let choices = asked.choices.as_deref().filter(|_| takes(ResponseKind::MultipleChoice)).unwrap_or_default();
        let number = number(typed).filter(|_| takes(ResponseKind::Numeric));
        let response = choice_by_name(choices, typed).map(|choice| Response::Text(choice.value.clone()));
        let response = response
            .or_else(|| yes_or_no(typed).filter(|_| takes(ResponseKind::YesNo)).map(Response::Bool))
            .or_else(|| number.map(Response::Number))
            .or_else(|| choice_by_number(choices, typed).map(|choice| Response::Text(choice.value.clone())))
            .or_else(|| freetext(typed).filter(|_| takes(ResponseKind::Freetext)).map(Response::Text));
        response.map(Answer::Response).ok_or_else(|| self.wrong_kind())
    }

    /// The reply message for an answer, checked against the closed schema before it is sent (AAEP 6).
    pub(super) fn reply(&self, answer: &Answer, subscription_id: &str, now: UnixMillis) -> Result<Value, NotAnAnswer> {
        if now >= self.deadline() {
            return Err(NotAnAnswer::TooLate);
        }
        let reply = match (self.request(), answer) {
            (Asks::Confirmation(_), Answer::Approve { rationale }) => {
                self.confirmation(YesNo::Accept, rationale.as_ref(), subscription_id, now)?
            }
            (Asks::Confirmation(_), Answer::Reject { reason }) => {
                self.confirmation(YesNo::Reject, reason.as_ref(), subscription_id, now)?
            }
            (Asks::Clarification(_), Answer::Response(response)) => {
                self.clarification(response, subscription_id, now)?
            }
            (Asks::Confirmation(_), Answer::Response(_)) => return Err(NotAnAnswer::ApproveOrReject),
            (Asks::Clarification(_), _) => return Err(self.wrong_kind()),
        };
        let message =
            serde_json::to_value(&reply).map_err(|_| MemberProblem::new("message", "could not be written"))?;
        reply::parse(&message, false)?;
        Ok(message)
    }

    fn confirmation(
        &self,
        decision: YesNo,
        why: Option<&String>,
        subscription_id: &str,
        timestamp: UnixMillis,
    ) -> Result<Reply, NotAnAnswer> {
        if !self.allows(decision) {
            return Err(NotAnAnswer::NotAllowed(if decision == YesNo::Accept { "an approval" } else { "a rejection" }));
        }
        Ok(Reply::Confirmation(ConfirmationReply {
            reply_token: self.token().reveal().to_owned(),
            decision,
            subscription_id: Some(subscription_id.to_owned()),
            timestamp,
            decided_by: None,
            decision_rationale: why.filter(|why| !why.trim().is_empty()).cloned(),
            modified_action: None,
            correlation_id: None,
        }))
    }

    fn clarification(
        &self,
        response: &Response,
        subscription_id: &str,
        timestamp: UnixMillis,
    ) -> Result<Reply, NotAnAnswer> {
        if !self.accepts(response) {
            return Err(self.wrong_kind());
        }
        Ok(Reply::Clarification(ClarificationReply {
            reply_token: self.token().reveal().to_owned(),
            response: response.clone(),
            subscription_id: Some(subscription_id.to_owned()),
            timestamp,
            decided_by: None,
            confidence: None,
            correlation_id: None,
        }))
    }

    /// An answer of another kind would count as no reply at all (AAEP 6.5.5).
    fn accepts(&self, response: &Response) -> bool {
        let Asks::Clarification(asked) = self.request() else { return false };
        let offered = |text: &str| asked.choices.iter().flatten().any(|choice| choice.value == text);
        self.kinds().iter().any(|kind| match (kind, response) {
            (ResponseKind::Freetext, Response::Text(_))
            | (ResponseKind::YesNo, Response::Bool(_))
            | (ResponseKind::Numeric, Response::Number(_)) => true,
            (ResponseKind::MultipleChoice, Response::Text(text)) => offered(text),
            _ => false,
        })
    }

    fn wrong_kind(&self) -> NotAnAnswer {
        NotAnAnswer::OtherKind(self.kinds().iter().map(expected_form).collect::<Vec<_>>().join(", or "))
    }
}

/// The expected form of an answer, as text for the person.
pub fn expected_form(kind: &ResponseKind) -> &'static str {
    match kind {
        ResponseKind::Freetext => "a text",
        ResponseKind::YesNo => "yes or no",
        ResponseKind::MultipleChoice => "one of its choices",
        ResponseKind::Numeric => "a number",
    }
}

/// Only a confirmation takes these words: a yes-or-no question may be about something else.
fn approval(typed: &str) -> Option<bool> {
    match typed.to_lowercase().as_str() {
        "approve" => Some(true),
        "reject" => Some(false),
        _ => None,
    }
}

fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.to_lowercase().as_str() {
        "yes" | "y" | "true" | "ja" | "j" => Some(true),
        "no" | "n" | "false" | "nein" => Some(false),
        _ => None,
    }
}

fn number(typed: &str) -> Option<Number> {
    let fraction = || typed.parse::<f64>().ok().filter(|number| number.is_finite()).and_then(Number::from_f64);
    typed.parse::<i64>().ok().map(Number::from).or_else(fraction)
}

fn freetext(typed: &str) -> Option<String> {
    (!typed.is_empty()).then(|| typed.to_owned())
}

fn choice_by_name<'c>(choices: &'c [Choice], typed: &str) -> Option<&'c Choice> {
    let same = |choice: &&Choice| choice.label.to_lowercase() == typed.to_lowercase();
    choices.iter().find(|choice| choice.value == typed).or_else(|| choices.iter().find(same))
}

fn choice_by_number<'c>(choices: &'c [Choice], typed: &str) -> Option<&'c Choice> {
    choices.get(typed.parse::<usize>().ok()?.checked_sub(1)?)
}

#[cfg(test)]
mod tests;
