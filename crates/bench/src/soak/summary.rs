//! The meaning of a gateway response for its caller: whether the request ran, did not run, or may have run.

use super::{
    http::{Answer, NoAnswer},
    record::ReportedResult,
};
use serde_json::Value;

/// The meaning, and a short name of the response.
pub(super) fn classify(answer: &Result<Answer, NoAnswer>) -> (ReportedResult, String) {
    match answer {
        Err(why @ NoAnswer::NotSent(_)) => (ReportedResult::Denied, why.to_string()),
        Err(why @ NoAnswer::Lost(_)) => (ReportedResult::InDoubt, why.to_string()),
        Ok(answer) => {
            let body = answer.json();
            let is_refusal = body["error"].is_string() && body["request_id"].is_string();
            if is_refusal { refusal(answer.status, &body) } else { from_upstream(answer, &body) }
        }
    }
}

/// A refusal of the gateway's own.
fn refusal(status: u16, body: &Value) -> (ReportedResult, String) {
    let (code, description) = (text(body, "error"), text(body, "error_description"));
    let told = match code {
        "irreversible_requires_confirm" => ReportedResult::Held,
        _ if description.contains("may have") => ReportedResult::InDoubt,
        _ if status == 409 => ReportedResult::Conflict,
        _ => ReportedResult::Denied,
    };
    (told, format!("{status} {code}: {description}"))
}

/// A forwarded upstream response.
fn from_upstream(answer: &Answer, body: &Value) -> (ReportedResult, String) {
    let manner = text(body, "upstream");
    let told = match answer.status {
        ..400 if answer.is_whole => ReportedResult::Ran,
        ..400 => ReportedResult::InDoubt,
        // The upstream itself stated that nothing happened.
        503 if manner == "503 without effect" => ReportedResult::Denied,
        _ => ReportedResult::InDoubt,
    };
    (told, format!("{} from the upstream: {manner}", answer.status))
}

fn text<'a>(body: &'a Value, name: &str) -> &'a str {
    body[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
