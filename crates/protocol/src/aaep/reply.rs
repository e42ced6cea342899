//! The two replies of a person (AAEP 6.3, 6.5). Closed objects.

use super::{
    event::YesNo,
    members,
    problem::MemberProblem,
    shape::{self, ShapeMember, Stage},
};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Reply {
    #[serde(rename = "confirmation.reply")]
    Confirmation(ConfirmationReply),
    #[serde(rename = "clarification.reply")]
    Clarification(ClarificationReply),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfirmationReply {
    pub reply_token: String,
    pub decision: YesNo,
    /// Absent only on the legacy paths, whose clients have no subscription (C15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<String>,
    /// The decision time stated by the sender.
    #[serde(with = "moment")]
    pub timestamp: UnixMillis,
    /// The decider stated by the sender. The authenticated decider is known from the transport (E-02).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_rationale: Option<String>,
    /// A proposed alternative, which makes the whole reply a rejection (AAEP 6.3.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_action: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationReply {
    pub reply_token: String,
    pub response: Response,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<String>,
    #[serde(with = "moment")]
    pub timestamp: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// An answer. The question decides whether it accepts this kind (AAEP 6.5.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Response {
    Bool(bool),
    Number(Number),
    Text(String),
}

/// Reads a reply by its closed schema. The refusal depends on the message alone, never on the target of its token (C4).
///
/// With `legacy`, a missing or malformed `subscription_id` is ignored: the owner of the request path is the sender.
pub fn parse(value: &Value, legacy: bool) -> Result<Reply, MemberProblem> {
    let Some(reply) = value.as_object() else { return Err(MemberProblem::new("message", "must be an object")) };
    let members = match reply.get("type").and_then(Value::as_str) {
        Some("confirmation.reply") => members::CONFIRMATION_REPLY,
        Some("clarification.reply") => members::CLARIFICATION_REPLY,
        _ => return Err(MemberProblem::new("type", "must be confirmation.reply or clarification.reply")),
    };
    let found = problems(members, reply);
    let excused = |problem: &MemberProblem| legacy && problem.member == "subscription_id";
    if let Some(problem) = found.iter().find(|problem| !excused(problem)) {
        return Err(problem.clone());
    }
    let mut reply = reply.clone();
    if found.iter().any(excused) {
        reply.remove("subscription_id");
    }
    serde_json::from_value(Value::Object(reply)).map_err(|_| MemberProblem::new("message", "could not be read"))
}

fn problems(members: &[ShapeMember], reply: &Map<String, Value>) -> Vec<MemberProblem> {
    let mut found = Vec::new();
    shape::check(members, reply, Stage::Emitted, &mut found);
    if reply.keys().any(|name| members.iter().all(|member| member.name != name)) {
        found.push(MemberProblem::new("message", "has a member that a reply of its type does not have"));
    }
    found
}

impl Reply {
    pub fn reply_token(&self) -> &str {
        match self {
            Self::Confirmation(reply) => &reply.reply_token,
            Self::Clarification(reply) => &reply.reply_token,
        }
    }

    pub fn subscription_id(&self) -> Option<&str> {
        match self {
            Self::Confirmation(reply) => reply.subscription_id.as_deref(),
            Self::Clarification(reply) => reply.subscription_id.as_deref(),
        }
    }

    pub fn timestamp(&self) -> UnixMillis {
        match self {
            Self::Confirmation(reply) => reply.timestamp,
            Self::Clarification(reply) => reply.timestamp,
        }
    }

    pub fn decided_by(&self) -> Option<&str> {
        match self {
            Self::Confirmation(reply) => reply.decided_by.as_deref(),
            Self::Clarification(reply) => reply.decided_by.as_deref(),
        }
    }

    pub fn correlation_id(&self) -> Option<&str> {
        match self {
            Self::Confirmation(reply) => reply.correlation_id.as_deref(),
            Self::Clarification(reply) => reply.correlation_id.as_deref(),
        }
    }
}

/// Written with milliseconds as in events; read in any precision.
mod moment {
    use super::super::{envelope, ids};
    use crate::time::UnixMillis;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(at: &UnixMillis, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&envelope::timestamp(*at))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<UnixMillis, D::Error> {
        let text = String::deserialize(from)?;
        ids::parse_date_time(&text).ok_or_else(|| D::Error::custom("not an RFC 3339 date-time"))
    }
}

#[cfg(test)]
mod tests;
