//! Approvals of objects other than plans: a Context, a Trace, an extension or anything else (MPLP 2.3).

use crate::{
    bounded::Arguments,
    held::{of_arguments, shown},
    records::Confirmation,
};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    mplp::{ConfirmSubmission, TargetType},
};
use serde_json::{Map, Value, json};

/// The target with its document, if it was submitted. The approval covers exactly this.
pub fn arguments(submission: &ConfirmSubmission) -> Map<String, Value> {
    let said = &submission.confirm;
    let mut arguments = Map::new();
    arguments.insert("target_type".into(), json!(said.target_type));
    arguments.insert("target_id".into(), json!(said.target_id));
    arguments.extend(submission.target.as_ref().map(|target| ("target".to_owned(), json!(target))));
    arguments
}

/// The agent's own text, unverified.
pub fn question(submission: &ConfirmSubmission, tool: String) -> Confirmation {
    let said = &submission.confirm;
    let what = word(said.target_type);
    let action = match &said.reason {
        Some(reason) => format!("Approve {what} {}: {reason}", said.target_id),
        None => format!("Approve {what} {}", said.target_id),
    };
    let consequence = match said.target_type {
        TargetType::Context => "The agent may then make this change to its context, once.",
        TargetType::Trace => "The agent may then keep this record, once.",
        TargetType::Extension => "The agent may then install this extension, once.",
        TargetType::Plan | TargetType::Other => "The agent may then do this, once.",
    };
    let shorten = |text: &str| shown(text, 1000);
    Confirmation {
        summaries: Summaries::normal(shorten(&format!("{action}. {consequence}"))),
        action: shorten(&action),
        consequence: consequence.into(),
        extra_context: submission.target.as_ref().map(|target| Map::from_iter([("target".to_owned(), json!(target))])),
        allowed_replies: vec![YesNo::Accept, YesNo::Reject],
        tool,
        details: Some(of_arguments(Arguments::of_tool(&arguments(submission)).root())),
        facts: Box::default(),
    }
}

pub fn word(target_type: TargetType) -> &'static str {
    match target_type {
        TargetType::Context => "context",
        TargetType::Plan => "plan",
        TargetType::Trace => "trace",
        TargetType::Extension => "extension",
        TargetType::Other => "other",
    }
}
