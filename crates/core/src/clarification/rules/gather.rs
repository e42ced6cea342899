//! Merges the findings of all rules: at most one gap per place.

use super::{
    compile::Compiled,
    evaluate::Hit,
    finding::TooManyGaps,
    path::{Token, pointer},
    places::Places,
};
use countersign_protocol::clarification::{Operation, Severity, limits::MAX_GAPS};
use std::collections::HashMap;

/// The gaps found so far. Stops at the limit, which bounds the cost of a hostile plan.
pub(super) struct Gathered<'a, 'p> {
    rules: &'a [Compiled],
    places: &'p Places<'a>,
    kept: Vec<MergedFinding<'a>>,
    at: HashMap<String, usize>,
}

/// The gap at one place: asked by the most severe rule, and blocking the operations of all rules that match there.
pub(super) struct MergedFinding<'a> {
    pub(super) hit: Hit<'a>,
    pub(super) rule: &'a Compiled,
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) pointer: String,
    pub(super) blocked: Vec<Operation>,
    pub(super) person: Option<bool>,
}

impl<'a, 'p> Gathered<'a, 'p> {
    pub(super) fn new(rules: &'a [Compiled], places: &'p Places<'a>) -> Self {
        Self { rules, places, kept: Vec::new(), at: HashMap::new() }
    }

    pub(super) fn add(&mut self, hit: Hit<'a>) -> Result<(), TooManyGaps> {
        let Some(rule) = self.rules.get(hit.rule) else { return Ok(()) };
        let tokens = hit.spot.tokens(self.places);
        let pointer = pointer(&tokens);
        if let Some(kept) = self.at.get(&pointer).and_then(|n| self.kept.get_mut(*n)) {
            kept.unite(hit, rule);
            return Ok(());
        }
        if self.kept.len() == MAX_GAPS {
            return Err(TooManyGaps::Gaps);
        }
        self.at.insert(pointer.clone(), self.kept.len());
        let (blocked, person) = (rule.blocked.clone(), rule.person);
        self.kept.push(MergedFinding { hit, rule, tokens, pointer, blocked, person });
        Ok(())
    }

    /// Sorted by rule; the findings of one rule keep the order of the plan.
    pub(super) fn in_order(mut self) -> Vec<MergedFinding<'a>> {
        self.kept.sort_by_key(|kept| kept.hit.rule);
        self.kept
    }
}

impl<'a> MergedFinding<'a> {
    fn unite(&mut self, hit: Hit<'a>, rule: &'a Compiled) {
        let (severity, known) = (rule.severity, self.rule.severity);
        self.blocked.extend(&rule.blocked);
        self.blocked.sort();
        self.blocked.dedup();
        self.person = stricter((known, self.person), (severity, rule.person));
        if severity > known {
            (self.hit, self.rule) = (hit, rule);
        }
    }
}

/// Combines the `person` settings of two rules: true, else the default, else false. The default applies to a BLOCK only
///
fn stricter(left: (Severity, Option<bool>), right: (Severity, Option<bool>)) -> Option<bool> {
    let says = |(severity, person): (Severity, Option<bool>)| match person {
        None if severity == Severity::Warn => Some(false),
        said => said,
    };
    match (says(left), says(right)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}
