//! Rules that find missing or unclear parts of a plan and judge the answers (Clarification 3).
//!
//! Rules are compiled once per project document. Evaluation follows each path once and matches all phrases in one pass
//! over a text, so that its cost grows with the plan and its findings, and hardly with the number of rules.

mod accepted;
mod answer;
mod case;
mod compile;
mod evaluate;
mod finding;
mod folding;
mod gather;
mod kind;
mod pack;
mod path;
mod phrases;
mod places;
mod text;
mod when;

pub use accepted::{CannotWrite, accepted_plan, write_answer};
pub use answer::{Accepted, AnswerableGap, Unusable};
pub use case::CaseFailed;
pub use compile::BadRule;
pub use finding::{Finding, TooManyGaps};

use compile::{Compiled, compile};
use countersign_protocol::clarification::{ClarificationPolicy, Rule};
use gather::Gathered;
use phrases::Lookout;
use places::{Paths, Places};
use serde_json::Value;

/// The compiled rules of a project.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Compiled>,
    paths: Paths,
    lookout: Lookout,
}

impl Rules {
    /// Compiles the built-in rules, unless switched off or replaced, followed by the project's own.
    pub fn compile(policy: &ClarificationPolicy) -> Result<Self, BadRule> {
        compile(in_force(policy)).map_err(compile::first)
    }

    /// Every problem in the rules of a project.
    pub fn problems(policy: &ClarificationPolicy) -> Vec<BadRule> {
        compile(in_force(policy)).err().unwrap_or_default()
    }

    /// The gaps of a plan, in the order of rules and then of places. At most one per place: the most severe rule asks,
    /// and the gap blocks the operations of all rules that match there.
    pub fn findings(&self, plan: &Value) -> Result<Vec<Finding>, TooManyGaps> {
        let places = Places::of(&self.paths, plan);
        let mut found = Gathered::new(&self.rules, &places);
        evaluate::evaluate(self, &places, &mut found)?;
        found.in_order().into_iter().map(|kept| finding::finding(kept, self, &places)).collect()
    }
}

/// The enabled rules, in their order.
pub fn in_force(policy: &ClarificationPolicy) -> impl Iterator<Item = &Rule> {
    let replaced = |rule: &&Rule| policy.rules.iter().any(|own| own.id == rule.id);
    let pack = if policy.pack { pack::rules() } else { &[] };
    pack.iter().filter(move |rule| !replaced(rule)).chain(&policy.rules)
}

#[cfg(test)]
mod tests;
