//! The story of a bundle in plain sentences, each with the leaf that proves it.
//!
//! Sentences come from a table of templates, so a second implementation tells the same story. A template is a list of
//! clauses; a clause is left out if the leaf has not all the members that it names. What a leaf commits to and the bundle does
//! not open reads `[erased]` or `[withheld]`.

use super::Document;
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest value that is told, in characters.
const LONGEST: usize = 2_000;
/// The longest value that is told without quotes.
const LONGEST_WORD: usize = 200;

/// A sentence, and the indexes of the leaves in the log that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    pub leaves: Vec<u64>,
}

/// A leaf whose place and openings are proven.
pub(super) struct ReadLeaf {
    pub index: u64,
    pub event_type: String,
    pub timestamp: String,
    pub members: BTreeMap<String, Member>,
}

pub(super) enum Member {
    Known(Value),
    Erased,
    Withheld,
}

/// The clauses of each type of entry.
pub const TEMPLATES: &[(&str, &[&str])] = &[
    ("agent_registered", &["The agent of {operator} was registered"]),
    ("allowance_cancelled", &["The approval was cancelled", ", for: {cancelled_for}"]),
    ("allowance_lapsed", &["The approval lapsed without being used"]),
    ("auto_revoked", &["The service ended the delegation {delegation_id} by itself", ", for: {reason}"]),
    (
        "call",
        &[
            "A call of the agent ended",
            ": {method} {path}",
            ", action {action}",
            ", for {acting_for}",
            ", outcome {outcome}",
            ", effect {effect}",
        ],
    ),
    ("call_settled", &["The outcome of the call {call_id} was established", ": {outcome}"]),
    (
        "call_started",
        &["A call of the agent was let through to the upstream", ": {method} {path}", ", action {action}"],
    ),
    ("clarification_abandoned", &["The clarification was abandoned"]),
    (
        "clarification_answered",
        &["A question about the plan was answered", ": {question}", ", answer {answer}", ", given by {given_by}"],
    ),
    ("clarification_checked", &["The agent's plan was checked", ", gaps left open: {open_gaps}"]),
    ("clarification_confirmed", &["The clarified plan was confirmed"]),
    ("clarification_expired", &["The clarification expired"]),
    ("clarification_opened", &["The agent submitted a plan to be clarified", ", SHA-256 {plan_sha256}"]),
    ("decision_extended", &["More time was given for the question", ", by {extended_by}", ", until {deadline}"]),
    ("decision_governed", &["The question was locked or released by a governor", ", by {decided_by}"]),
    (
        "decision_raised",
        &[
            "A question was put to the people who may decide",
            ", as {kind}",
            ", worded by the {words}",
            ": {action}",
            ": {question}",
            ", consequence {consequence}",
            ", tool {tool}",
            ", operator {operator}",
            ", irreversible {irreversible}",
            ", least proof demanded {assurance_floor}",
        ],
    ),
    (
        "decision_settled",
        &[
            "The question ended as {state}",
            ", decided by {decided_by}",
            ", in the role {role}",
            ", over {via}",
            ", proven by {assurance}",
            " ({proven_by}, {proven_seconds_before} seconds before)",
            ", reason {reason}",
            ", response {response}",
            ", because of {cancelled_for}",
            ", as if the answer were {expired_as}",
            ", answered by a person {answered}",
        ],
    ),
    (
        "delegation_granted",
        &[
            "The delegation {delegation_id} was given",
            " to {operator}",
            " by {acting_for}",
            " for the service account {account_id}",
            ", scopes {scopes}",
            ", after a disclosure with SHA-256 {shown_sha256}",
            " in {shown_language}",
        ],
    ),
    ("delegation_lifted", &["The suspension of the delegation {delegation_id} was lifted"]),
    ("delegation_revoked", &["The delegation {delegation_id} was revoked", " by the {by}", ", reason {reason}"]),
    ("delegation_suspended", &["The delegation {delegation_id} was suspended"]),
    (
        "execution_claimed",
        &[
            "The approval was claimed as {execution_id}",
            ", as the call {call_id}",
            ", approved by {approved_by}",
            ", for the request with SHA-256 {request_sha256}",
            ", uses left {uses_left}",
        ],
    ),
    ("execution_conflict", &["A later observation of {execution_id} contradicts the finding", ": {outcome}"]),
    ("execution_probe_ended", &["The upstream was asked about {execution_id} for the last time"]),
    (
        "execution_settled",
        &[
            "The execution {execution_id} ended as {outcome}",
            ", reported by {reported_by}",
            ", by {reconciled_by}",
            ", reason {reason}",
        ],
    ),
    ("execution_unknown", &["The outcome of the execution {execution_id} became unknown"]),
    ("log_key_added", &["The log got a new key"]),
    ("person_erased", &["Records about a person were erased", ", by {by}"]),
    ("session_cancelled", &["The session was cancelled", " by the {by}", ", reason {reason}"]),
    (
        "session_started",
        &[
            "The agent of {operator} opened a session",
            " for {acting_for}",
            " for the service account {account_id}",
            ", under the delegation {delegation_id}",
            ", with a consent receipt with SHA-256 {receipt_sha256}",
            ", signed with the operator's key {operator_kid}",
        ],
    ),
    ("task_completed", &["The agent reported its task as completed"]),
    ("undo_window_opened", &["The call was held for its undo window", ", until {closes_at}"]),
];

