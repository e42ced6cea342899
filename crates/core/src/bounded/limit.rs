//! Checks values against bounds, and renders bounds as text.

use super::{arguments::member, compare::is_same, difference::value_text_within};
use crate::held::{JsonMember, shown};
use countersign_protocol::{
    bounds::{Amount, Bound},
    question::AllowedValue,
};
use serde_json::Value;

/// The most characters of one choice, and of all choices together.
const MAX_CHOICE: usize = 80;
const MAX_CHOICES: usize = 600;

/// Whether the shown value is a number or a string. The kind must not change: a service may treat "82000" and 82000
/// differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Number,
    Text,
    Other,
}

impl LimitKind {
    pub(super) fn of(member: &JsonMember) -> Self {
        match member {
            JsonMember::Number(_) => Self::Number,
            JsonMember::Text(_) => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Whether the bound allows this value in place of one of that kind.
pub(super) fn is_within(bound: &Bound, was: LimitKind, is: &JsonMember) -> bool {
    match bound {
        Bound::Amount { least, most, .. } => {
            let between = |amount: Amount| amount <= *most && least.is_none_or(|least| amount >= least);
            was == LimitKind::of(is) && amount(is).is_some_and(between)
        }
        Bound::OneOf(choices) => choices.iter().any(|choice| is_choice(choice, is)),
        Bound::Text { most } => matches!(is, JsonMember::Text(text) if is_short(text, *most)),
    }
}

/// The amount in a number or string, if it is one.
pub(super) fn amount(member: &JsonMember) -> Option<Amount> {
    match member {
        JsonMember::Number(text) | JsonMember::Text(text) => Amount::parse(text).ok(),
        _ => None,
    }
}

/// A bound as text: `at most 500.00 EUR, 2000.00 EUR altogether`.
pub fn bound_text(bound: &Bound) -> String {
    match bound {
        Bound::Amount { sum: Some(sum), .. } => {
            format!("{}, {} altogether", single_call_text(bound), with_unit(*sum, bound.unit()))
        }
        _ => single_call_text(bound),
    }
}

/// The bound of a single call as text.
fn single_call_text(bound: &Bound) -> String {
    allowed(bound).text("en")
}

/// The part of the bound that applies to a single call.
pub(super) fn allowed(bound: &Bound) -> AllowedValue {
    match bound {
        Bound::Amount { least: Some(least), most, unit, .. } => {
            AllowedValue::Between { least: least.to_string(), most: with_unit(*most, unit.as_deref()) }
        }
        Bound::Amount { most, unit, .. } => AllowedValue::AtMost(with_unit(*most, unit.as_deref())),
        Bound::OneOf(choices) => AllowedValue::OneOf(first_choices(choices)),
        Bound::Text { most } => AllowedValue::Characters(*most),
    }
}

/// The choices as text; if they are too many, the first ones and the number of the others.
fn first_choices(choices: &[Value]) -> Vec<String> {
    let all = choices.iter().map(|choice| value_text_within(&member(choice), MAX_CHOICE));
    let mut room = MAX_CHOICES;
    let fits = |choice: &String| {
        room = room.saturating_sub(choice.chars().count());
        room > 0
    };
    let shown: Vec<String> = all.take_while(fits).collect();
    let more = choices.len() - shown.len();
    shown.into_iter().chain((more > 0).then(|| format!("… ({more})"))).collect()
}

pub(super) fn with_unit(amount: impl std::fmt::Display, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{amount} {}", shown(unit, MAX_CHOICE)),
        None => amount.to_string(),
    }
}

fn is_choice(choice: &Value, is: &JsonMember) -> bool {
    match (choice, is) {
        (Value::String(choice), JsonMember::Text(is)) => choice == is,
        (Value::String(_), _) => false,
        _ => is_same(&member(choice), is),
    }
}

fn is_short(text: &str, most: u32) -> bool {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    text.chars().count() <= most && !text.chars().any(char::is_control)
}
