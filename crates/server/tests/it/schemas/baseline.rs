//! Minor versions only add: the current schemas against those of 2.0 (AAP 22.4).

use super::{NAMES, read, root, schema};
use serde_json::{Map, Value, json};

/// AAP-22.4-01
#[test]
fn nothing_that_was_sound_under_2_0_has_become_unsound_or_unknown() {
    for (name, _) in NAMES {
        let found = breaks(&baseline(name), &schema(name));
        assert!(found.is_empty(), "{name} breaks with 2.0: {found:#?}");
    }
}

/// AAP-22.4-01: the comparison detects each kind of break.
#[test]
fn a_removed_member_a_new_demand_and_a_withdrawn_value_are_found() {
    let old = baseline("manifest");
    let changed = |change: fn(&mut Value)| {
        let mut new = schema("manifest");
        change(&mut new);
        breaks(&old, &new)
    };
    let gone = changed(|s| drop(members(s, "/properties").remove("display_name")));
    assert_eq!(gone, ["/properties/display_name was removed"]);
    let gone = changed(|s| drop(members(s, "/$defs/scope/properties").remove("allows")));
    assert_eq!(gone, ["/$defs/scope/properties/allows was removed"]);
    let demanded = changed(|s| s["required"].as_array_mut().unwrap().push(json!("scopes")));
    assert_eq!(demanded, ["/required demands scopes now"]);
    let demanded = changed(|s| s["properties"]["service_level"] = json!({ "required": ["x"] }));
    assert_eq!(demanded, Vec::<String>::new(), "a new member may be as strict as it likes");
    let demanded = changed(|s| s["$defs"]["scope"]["required"].as_array_mut().unwrap().push(json!("intent_types")));
    assert_eq!(demanded, ["/$defs/scope/required demands intent_types now"]);
    let withdrawn = changed(|s| s["properties"]["scope_expansion"]["enum"] = json!(["reject", "notify"]));
    assert_eq!(withdrawn, ["/properties/scope_expansion/enum no longer has \"silent\""]);
    let narrowed = changed(|s| s["properties"]["credential_ttl"]["maximum"] = json!(3600));
    assert_eq!(narrowed, ["/properties/credential_ttl/maximum changed"]);
    let added = changed(|s| s["properties"]["motto"] = json!({ "type": "string" }));
    assert_eq!(added, Vec::<String>::new(), "an optional member may be added");
}

/// Every point where `new` refuses or forgets a document that `old` allowed.
fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(old, new, "", &mut found);
    found
}

fn compare(old: &Value, new: &Value, at: &str, found: &mut Vec<String>) {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return note(old != new, at, "changed", found);
    };
    for name in lacking(new.get("required"), old.get("required")) {
        found.push(format!("{at}/required demands {} now", name.as_str().unwrap_or_default()));
    }
    for value in lacking(old.get("enum"), new.get("enum")) {
        found.push(format!("{at}/enum no longer has {value}"));
    }
    for (keyword, was) in old.iter().filter(|(keyword, _)| !COMPARED_APART.contains(&keyword.as_str())) {
        compare_keyword(keyword, was, new.get(keyword), &format!("{at}/{keyword}"), found);
    }
    // A new restriction narrows too; new members are new keys of `properties`, not of a schema.
    let silent = |keyword: &&String| keyword.as_str() != "enum" && COMPARED_APART.contains(&keyword.as_str());
    for keyword in new.keys().filter(|k| !old.contains_key(*k) && !silent(k)) {
        found.push(format!("{at}/{keyword} is new"));
    }
}

const COMPARED_APART: &[&str] = &["required", "enum", "$id", "title", "description", "default"];

fn compare_keyword(keyword: &str, was: &Value, is: Option<&Value>, at: &str, found: &mut Vec<String>) {
    match (keyword, is) {
        (_, None) => note(matches!(keyword, "properties" | "$defs" | "$ref"), at, "was removed", found),
        ("properties" | "$defs", Some(is)) => {
            for (name, was) in was.as_object().into_iter().flatten() {
                match is.get(name) {
                    Some(is) => compare(was, is, &format!("{at}/{name}"), found),
                    None => found.push(format!("{at}/{name} was removed")),
                }
            }
        }
        ("items" | "additionalProperties" | "propertyNames", Some(is)) => compare(was, is, at, found),
        (_, Some(is)) => note(was != is, at, "changed", found),
    }
}

/// The elements of the first list that the second lacks.
fn lacking<'v>(has: Option<&'v Value>, lacks: Option<&Value>) -> Vec<&'v Value> {
    let lacks = lacks.and_then(Value::as_array).cloned().unwrap_or_default();
    has.and_then(Value::as_array).into_iter().flatten().filter(|value| !lacks.contains(value)).collect()
}

fn note(wrong: bool, at: &str, what: &str, found: &mut Vec<String>) {
    if wrong {
        found.push(format!("{at} {what}"));
    }
}

fn members<'v>(schema: &'v mut Value, at: &str) -> &'v mut Map<String, Value> {
    schema.pointer_mut(at).unwrap().as_object_mut().unwrap()
}

fn baseline(name: &str) -> Value {
    read(&root().join(format!("docs/schemas/aap/2.0/{name}.json")))
}
