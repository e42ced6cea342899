//! `countersign clarify rules test [FILE…]`: runs the test cases of rules.

use super::{super::gap_lines::severity, compiled, policy};
use crate::{context::Context, failure::Failure, table::printable};
use countersign_protocol::clarification::{RuleCase, rules::ExpectedGap};
use countersign_server::admin::clarification_rules::{CaseFailed, Rules};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Run the test cases of rules: each is a plan with its expected gaps, no more and no fewer
///
/// Ends with 0 when all cases pass, with 1 when one fails, with 2 when a file has invalid rules.
#[derive(Debug, clap::Args)]
pub(in super::super) struct Arguments {
    /// Projects' documents, or files with the members of [clarification]. Without any: the built-in rules.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Rules with their cases, under a display name.
struct Suite {
    name: String,
    rules: Rules,
    cases: Vec<RuleCase>,
}

struct Ran<'s> {
    suite: &'s str,
    case: &'s str,
    failed: Option<CaseFailed>,
}

/// All files are read before the first case runs.
pub(super) fn run(arguments: &Arguments, json: bool, context: &Context) -> Result<(), Failure> {
    let suites = suites(&arguments.files)?;
    let mut ran = Vec::new();
    for suite in &suites {
        if !json {
            context.say(&format!("{}\n", printable(&suite.name)))?;
        }
        for case in &suite.cases {
            let one = Ran { suite: &suite.name, case: &case.name, failed: suite.rules.run_case(case).err() };
            if !json {
                context.say(&one.text())?;
            }
            ran.push(one);
        }
    }
    let failed = ran.iter().filter(|one| one.failed.is_some()).count();
    if json {
        let cases: Value = ran.iter().map(Ran::as_json).collect();
        context.say_json(&json!({ "cases": cases, "held": ran.len() - failed, "failed": failed }))?;
    } else {
        context.say(&summary(ran.len(), failed))?;
    }
    if failed == 0 { Ok(()) } else { Err(Failure::told()) }
}

fn suites(files: &[PathBuf]) -> Result<Vec<Suite>, Failure> {
    if files.is_empty() {
        let rules = compiled(None, &policy(None)?)?;
        return Ok(vec![Suite { name: "the built-in rules".into(), rules, cases: Rules::built_in_cases().to_vec() }]);
    }
    files.iter().map(|file| suite(file)).collect()
}

fn suite(file: &Path) -> Result<Suite, Failure> {
    let policy = policy(Some(file))?;
    let rules = compiled(Some(file), &policy)?;
    Ok(Suite { name: file.display().to_string(), rules, cases: policy.cases })
}

fn summary(cases: usize, failed: usize) -> String {
    let counted = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
    match (cases, failed) {
        (0, _) => "there are no cases, so nothing was tested\n".into(),
        (_, 0) => format!("{counted}, all hold\n"),
        (_, failed) => format!("{counted}, {failed} of them failed\n"),
    }
}

impl Ran<'_> {
    fn text(&self) -> String {
        let case = printable(self.case);
        let lines = match &self.failed {
            None => return format!("  ok      {case}\n"),
            Some(CaseFailed::TooMany { why, .. }) => vec![why.to_string()],
            Some(CaseFailed::Differs { missing, extra, .. }) => {
                let missing = missing.iter().map(|gap| format!("expected, not found: {}", gap_text(gap)));
                missing.chain(extra.iter().map(|gap| format!("found, not expected: {}", gap_text(gap)))).collect()
            }
        };
        let lines: String = lines.iter().map(|line| format!("          {}\n", printable(line))).collect();
        format!("  FAILED  {case}\n{lines}")
    }

    fn as_json(&self) -> Value {
        let (missing, extra, problem) = match &self.failed {
            None => (json!([]), json!([]), None),
            Some(CaseFailed::Differs { missing, extra, .. }) => (json!(missing), json!(extra), None),
            Some(CaseFailed::TooMany { why, .. }) => (json!([]), json!([]), Some(why.to_string())),
        };
        json!({ "file": self.suite, "case": self.case, "holds": self.failed.is_none(),
            "missing": missing, "unexpected": extra, "problem": problem })
    }
}

fn gap_text(gap: &ExpectedGap) -> String {
    format!("{} of {} at {}", severity(gap.severity), gap.rule, gap.field)
}
