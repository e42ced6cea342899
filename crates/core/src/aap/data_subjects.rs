//! The people whose data a call touched, as the service's own response names them (AAP 11.4). An agent cannot fill them in.

use serde_json::Value;
use std::collections::BTreeSet;

/// The most people of one response. One that names more cannot be recorded.
const MAX_SUBJECTS: usize = 1000;
const MAX_CHARS: usize = 256;

/// From a header: names separated by commas.
pub fn of_header<'h>(values: impl Iterator<Item = &'h str>) -> Vec<String> {
    let names = values.flat_map(|value| value.split(',')).map(str::trim).filter(|name| !name.is_empty());
    sound(names.map(str::to_owned).collect())
}

/// From a JSON body: the text or the texts that the pointer names, where `*` stands for every item of a list.
pub fn of_body(body: &[u8], pointer: &str) -> Vec<String> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let mut found = BTreeSet::new();
    if collect(&body, &steps, &mut found) { sound(found) } else { Vec::new() }
}

/// Whether every place that the steps lead to names people. One that does not makes the whole unknown.
fn collect(value: &Value, steps: &[String], found: &mut BTreeSet<String>) -> bool {
    match (steps.split_first(), value) {
        (Some((step, rest)), Value::Array(items)) if step == "*" => items.iter().all(|item| collect(item, rest, found)),
        (Some((step, rest)), Value::Object(members)) => {
            members.get(step).is_some_and(|next| collect(next, rest, found))
        }
        (Some((step, rest)), Value::Array(items)) => {
            let next = step.parse::<usize>().ok().and_then(|at| items.get(at));
            next.is_some_and(|next| collect(next, rest, found))
        }
        (Some(_), _) => false,
        (None, Value::Array(items)) => items.iter().all(|item| take(item, found)),
        (None, value) => take(value, found),
    }
}

fn take(value: &Value, found: &mut BTreeSet<String>) -> bool {
    let Some(name) = value.as_str().map(str::trim).filter(|name| !name.is_empty()) else { return false };
    found.insert(name.to_owned());
    true
}

fn sound(found: BTreeSet<String>) -> Vec<String> {
    let short = found.iter().all(|name| name.chars().count() <= MAX_CHARS);
    if found.len() <= MAX_SUBJECTS && short { found.into_iter().collect() } else { Vec::new() }
}
