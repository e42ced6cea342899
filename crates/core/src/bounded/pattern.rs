//! The content of an approval: an action, its arguments, and the released ones.

use super::{
    Arguments, Units,
    limit::{self, LimitKind, amount, is_within},
    resolve::{Inside, Mask, ResolvedMember, resolve},
};
use crate::held::{BadJson, JsonMember, Name, plain, shown};
use countersign_protocol::bounds::{BadBound, Bound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One action with every argument as shown, except those released by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PatternText", into = "PatternText")]
pub struct Pattern {
    what: ActionTarget,
    arguments: Arguments,
    /// Their amounts have the unit that was shown.
    released: BTreeMap<String, Bound>,
    /// The places of `released`, numbered in its order.
    mask: Mask,
}

/// The called route or tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ActionTarget {
    Route { id: String },
    Tool { name: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("the arguments are ambiguous: {0}")]
    Arguments(#[from] BadJson),
    #[error("{0} is released, but is not among the arguments: give the value that people are shown")]
    Missing(String),
    #[error("{0} could mean two arguments, one of them with a dot in its name, so it cannot be released")]
    TwoPlaces(String),
    #[error("{0} is released, and so is an argument within or around it")]
    Inside(String),
    #[error("{0} cannot be released: it determines how the body is parsed")]
    SaysHow(String),
    #[error("the bound of {name} cannot be used: {why}")]
    Bound { name: String, why: BadBound },
    #[error("{0} must be digits with at most one fraction, such as 82000.10, because its bound is an amount")]
    NotAnAmount(String),
    #[error("{name} is {is} and lies outside its own bound: {bound}")]
    Outside { name: String, is: String, bound: String },
    #[error("{name} has the unit {is} and its bound the unit {bound}")]
    OtherUnit { name: String, is: String, bound: String },
    #[error("the unit of {0} cannot be read: list it among the route's values, or name a tool's argument in unit_from")]
    NoUnit(String),
    #[error("{0} has unit_from, which is for tools: the unit of a route's amount is listed among the route's values")]
    UnitFrom(String),
}

impl Pattern {
    /// `units` are those of the shown arguments.
    pub fn new(
        what: ActionTarget,
        arguments: Arguments,
        released: BTreeMap<String, Bound>,
        units: &Units,
    ) -> Result<Self, BadPattern> {
        // The stored form must be readable again.
        let arguments = Arguments::read(&arguments.compact())?;
        let mut mask = Mask::CLOSED;
        let mut sound = BTreeMap::new();
        for (number, (name, bound)) in released.into_iter().enumerate() {
            let place = released_member(&what, &arguments, &name)?;
            mask.open(&place.steps, number).map_err(|Inside| BadPattern::Inside(safe_name(&name)))?;
            let bound = with_shown_unit(&what, units.unit(&name, &bound, &arguments), &name, bound)?;
            check_within(&name, place.member, &bound)?;
            sound.insert(name, bound);
        }
        Ok(Self { what, arguments, released: sound, mask })
    }

    pub fn target(&self) -> &ActionTarget {
        &self.what
    }

    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub fn released(&self) -> &BTreeMap<String, Bound> {
        &self.released
    }

    pub(super) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The texts that this member of the path or the query has in the calls of the pattern. None: any text.
    pub(crate) fn allowed_texts(&self, name: &Name) -> Option<Vec<String>> {
        let (place, member) = name.in_tree()?;
        let number = match self.mask.below(place) {
            None => return self.shown_text(place, member),
            Some(Mask::Open(_)) => return None,
            Some(below) => match below.below(member) {
                None => return self.shown_text(place, member),
                Some(Mask::Open(number)) => *number,
                Some(Mask::Below(_)) => return None,
            },
        };
        match self.released.values().nth(number)? {
            Bound::OneOf(choices) => {
                Some(choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned)).collect())
            }
            Bound::Amount { .. } | Bound::Text { .. } => None,
        }
    }

    fn shown_text(&self, place: &str, member: &str) -> Option<Vec<String>> {
        self.arguments.root().get(place)?.get(member).map(|value| vec![plain(value)])
    }
}

fn released_member<'a>(
    what: &ActionTarget,
    arguments: &'a Arguments,
    name: &'a str,
) -> Result<ResolvedMember<'a>, BadPattern> {
    if matches!(what, ActionTarget::Route { .. }) && matches!(name, "content_type" | "body_sha256") {
        return Err(BadPattern::SaysHow(name.to_owned()));
    }
    let mut places = resolve(arguments.root(), name).into_iter();
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => Err(BadPattern::Missing(safe_name(name))),
        (Some(_), Some(_)) => Err(BadPattern::TwoPlaces(safe_name(name))),
    }
}

/// The bound with the unit that was shown, if there is one: an amount without a unit bounds nothing.
fn with_shown_unit(what: &ActionTarget, is: Option<&str>, name: &str, bound: Bound) -> Result<Bound, BadPattern> {
    let checked = |bound: Bound| bound.checked().map_err(|why| BadPattern::Bound { name: safe_name(name), why });
    let mut bound = checked(bound)?;
    let Bound::Amount { sum, unit, unit_from, .. } = &mut bound else { return Ok(bound) };
    if unit_from.is_some() && matches!(what, ActionTarget::Route { .. }) {
        return Err(BadPattern::UnitFrom(safe_name(name)));
    }
    match (unit.as_deref(), is) {
        (None, None) if sum.is_none() && unit_from.is_none() => return Ok(bound),
        (_, None) => return Err(BadPattern::NoUnit(safe_name(name))),
        (Some(bound), Some(is)) if bound != is => {
            return Err(BadPattern::OtherUnit { name: safe_name(name), is: safe_name(is), bound: safe_name(bound) });
        }
        (_, Some(is)) => *unit = Some(is.to_owned()),
    }
    checked(bound)
}

fn check_within(name: &str, shown: &JsonMember, bound: &Bound) -> Result<(), BadPattern> {
    let amount = amount(shown);
    if matches!(bound, Bound::Amount { .. }) && amount.is_none() {
        return Err(BadPattern::NotAnAmount(safe_name(name)));
    }
    let within_sum = bound.sum().is_none_or(|sum| amount.is_some_and(|amount| amount <= sum));
    if is_within(bound, LimitKind::of(shown), shown) && within_sum {
        return Ok(());
    }
    let is = super::difference::value_text(shown);
    Err(BadPattern::Outside { name: safe_name(name), is, bound: limit::bound_text(bound) })
}

/// A caller's name, shortened and made visible for a message.
fn safe_name(name: &str) -> String {
    shown(name, 64)
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternText {
    what: ActionTarget,
    arguments: Arguments,
    released: BTreeMap<String, Bound>,
}

impl From<Pattern> for PatternText {
    fn from(Pattern { what, arguments, released, .. }: Pattern) -> Self {
        Self { what, arguments, released }
    }
}

impl TryFrom<PatternText> for Pattern {
    type Error = BadPattern;

    /// Units were checked on creation; a sum without a unit could not be counted.
    fn try_from(PatternText { what, arguments, released }: PatternText) -> Result<Self, BadPattern> {
        let mut mask = Mask::CLOSED;
        for (number, (name, bound)) in released.iter().enumerate() {
            if bound.sum().is_some() && bound.unit().is_none() {
                return Err(BadPattern::NoUnit(safe_name(name)));
            }
            let place = released_member(&what, &arguments, name)?;
            mask.open(&place.steps, number).map_err(|Inside| BadPattern::Inside(safe_name(name)))?;
        }
        Ok(Self { what, arguments, released, mask })
    }
}
