//! The units of a call's amounts.

use super::Arguments;
use crate::held::{self, Fields, JsonMember};
use countersign_protocol::{
    bounds::Bound,
    project::{Route, ValueField},
};
use std::collections::BTreeMap;

/// The units that a route's `values` table gives to the arguments of one call, by argument name.
///
/// A tool has no such table: its bounds name the argument that holds the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units(Vec<(String, String)>);

impl Units {
    /// A unit that cannot be rendered from this request is left out, and a bound that needs it is not met.
    pub fn of_route(route: &Route, fields: &Fields) -> Self {
        let one = |value: &ValueField| Some((argument(&value.from), held::unit(value, fields).ok()?));
        Self(route.values.iter().filter_map(one).collect())
    }

    pub fn of_tool() -> Self {
        Self::default()
    }

    /// The arguments with exactly one unit in the table.
    pub fn unambiguous(&self) -> BTreeMap<&str, &str> {
        self.0.iter().filter_map(|(name, _)| Some((name.as_str(), self.in_table(name)?))).collect()
    }

    /// The unit of one argument of the call; none if it is missing or contradictory.
    pub(super) fn unit<'a>(&'a self, name: &str, bound: &Bound, call: &'a Arguments) -> Option<&'a str> {
        match bound {
            Bound::Amount { unit_from: Some(from), .. } => match call.get(from) {
                Some(JsonMember::Text(unit)) => Some(unit),
                _ => None,
            },
            _ => self.in_table(name),
        }
    }

    fn in_table(&self, name: &str) -> Option<&str> {
        let mut known = self.0.iter().filter(|(known, _)| known == name).map(|(_, unit)| unit.as_str());
        let unit = known.next()?;
        known.all(|other| other == unit).then_some(unit)
    }
}

/// Templates write `header.NAME`, arguments have `headers`.
fn argument(from: &str) -> String {
    from.strip_prefix("header.").map_or_else(|| from.to_owned(), |name| format!("headers.{name}"))
}
