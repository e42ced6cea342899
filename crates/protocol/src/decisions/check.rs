//! Validates a question as the event that it becomes, so that raising it here and publishing the event follow the same
//! rules (AAEP 3.9).

use super::{ClarificationRequest, ConfirmationRequest};
use crate::aaep::{
    event::YesNo,
    ingest::{self, MemberProblem},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Members of these bodies that no event has.
const NOT_IN_THE_EVENT: [&str; 6] =
    ["tool", "arguments", "language", "session_id", "idempotency_key", "clarification_session_id"];
const MAX_KEY: usize = 256;

impl ConfirmationRequest {
    /// Every problem of the request itself, regardless of the project's policy.
    pub fn problems(&self) -> Vec<MemberProblem> {
        let mut event = event("aaep:agent.awaiting.confirmation", self, self.language.as_deref());
        event.entry("timeout_seconds").or_insert(json!(1));
        event.entry("default_decision").or_insert_with(|| json!(self.fallback()));
        let mut found = judged(event);
        check_key("idempotency_key", self.idempotency_key.as_deref(), 1, &mut found);
        check_key("correlation_id", self.correlation_id.as_deref(), 0, &mut found);
        self.tool.iter().for_each(|tool| check_tool(tool, &mut found));
        found
    }

    /// Placeholder for the default that policy will set: one of the allowed replies, rejection if possible.
    fn fallback(&self) -> YesNo {
        match self.allowed_replies.as_deref() {
            Some([YesNo::Accept]) => YesNo::Accept,
            _ => YesNo::Reject,
        }
    }
}

impl ClarificationRequest {
    /// Every problem of the request itself.
    pub fn problems(&self) -> Vec<MemberProblem> {
        let mut event = event("aaep:agent.awaiting.clarification", self, self.language.as_deref());
        event.entry("timeout_seconds").or_insert(json!(1));
        let mut found = judged(event);
        check_key("idempotency_key", self.idempotency_key.as_deref(), 1, &mut found);
        check_key("correlation_id", self.correlation_id.as_deref(), 0, &mut found);
        found
    }
}

/// The agent's part of the event.
fn event(type_name: &str, body: &impl Serialize, language: Option<&str>) -> Map<String, Value> {
    let Ok(Value::Object(mut event)) = serde_json::to_value(body) else { return Map::new() };
    event.retain(|name, _| !NOT_IN_THE_EVENT.contains(&name.as_str()));
    event.insert("type".into(), json!(type_name));
    event.insert("urgency".into(), json!("critical"));
    if let Some(language) = language {
        event.insert("localization_hints".into(), json!({ "primary_language": language }));
    }
    event
}

fn judged(event: Map<String, Value>) -> Vec<MemberProblem> {
    let found = ingest::published(&Value::Object(event)).err().unwrap_or_default();
    found.into_iter().map(as_sent).collect()
}

/// Names a member as in the body.
fn as_sent(problem: MemberProblem) -> MemberProblem {
    match problem.member.as_str() {
        "localization_hints.primary_language" => MemberProblem::new("language", problem.why),
        "event" => MemberProblem::new("the question", problem.why),
        _ => problem,
    }
}

/// A running tool is announced by its name, so the name must be valid in that event.
fn check_tool(tool: &str, found: &mut Vec<MemberProblem>) {
    let announced = json!({ "type": "aaep:agent.tool.invoked", "tool": tool, "summary_normal": "it runs" });
    found.extend(ingest::published(&announced).err().unwrap_or_default());
}

fn check_key(name: &str, key: Option<&str>, least: usize, found: &mut Vec<MemberProblem>) {
    if key.is_some_and(|key| !(least..=MAX_KEY).contains(&key.chars().count())) {
        found.push(MemberProblem::new(name, format!("must be a text of {least} to {MAX_KEY} characters")));
    }
}

#[cfg(test)]
mod tests;
