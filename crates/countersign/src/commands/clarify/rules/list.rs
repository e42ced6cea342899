//! `countersign clarify rules list`

use super::super::{gap_lines::severity, source};
use crate::{context::Context, failure::Failure, table::Table};
use countersign_protocol::clarification::{
    ClarificationPolicy, Rule, RuleCase, Severity,
    rules::{LooksFor, Pair},
};
use countersign_server::admin::clarification_rules::{Rules, in_force};
use serde_json::to_value;
use std::path::PathBuf;

/// List the rules in force, including the built-in ones unless a file switches them off
#[derive(Debug, clap::Args)]
pub(in super::super) struct Arguments {
    /// A project's document, or only the members of [clarification]. Without it: the built-in rules.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, json: bool, context: &Context) -> Result<(), Failure> {
    let file = arguments.file.as_deref();
    let policy = source::policy(file)?;
    source::compiled(file, &policy)?;
    let rules: Vec<&Rule> = in_force(&policy).collect();
    if json {
        return context.say_json(&to_value(&rules).map_err(|why| Failure::new(why.to_string()))?);
    }
    context.list(&Table {
        head: ["rule", "severity", "kind", "looks at", "cases"],
        rows: rules.iter().map(|rule| row(rule, cases(&rule.id, &policy))).collect(),
        none: "there are no rules: every plan is clear",
    })
}

fn row(rule: &Rule, cases: usize) -> [String; 5] {
    let (kind, looks_at) = looks(&rule.looks_for);
    let severity = severity(rule.severity.unwrap_or(usual(&rule.looks_for))).to_owned();
    [rule.id.clone(), severity, kind.to_owned(), looks_at, cases.to_string()]
}

/// Number of cases in which the rule finds a gap.
fn cases(rule: &str, policy: &ClarificationPolicy) -> usize {
    let built_in = if policy.pack { Rules::built_in_cases() } else { &[] };
    let shows = |case: &&RuleCase| case.gaps.iter().any(|gap| gap.rule == rule);
    policy.cases.iter().chain(built_in).filter(shows).count()
}

/// The default severity of a rule.
fn usual(looks_for: &LooksFor) -> Severity {
    match looks_for {
        LooksFor::Overlap { .. } | LooksFor::Layout { .. } => Severity::Warn,
        _ => Severity::Block,
    }
}

fn looks(looks_for: &LooksFor) -> (&'static str, String) {
    match looks_for {
        LooksFor::Required { field } => ("required", field.clone()),
        LooksFor::Ambiguous { fields, .. } => ("ambiguous", fields.join(", ")),
        LooksFor::Overlap { field, pairs, .. } => ("overlap", format!("{field}: {}", in_words(pairs))),
        LooksFor::Mismatch { fields, .. } => ("mismatch", fields.join(", ")),
        LooksFor::Layout { field, layout, .. } => ("layout", format!("{field}: {layout}")),
        LooksFor::Input { field, needs, .. } => ("input", format!("{field}: {}", needs.join(", "))),
    }
}

fn in_words(pairs: &[Pair]) -> String {
    let pairs = pairs.iter().map(|pair| format!("{} with {}", pair.selected, pair.overlaps));
    pairs.collect::<Vec<_>>().join(", ")
}
