//! Gaps in words, one fact per line.

use crate::{context::Context, failure::Failure, table::printable};
use countersign_protocol::clarification::{Gap, Operation, Severity, submission::CheckResponse};
use countersign_server::admin::clarification_rules::Finding;
use serde_json::to_value;

/// An open gap, of a session or of an offline check.
pub(super) struct OpenGapLine<'a> {
    /// Its number in a session, or the rule that found it.
    pub(super) name: &'a str,
    severity: Severity,
    field: &'a str,
    question: &'a str,
    context: &'a str,
    suggestions: &'a [String],
    exclusive: bool,
    blocks: &'a [Operation],
    person: bool,
}

impl<'a> OpenGapLine<'a> {
    pub(super) fn of_rules(found: &'a Finding) -> Self {
        Self {
            name: &found.rule,
            severity: found.severity,
            field: &found.field,
            question: &found.question,
            context: &found.context,
            suggestions: &found.suggestions,
            exclusive: found.exclusive,
            blocks: &found.blocked,
            person: found.person == Some(true),
        }
    }

    pub(super) fn of_session(gap: &'a Gap) -> Self {
        Self {
            name: &gap.id,
            severity: gap.severity,
            field: &gap.field,
            question: &gap.question,
            context: &gap.context,
            suggestions: &gap.suggestions,
            exclusive: gap.suggestions_exclusive,
            blocks: &gap.blocked_operations,
            person: gap.person_must_answer,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut lines = vec![
            format!("{} {} at {}", self.name, severity(self.severity), self.field),
            format!("  {}", self.question),
            format!("  Why: {}", self.context),
        ];
        if !self.suggestions.is_empty() {
            let only = if self.exclusive { " (nothing else is an answer)" } else { "" };
            lines.push(format!("  Suggestions: {}{only}", self.suggestions.join(", ")));
        }
        let blocks: Vec<&str> = self.blocks.iter().map(|operation| operation.as_str()).collect();
        lines.push(format!("  Stops: {}", blocks.join(", ")));
        if self.person {
            lines.push("  A person must answer.".into());
        }
        lines.iter().map(|line| printable(line) + "\n").collect()
    }
}

/// All gaps, with an empty line before each.
pub(super) fn all<'a>(open: impl Iterator<Item = OpenGapLine<'a>>) -> String {
    open.map(|gap| format!("\n{}", gap.text())).collect()
}

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => "BLOCK",
        Severity::Warn => "WARN",
    }
}

/// `2 gaps block, 1 warns`
pub(super) fn counted(blocking: u64, warning: u64) -> String {
    let part = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 gap {one}")),
        n => Some(format!("{n} gaps {many}")),
    };
    let parts = [part(blocking, "blocks", "block"), part(warning, "warns", "warn")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Prints the state of a session. Ends with 1 while a gap is open.
pub(super) fn print_state(response: &CheckResponse, json: bool, context: &Context) -> Result<(), Failure> {
    let session = &response.session_id;
    if json {
        context.say_json(&to_value(response).map_err(|why| Failure::new(why.to_string()))?)?;
    } else if response.gaps.is_empty() {
        context.say(&format!("session {session} is ready: no gap is open\n"))?;
    } else {
        let counted = counted(response.blocking_count, response.warning_count);
        let gaps = all(response.gaps.iter().map(OpenGapLine::of_session));
        let next = format!("\nanswer with: countersign clarify resolve {session} GAP ANSWER\n");
        context.say(&format!("session {session} needs clarification: {counted}\n{gaps}{next}"))?;
    }
    if response.gaps.is_empty() { Ok(()) } else { Err(Failure::told()) }
}
