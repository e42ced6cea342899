//! The accepted plan: the submitted plan with the accepted answers at their places, and nothing else.

use super::{answer::value, path::tokens_of};
use countersign_protocol::clarification::AnswerKind;
use serde_json::{Map, Value};

/// Why an answer cannot be written at its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotWrite {
    #[error("{0:?} is not the JSON Pointer of a place in the plan")]
    NoPointer(String),
    #[error("no value can be set at {pointer}, since the plan already has a value at {at:?}: change the plan there")]
    Through { pointer: String, at: String },
    #[error("no value can be set at {pointer}, since the list at {at:?} has no such item")]
    NoItem { pointer: String, at: String },
    #[error("the answer for {pointer} is not of the kind that its rule says")]
    NotOfTheKind { pointer: String },
}

/// The plan with these answers (pointer, kind, text) written into it.
pub fn accepted_plan<'a>(
    plan: &Value,
    answers: impl Iterator<Item = (&'a str, AnswerKind, &'a str)>,
) -> Result<Value, CannotWrite> {
    let mut accepted = plan.clone();
    for (pointer, kind, text) in answers {
        write_answer(&mut accepted, pointer, kind, text)?;
    }
    Ok(accepted)
}

/// Writes one answer. Missing or null parents are created; an existing value on the path is never replaced.
pub fn write_answer(plan: &mut Value, pointer: &str, kind: AnswerKind, text: &str) -> Result<(), CannotWrite> {
    let tokens = tokens_of(pointer).ok_or_else(|| CannotWrite::NoPointer(pointer.to_owned()))?;
    let value = value(kind, text).ok_or_else(|| CannotWrite::NotOfTheKind { pointer: pointer.to_owned() })?;
    let mut place = plan;
    for (depth, token) in tokens.iter().enumerate() {
        let why = |no_item: bool| refusal(no_item, pointer, tokens.get(..depth).unwrap_or_default());
        place = child(place, token).map_err(why)?;
    }
    // A list or an object at the place came with the plan or from another answer.
    if place.is_object() || place.is_array() {
        return Err(refusal(false, pointer, &tokens));
    }
    *place = value;
    Ok(())
}

/// The child value, created if missing. The error tells whether only a list item is missing.
fn child<'v>(place: &'v mut Value, token: &str) -> Result<&'v mut Value, bool> {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    match place {
        Value::Object(members) => Ok(members.entry(token).or_insert(Value::Null)),
        Value::Array(items) => index(token).and_then(|at| items.get_mut(at)).ok_or(true),
        _ => Err(false),
    }
}

/// Accepts one spelling per item: `0`, `17`, but not `017`.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    plain.then(|| token.parse().ok()).flatten()
}

fn refusal(no_item: bool, pointer: &str, way: &[String]) -> CannotWrite {
    let (pointer, at) = (pointer.to_owned(), way.join("."));
    if no_item { CannotWrite::NoItem { pointer, at } } else { CannotWrite::Through { pointer, at } }
}

#[cfg(test)]
mod tests;
