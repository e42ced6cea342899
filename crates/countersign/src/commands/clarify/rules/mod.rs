//! `countersign clarify rules …`: the rules of a file or the built-in ones, and their test cases.

mod test;

use super::gap_lines::severity;
use crate::{context::Context, failure::Failure, table::Table};
use clap::Subcommand;
use countersign_protocol::clarification::{
    ClarificationPolicy, Rule, RuleCase, Severity,
    rules::{LooksFor, Pair},
};
use countersign_server::{
    admin::clarification_rules::{Rules, in_force},
    config::project_file,
};
use serde_json::to_value;
use std::path::{Path, PathBuf};

/// List rules that find gaps, and run their test cases
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Test(test::Arguments),
    /// List the rules in force, including the built-in ones unless a file switches them off
    List {
        /// A project's document, or only the members of [clarification]. Without it: the built-in rules.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

pub(super) fn run(command: &Command, json: bool, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Test(arguments) => test::run(arguments, json, context),
        Command::List { file } => list(file.as_deref(), json, context),
    }
}

/// The policy of a file; without one, the default policy of a project.
pub(super) fn policy(file: Option<&Path>) -> Result<ClarificationPolicy, Failure> {
    Ok(file.map(project_file::read_clarification).transpose()?.unwrap_or_default())
}

/// The compiled rules, or every problem with them.
pub(super) fn compiled(file: Option<&Path>, policy: &ClarificationPolicy) -> Result<Rules, Failure> {
    let problems = Rules::problems(policy);
    let place = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
    match Rules::compile(policy) {
        Ok(rules) => Ok(rules),
        Err(_) => Err(Failure::all(problems.iter().map(|bad| format!("{place}{bad}")))
            .hint("nothing was checked; `countersign clarify rules list` shows valid rules")),
    }
}

fn list(file: Option<&Path>, json: bool, context: &Context) -> Result<(), Failure> {
    let policy = policy(file)?;
    compiled(file, &policy)?;
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
