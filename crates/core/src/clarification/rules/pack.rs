//! The built-in rules, enabled by default: one for each condition of Clarification 3.

use super::{Rules, compile::compile};
use countersign_protocol::clarification::{Rule, RuleCase};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    rules: Vec<Rule>,
    cases: Vec<RuleCase>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static PACK: LazyLock<Pack> = LazyLock::new(|| toml::from_str(include_str!("pack.toml")).expect("pack.toml is sound"));

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test compiles it")]
static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| compile(PACK.rules.iter()).expect("pack.toml is sound"));

pub(super) fn rules() -> &'static [Rule] {
    &PACK.rules
}

impl Rules {
    /// The compiled built-in rules.
    pub fn built_in() -> &'static Rules {
        &BUILT_IN
    }

    /// Test cases of the built-in rules, as data for documentation and other implementations.
    pub fn built_in_cases() -> &'static [RuleCase] {
        &PACK.cases
    }
}

#[cfg(test)]
mod tests;
