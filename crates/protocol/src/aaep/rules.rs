//! Rules across the members of one event, and rules that only the protocol's prose states.

use super::{problem::MemberProblem, shape::Stage};
use serde_json::{Map, Value};

const CONFIRMATION: &str = "aaep:agent.awaiting.confirmation";
const CLARIFICATION: &str = "aaep:agent.awaiting.clarification";
const CRITICAL: &[&str] = &["aaep:agent.session.errored", CONFIRMATION, CLARIFICATION, "aaep:agent.handoff.requested"];

/// The rules of one type beyond the shapes of its members.
pub(super) fn check(type_name: &str, event: &Map<String, Value>, found: &mut Vec<MemberProblem>) {
    // Must be explicit: the default would be normal (E-06).
    if CRITICAL.contains(&type_name) && event.get("urgency").is_none_or(|urgency| urgency != "critical") {
        found.push(MemberProblem::new("urgency", format!("must be critical for {type_name}")));
    }
    match type_name {
        CONFIRMATION => confirmation(event, found),
        CLARIFICATION => clarification(event, found),
        "aaep:agent.progress.updated" if event.get("progress") == Some(&Value::Object(Map::new())) => {
            found.push(MemberProblem::new(
                "progress",
                "must say at least one of percent, step, total_steps, description",
            ));
        }
        _ => {}
    }
}

fn confirmation(event: &Map<String, Value>, found: &mut Vec<MemberProblem>) {
    let Some(default) = event.get("default_decision") else { return };
    if default == "accept" && !may_default_to_accept(event) {
        found.push(MemberProblem::new("default_decision", "must be reject for an irreversible or high-risk action"));
    }
    let allowed = event.get("allowed_replies").and_then(Value::as_array);
    if allowed.is_some_and(|allowed| !allowed.contains(default)) {
        found.push(MemberProblem::new("default_decision", "must be one of allowed_replies"));
    }
}

/// Never for an irreversible action (C5), by either of the two members (E-05), or for high risk.
fn may_default_to_accept(event: &Map<String, Value>) -> bool {
    let says = |member: &str, what: Value| event.get(member) == Some(&what);
    let irreversible = says("irreversible", true.into()) || says("reversibility", "irreversible".into());
    !irreversible && !says("risk_level", "high".into())
}

/// Choices are required if and only if `multiple_choice` is accepted.
fn clarification(event: &Map<String, Value>, found: &mut Vec<MemberProblem>) {
    let kinds = event.get("accepted_response_kinds").and_then(Value::as_array);
    let chosen = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "multiple_choice"));
    match (chosen, event.contains_key("choices")) {
        (true, false) => found.push(MemberProblem::new("choices", "is required where multiple_choice is accepted")),
        (false, true) => {
            found.push(MemberProblem::new("choices", "needs multiple_choice among accepted_response_kinds"))
        }
        _ => {}
    }
}

/// Members of neither the envelope nor the payload. The published schemas allow them; the prose does not (C10).
pub(super) fn strays(known: impl Fn(&str) -> bool, event: &Map<String, Value>, stage: Stage) -> Vec<MemberProblem> {
    let tolerated = |name: &str| stage == Stage::Published && is_translation(name);
    event
        .keys()
        .filter(|name| !known(name) && !tolerated(name))
        .map(|name| MemberProblem::new(safe_name(name), why_stray(name)))
        .collect()
}

/// A summary in another language, as AAEP 11.5 writes it: accepted from an agent, and not forwarded (C9).
fn is_translation(name: &str) -> bool {
    let summaries = ["summary_terse_", "summary_normal_", "summary_detailed_"];
    let mut languages = summaries.iter().filter_map(|summary| name.strip_prefix(summary));
    languages.any(|language| super::ids::is_language_tag(&language.replace('_', "-")))
}

fn why_stray(name: &str) -> &'static str {
    match name {
        "@id" | "@graph" | "@base" | "@vocab" => "is a keyword that an event must not use",
        _ if name.starts_with("aaep_") => "is a name that the protocol keeps for itself",
        _ => "is not known there: it belongs into extra_context or a declared extension",
    }
}

/// A name safe to repeat in a message: short, and no misplaced credential.
fn safe_name(name: &str) -> String {
    if super::secrets::is_secret(name) { "a member".to_owned() } else { name.chars().take(64).collect() }
}
