//! Amounts in a request: exact decimals with their unit.

use super::{
    Fields, UnreadableRequest,
    json::JsonMember,
    shorten::shown,
    template::{Name, Template},
};
use countersign_protocol::{
    project::{Route, ValueField},
    question::RequestAmount,
};

const MAX_DIGITS: usize = 40;
const MAX_UNIT: usize = 32;

/// The amounts that the route names.
pub fn read(route: &Route, fields: &Fields) -> Result<Vec<RequestAmount>, UnreadableRequest> {
    route.values.iter().map(|value| one(value, fields)).collect()
}

fn one(value: &ValueField, fields: &Fields) -> Result<RequestAmount, UnreadableRequest> {
    let from = Name::parse(&value.from)?;
    let amount = match from.value(fields)? {
        JsonMember::Number(text) | JsonMember::Text(text) if is_amount(&text) => text,
        _ => return Err(UnreadableRequest::NotAnAmount(from.to_string())),
    };
    Ok(RequestAmount { name: value.name.clone(), amount, unit: unit(value, fields)? })
}

/// Rendered in full: a shortened or marked unit would be another unit.
pub(crate) fn unit(value: &ValueField, fields: &Fields) -> Result<String, UnreadableRequest> {
    let unit = shown(&Template::parse(&value.unit)?.fill(fields)?, usize::MAX);
    if unit.trim().is_empty() || unit.chars().count() > MAX_UNIT {
        return Err(UnreadableRequest::NotAUnit(shown(&value.unit, MAX_UNIT)));
    }
    Ok(unit)
}

/// Digits and at most one fraction. No sign, exponent or separator, and no leading zero that could mean octal.
pub(super) fn is_amount(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    text.len() <= MAX_DIGITS
        && digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
}