/// The sentences of all leaves in the log's order, then those about several leaves.
pub(super) fn of(leaves: &[ReadLeaf]) -> Vec<Sentence> {
    leaves.iter().map(sentence).chain(leaves.iter().filter_map(|claim| same_request(claim, leaves))).collect()
}

fn sentence(leaf: &ReadLeaf) -> Sentence {
    let clauses = TEMPLATES.iter().find(|(event_type, _)| *event_type == leaf.event_type);
    let told = match clauses {
        Some((_, clauses)) => clauses.iter().filter_map(|clause| filled(clause, &leaf.members)).collect(),
        None => format!("An entry of the type {} was recorded", shown_text(&leaf.event_type)),
    };
    Sentence { text: format!("{}: {told}.", shown_text(&leaf.timestamp)), leaves: Vec::from([leaf.index]) }
}

/// None if the leaf has not all the members.
fn filled(clause: &str, members: &BTreeMap<String, Member>) -> Option<String> {
    let mut told = String::new();
    let mut rest = clause;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        told.push_str(before);
        told.push_str(&match members.get(name)? {
            Member::Known(value) => shown(value),
            Member::Erased => "[erased]".to_owned(),
            Member::Withheld => "[withheld]".to_owned(),
        });
        rest = after;
    }
    Some(told + rest)
}

/// Compares the digest of a claimed request with that of its question.
fn same_request(claim: &ReadLeaf, leaves: &[ReadLeaf]) -> Option<Sentence> {
    if claim.event_type != "execution_claimed" {
        return None;
    }
    let decision = claim.text("decision_id")?;
    let raised = leaves
        .iter()
        .find(|leaf| leaf.event_type == "decision_raised" && leaf.text("decision_id") == Some(decision))?;
    let text = match claim.text("request_sha256")? == raised.text("action_sha256")? {
        true => "The claimed request is exactly the one that the question was about: both entries have its digest.",
        false => {
            "The claimed request is not the one of the question itself: it was allowed by a standing approval or a plan."
        }
    };
    Some(Sentence { text: text.to_owned(), leaves: Vec::from([raised.index, claim.index]) })
}

impl ReadLeaf {
    fn text(&self, name: &str) -> Option<&str> {
        match self.members.get(name)? {
            Member::Known(value) => value.as_str(),
            Member::Erased | Member::Withheld => None,
        }
    }
}

pub(super) fn of_document(document: &Document) -> Sentence {
    let Document { leaf, member, text } = document;
    let text = format!("The document of {} bytes is the text with the digest {}.", text.len(), shown_text(member));
    Sentence { text, leaves: Vec::from([*leaf]) }
}

/// A value that cannot pass for our words: quoted unless it is a plain word.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shown_text(text),
        Value::Bool(bool) => bool.to_string(),
        Value::Null => "null".to_owned(),
        Value::Number(number) if number.as_i64().is_some_and(|number| number.unsigned_abs() < 1 << 53) => {
            number.to_string()
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().map(shown).collect::<Vec<_>>().join(", ")
        }
        Value::Number(_) | Value::Array(_) | Value::Object(_) => "(a structured value)".to_owned(),
    }
}

fn shown_text(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._:@/+-".contains(letter);
    if !text.is_empty() && text.len() <= LONGEST_WORD && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("“");
    for (number, letter) in text.chars().enumerate() {
        match letter {
            _ if number == LONGEST => {
                quoted.push('…');
                break;
            }
            _ if is_hidden(letter) => quoted.push_str(&format!("[U+{:04X}]", u32::from(letter))),
            _ => quoted.push(letter),
        }
    }
    quoted + "”"
}

/// Control, invisible and bidirectional characters, and our own quotes.
fn is_hidden(letter: char) -> bool {
    matches!(u32::from(letter),
        0..0x20 | 0x7F..=0x9F | 0xAD | 0x61C | 0x200B..=0x200F | 0x201C..=0x201D | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}
