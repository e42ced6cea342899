//! Test cases of rules: a plan, and the gaps that the rules must find in it.

use super::{Finding, Rules, TooManyGaps};
use countersign_protocol::clarification::{RuleCase, Severity, rules::ExpectedGap};

/// The difference between the found and the expected gaps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseFailed {
    #[error("case {name:?}: {}", differs(.missing, .extra))]
    Differs { name: String, missing: Vec<ExpectedGap>, extra: Vec<ExpectedGap> },
    #[error("case {name:?}: {why}")]
    TooMany { name: String, why: TooManyGaps },
}

impl Rules {
    /// Checks that the rules find exactly the gaps of a case, in any order.
    pub fn run_case(&self, case: &RuleCase) -> Result<(), CaseFailed> {
        let name = || case.name.clone();
        let findings = self.findings(&case.plan).map_err(|why| CaseFailed::TooMany { name: name(), why })?;
        let mut extra: Vec<ExpectedGap> = findings.into_iter().map(expected).collect();
        let mut missing = Vec::new();
        for gap in &case.gaps {
            match extra.iter().position(|found| found == gap) {
                Some(at) => drop(extra.swap_remove(at)),
                None => missing.push(gap.clone()),
            }
        }
        let holds = missing.is_empty() && extra.is_empty();
        if holds { Ok(()) } else { Err(CaseFailed::Differs { name: name(), missing, extra }) }
    }
}

fn expected(found: Finding) -> ExpectedGap {
    ExpectedGap { rule: found.rule, field: found.field, severity: found.severity }
}

fn differs(missing: &[ExpectedGap], extra: &[ExpectedGap]) -> String {
    let not_found = missing.iter().map(|gap| format!("did not find {}", gap_text(gap)));
    let not_expected = extra.iter().map(|gap| format!("found {} as well", gap_text(gap)));
    not_found.chain(not_expected).collect::<Vec<_>>().join("; ")
}

fn gap_text(gap: &ExpectedGap) -> String {
    let severity = if gap.severity == Severity::Block { "BLOCK" } else { "WARN" };
    format!("{severity} of {} at {:?}", gap.rule, gap.field)
}
