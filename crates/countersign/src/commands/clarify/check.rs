//! `countersign clarify check PLAN`: checks a plan against the rules, like a linter.

use super::{
    gap_lines::{self, OpenGapLine},
    rules,
};
use crate::{commands::documents, context::Context, failure::Failure};
use countersign_protocol::clarification::{Severity, Status};
use countersign_server::admin::clarification_rules::Finding;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Find the gaps in a plan, without a service. Nothing is sent or signed
///
/// Ends with 0 when the rules find nothing, with 1 when the plan needs clarification, with 2 when it could not be
/// checked.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan as JSON, or - for standard input.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// Use the rules of this file: a project's document, or only the members of [clarification]. Without it: the
    /// built-in rules.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, json: bool, context: &Context) -> Result<(), Failure> {
    let file = arguments.rules.as_deref();
    let rules = rules::compiled(file, &rules::policy(file)?)?;
    let plan = Value::Object(documents::plan_object(&arguments.plan)?);
    let found = rules.findings(&plan).map_err(|why| Failure::new(why.to_string()))?;
    if json {
        context.say_json(&as_json(&found))?;
    } else {
        context.say(&text(&arguments.plan, &found))?;
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::told()) }
}

fn text(plan: &Path, found: &[Finding]) -> String {
    let plan = plan.display();
    if found.is_empty() {
        return format!("{plan} is ready: the rules find no gap\n");
    }
    let counted = gap_lines::counted(count(found, Severity::Block), count(found, Severity::Warn));
    format!("{plan} needs clarification: {counted}\n{}", gap_lines::all(found.iter().map(OpenGapLine::of_rules)))
}

/// The members of a gap, except for the number that a session would give it.
fn as_json(found: &[Finding]) -> Value {
    let status = if found.is_empty() { Status::ReadyToProceed } else { Status::NeedsClarification };
    json!({
        "status": status,
        "gaps": found.iter().map(gap).collect::<Value>(),
        "blocking_count": count(found, Severity::Block),
        "warning_count": count(found, Severity::Warn),
    })
}

fn gap(found: &Finding) -> Value {
    json!({
        "rule": found.rule,
        "field": found.field,
        "pointer": found.pointer,
        "severity": found.severity,
        "question": found.question,
        "context": found.context,
        "suggestions": found.suggestions,
        "suggestions_exclusive": found.exclusive,
        "blocked_operations": found.blocked,
        "person_must_answer": found.person,
    })
}

fn count(found: &[Finding], severity: Severity) -> u64 {
    found.iter().filter(|found| found.severity == severity).count() as u64
}
