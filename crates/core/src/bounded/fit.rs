//! Matches a call against an approved pattern.

use super::{
    Arguments, Pattern, Units,
    compare::{Found, PathSegment, Walk},
    difference::{argument_name, name, value_text},
    limit::{self, LimitKind, amount, is_within},
};
use crate::held::JsonMember;
use countersign_protocol::{
    bounds::{Amount, Bound},
    question::{ArgumentDifference, Was},
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// More differences than these do not help a reader.
const MAX_DIFFERENCES: usize = 50;

/// A call's share of a bounded amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmountUse {
    pub name: String,
    pub amount: Amount,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Pattern {
    /// The amounts that the call uses, or its differences. `units` are those of the call.
    pub fn fit(&self, call: &Arguments, units: &Units) -> Result<Vec<AmountUse>, Vec<ArgumentDifference>> {
        let mut differences = Vec::new();
        let opened = self.opened(call, |steps, found| differences.push(difference(steps, &found)));
        let mut taken = Vec::new();
        for place in self.bounded(&opened) {
            match place.amount_use(units.unit(place.name, place.bound, call)) {
                Ok(amount) => taken.extend(amount),
                Err(difference) => differences.push(difference),
            }
        }
        if differences.is_empty() { Ok(taken) } else { Err(differences) }
    }

    /// The number of differences that `fit` would find, without rendering them.
    pub(super) fn distance(&self, call: &Arguments, units: &Units) -> usize {
        let mut differences = 0;
        let opened = self.opened(call, |_, _| differences += 1);
        let outside = |place: &ReleasedArgument<'_>| !place.is_within_bound(units.unit(place.name, place.bound, call));
        let outside = self.bounded(&opened).filter(outside).count();
        differences + outside
    }

    /// The values in the released places. Differences elsewhere are reported.
    fn opened<'a>(
        &'a self,
        call: &'a Arguments,
        mut differs: impl FnMut(&[PathSegment<'a>], Found<'a>),
    ) -> Vec<(usize, &'a JsonMember)> {
        let mut opened = Vec::new();
        let mut left = MAX_DIFFERENCES;
        let report = |steps: &[PathSegment<'a>], found: Found<'a>| {
            match found {
                Found::Open(number, is) => opened.push((number, is)),
                other => {
                    differs(steps, other);
                    left -= 1;
                }
            }
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let _stopped = Walk::new(report).compare(self.arguments().root(), call.root(), Some(self.mask()));
        opened
    }

    fn bounded<'a>(&'a self, opened: &'a [(usize, &'a JsonMember)]) -> impl Iterator<Item = ReleasedArgument<'a>> {
        self.released().iter().enumerate().filter_map(|(number, (name, bound))| {
            let (_, is) = opened.iter().find(|(at, _)| *at == number)?;
            Some(ReleasedArgument { name, bound, was: LimitKind::of(self.arguments().get(name)?), is })
        })
    }
}

/// A released place and the call's value in it.
struct ReleasedArgument<'a> {
    name: &'a str,
    bound: &'a Bound,
    was: LimitKind,
    is: &'a JsonMember,
}

impl ReleasedArgument<'_> {
    /// `own` is the unit stated by the call.
    fn amount_use(&self, own: Option<&str>) -> Result<Option<AmountUse>, ArgumentDifference> {
        if !self.is_within_bound(own) {
            return Err(self.bound_difference(own));
        }
        let Bound::Amount { unit, .. } = self.bound else { return Ok(None) };
        let taken = |amount| AmountUse { name: self.name.to_owned(), amount, unit: unit.clone() };
        amount(self.is).map(|amount| Some(taken(amount))).ok_or_else(|| self.bound_difference(own))
    }

    /// If the bound has no unit, the fixed arguments determine it.
    fn is_within_bound(&self, own: Option<&str>) -> bool {
        self.bound.unit().is_none_or(|unit| own == Some(unit)) && is_within(self.bound, self.was, self.is)
    }

    fn bound_difference(&self, own: Option<&str>) -> ArgumentDifference {
        let is = match (self.bound, amount(self.is)) {
            // Without quotes, unless the quotes are the difference.
            (Bound::Amount { .. }, Some(amount)) if self.was == LimitKind::of(self.is) => limit::with_unit(amount, own),
            (Bound::Amount { .. }, _) => limit::with_unit(value_text(self.is), own),
            _ => value_text(self.is),
        };
        ArgumentDifference {
            name: argument_name(self.name),
            is: Some(is),
            was: Was::Within(limit::allowed(self.bound)),
        }
    }
}

fn difference(steps: &[PathSegment<'_>], found: &Found<'_>) -> ArgumentDifference {
    let (is, was) = match found {
        Found::Changed { was, is } => (Some(value_text(is)), Was::Exactly(value_text(was))),
        Found::Added(is) | Found::Open(_, is) => (Some(value_text(is)), Was::Nothing),
        Found::Missing(was) => (None, Was::Exactly(value_text(was))),
    };
    ArgumentDifference { name: name(steps), is, was }
}
