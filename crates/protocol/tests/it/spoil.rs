//! Copies of a document with one modification each.

use serde_json::{Value, json};

/// A modified document and a description of the modification.
pub(crate) struct Spoiled {
    pub(crate) what: String,
    pub(crate) document: Value,
}

/// Removes each member, replaces it with each of the values (a text also with each of the texts), and adds members of
/// these names to each object.
pub(crate) fn every_way(sound: &Value, values: &Value, texts: &Value, names: &[&str]) -> Vec<Spoiled> {
    let list = |values: &Value| values.as_array().unwrap().clone();
    let mut all = Vec::new();
    for place in places(sound, "") {
        all.extend(removed(sound, &place));
        let more = if sound.pointer(&place).unwrap().is_string() { list(texts) } else { Vec::new() };
        all.extend(list(values).into_iter().chain(more).map(|value| replaced(sound, &place, value)));
    }
    let objects = places(sound, "").into_iter().filter(|place| sound.pointer(place).is_some_and(Value::is_object));
    for place in objects.chain([String::new()]) {
        all.extend(names.iter().map(|name| added(sound, &place, name)));
    }
    all
}

/// The pointers of all members and items.
pub(crate) fn places(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(n, v)| (format!("{at}/{}", n.replace('/', "~1")), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, v)| (format!("{at}/{n}"), v)).collect(),
        _ => Vec::new(),
    };
    below.into_iter().flat_map(|(place, value)| [vec![place.clone()], places(value, &place)].concat()).collect()
}

fn removed(sound: &Value, place: &str) -> Option<Spoiled> {
    let mut document = sound.clone();
    let (parent, member) = place.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap().as_object_mut()?.remove(member);
    Some(Spoiled { what: format!("{place} taken away"), document })
}

fn replaced(sound: &Value, place: &str, value: Value) -> Spoiled {
    let mut document = sound.clone();
    let told: String = value.to_string().chars().take(60).collect();
    *document.pointer_mut(place).unwrap() = value;
    Spoiled { what: format!("{place} = {told}"), document }
}

fn added(sound: &Value, place: &str, name: &str) -> Spoiled {
    let mut document = sound.clone();
    document.pointer_mut(place).unwrap()[name] = json!(1);
    Spoiled { what: format!("{place}/{name} added"), document }
}
