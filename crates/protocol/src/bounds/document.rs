//! The JSON form of bounds, and their validation.

use super::{Amount, BadBound, Bound, Bounds, MAX_CHOICES, MAX_UNIT, MAX_USES};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// How far an argument may differ: exactly one of `most`, `one_of` and `text`.
#[derive(Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenBound {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    least: Option<Amount>,
    /// An exact decimal as text, such as 500.00.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    most: Option<Amount>,
    /// For all calls together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    sum: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// The tool argument that holds the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Value>>,
    /// The most characters of a free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<u32>,
}

/// The limits of a standing approval: uses, lifetime and released arguments.
#[derive(Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenBounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<i64>,
    /// By the dotted names of the arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    released: BTreeMap<String, Bound>,
}

impl TryFrom<WrittenBound> for Bound {
    type Error = BadBound;

    fn try_from(written: WrittenBound) -> Result<Self, BadBound> {
        let goes_with_most = [
            ("least", written.least.is_some()),
            ("sum", written.sum.is_some()),
            ("unit", written.unit.is_some()),
            ("unit_from", written.unit_from.is_some()),
        ];
        match (written.most, written.one_of, written.text) {
            (Some(most), None, None) => {
                let WrittenBound { least, sum, unit, unit_from, .. } = written;
                amount(least, most, sum)?;
                units(unit.as_deref(), unit_from.as_deref())?;
                Ok(Self::Amount { least, most, sum, unit, unit_from })
            }
            (Some(_), _, _) | (None, Some(_), Some(_)) => Err(BadBound::NotOne),
            (None, one_of, text) => match goes_with_most.iter().find(|(_, is_there)| *is_there) {
                Some((name, _)) => Err(BadBound::WithoutMost(name)),
                None => listed_or_text(one_of, text),
            },
        }
    }
}

fn amount(least: Option<Amount>, most: Amount, sum: Option<Amount>) -> Result<(), BadBound> {
    match (least, sum) {
        (Some(least), _) if least > most => Err(BadBound::LeastAboveMost { least, most }),
        (Some(least), Some(sum)) if sum < least => Err(BadBound::SumBelowLeast { sum, least }),
        _ => Ok(()),
    }
}

fn units(unit: Option<&str>, unit_from: Option<&str>) -> Result<(), BadBound> {
    let sound = |unit: &str| {
        (1..=MAX_UNIT).contains(&unit.chars().count()) && unit.trim() == unit && !unit.chars().any(char::is_control)
    };
    if !unit.is_none_or(sound) {
        return Err(BadBound::Unit);
    }
    if unit_from.is_none_or(is_name) { Ok(()) } else { Err(BadBound::UnitFrom) }
}

fn listed_or_text(one_of: Option<Vec<Value>>, text: Option<u32>) -> Result<Bound, BadBound> {
    match (one_of, text) {
        (Some(choices), None) if (1..=MAX_CHOICES).contains(&choices.len()) => Ok(Bound::OneOf(choices)),
        (Some(_), None) => Err(BadBound::Choices),
        (None, Some(0)) => Err(BadBound::NoText),
        (None, Some(most)) => Ok(Bound::Text { most }),
        _ => Err(BadBound::NotOne),
    }
}

fn is_name(name: &str) -> bool {
    name.split('.').all(|step| !step.is_empty())
}

impl From<Bound> for WrittenBound {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Amount { least, most, sum, unit, unit_from } => {
                Self { least, most: Some(most), sum, unit, unit_from, ..Self::default() }
            }
            Bound::OneOf(choices) => Self { one_of: Some(choices), ..Self::default() },
            Bound::Text { most } => Self { text: Some(most), ..Self::default() },
        }
    }
}

impl TryFrom<WrittenBounds> for Bounds {
    type Error = BadBound;

    fn try_from(WrittenBounds { uses, seconds, released }: WrittenBounds) -> Result<Self, BadBound> {
        if uses.is_some_and(|uses| !(1..=MAX_USES).contains(&uses)) {
            return Err(BadBound::Uses);
        }
        if seconds.is_some_and(|seconds| seconds < 1) {
            return Err(BadBound::Seconds);
        }
        if released.keys().any(|name| !is_name(name)) {
            return Err(BadBound::Unnamed);
        }
        Ok(Self { uses, seconds, released })
    }
}

impl From<Bounds> for WrittenBounds {
    fn from(Bounds { uses, seconds, released }: Bounds) -> Self {
        Self { uses, seconds, released }
    }
}

/// The schemas describe the JSON form.
#[cfg(feature = "openapi")]
mod described {
    use super::{Bound, Bounds, WrittenBound, WrittenBounds};
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{RefOr, schema::Schema},
    };

    impl PartialSchema for Bound {
        fn schema() -> RefOr<Schema> {
            WrittenBound::schema()
        }
    }
    impl ToSchema for Bound {
        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            WrittenBound::schemas(schemas);
        }
    }

    impl PartialSchema for Bounds {
        fn schema() -> RefOr<Schema> {
            WrittenBounds::schema()
        }
    }
    impl ToSchema for Bounds {
        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            WrittenBounds::schemas(schemas);
        }
    }
}
