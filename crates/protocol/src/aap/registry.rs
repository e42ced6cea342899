//! The registry of a model provider (AAP 4.2): the operators that it has verified, and their standing.

use crate::{domain::Domain, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// The path of every provider's registry, below `https://{domain}`.
pub const PATH: &str = "/.well-known/agent-operators.json";

/// An operator's standing with a provider, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorStanding {
    Good,
    Suspended,
    Revoked,
}

impl OperatorStanding {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Suspended => "suspended",
            Self::Revoked => "revoked",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Good, Self::Suspended, Self::Revoked].into_iter().find(|standing| standing.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a registry of operators: {0}")]
pub struct NotARegistry(&'static str);

/// The listed operators. One with an unknown standing counts as not listed, never as good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorRegistry(BTreeMap<Domain, OperatorStanding>);

impl OperatorRegistry {
    /// Of two entries for one domain, the worse counts. An entry without a hostname lists nobody.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotARegistry> {
        let document = json::value(bytes).map_err(|_| NotARegistry("it is not JSON without repeated members"))?;
        let entries = document.get("operators").and_then(Value::as_array);
        let entries = entries.ok_or(NotARegistry("operators must be a list"))?;
        let mut listed: BTreeMap<Domain, Option<OperatorStanding>> = BTreeMap::new();
        for entry in entries {
            let (domain, standing) = read(entry)?;
            let Ok(domain) = Domain::parse(&domain.to_ascii_lowercase()) else { continue };
            let standing = OperatorStanding::parse(standing);
            let worse = |earlier: &mut Option<OperatorStanding>| *earlier = worse_of(*earlier, standing);
            listed.entry(domain).and_modify(worse).or_insert(standing);
        }
        Ok(Self(listed.into_iter().filter_map(|(domain, standing)| Some((domain, standing?))).collect()))
    }

    pub fn standing(&self, operator: &Domain) -> Option<OperatorStanding> {
        self.0.get(operator).copied()
    }
}

fn read(entry: &Value) -> Result<(&str, &str), NotARegistry> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    text("domain").zip(text("standing")).ok_or(NotARegistry("each operator needs domain and standing as text"))
}

/// An unknown standing is worse than good, and no evidence of a suspension.
fn worse_of(one: Option<OperatorStanding>, other: Option<OperatorStanding>) -> Option<OperatorStanding> {
    match (one, other) {
        (Some(OperatorStanding::Good), None) | (None, Some(OperatorStanding::Good)) => None,
        (one, other) => one.max(other),
    }
}
