//! Conditions on the whole plan.

use super::{
    compile::Bad,
    folding::same_but_for_case,
    path::Path,
    places::{PathId, Paths, Places, is_missing},
};
use countersign_protocol::clarification::rules::Condition;
use serde_json::Value;

#[derive(Debug)]
pub(super) struct When {
    field: PathId,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    OneOf(Vec<Value>),
    Present(bool),
}

pub(super) fn compile(condition: &Condition, paths: &mut Paths) -> Result<When, Bad> {
    let path = Path::parse(&condition.field).map_err(Bad::path("when"))?;
    let holds = match (&condition.one_of, condition.present) {
        (Some(values), None) if !values.is_empty() => Holds::OneOf(values.clone()),
        (None, Some(present)) => Holds::Present(present),
        _ => return Err(Bad::new("when", "needs exactly one of one_of (with values) and present")),
    };
    Ok(When { field: paths.id(&path), holds })
}

impl When {
    pub(super) fn holds(&self, places: &Places<'_>) -> bool {
        let mut there = places.at(self.field).map(|(_, value)| value);
        match &self.holds {
            Holds::OneOf(values) => there.any(|value| is_one_of(value, values)),
            Holds::Present(present) => there.any(|value| !is_missing(Some(value))) == *present,
        }
    }
}

/// Matches the value itself or one of its items. Texts match case-insensitively.
pub(super) fn is_one_of(value: &Value, wanted: &[Value]) -> bool {
    let same = |value: &Value| wanted.iter().any(|wanted| is_same(value, wanted));
    same(value) || value.as_array().is_some_and(|items| items.iter().any(same))
}

fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left == right || same_but_for_case(left, right),
        // 1 and 1.0 are the same number in JSON and in canonical JSON.
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}
