//! Every document validates against our schemas in `docs/schemas/clarification`.

use super::support::{AGENT, Session, eventful, eventful_plan, gap, key, plan, rotation, stamp, value};
use countersign_protocol::{
    clarification::{
        Attestation, Audit, Handoff, Message, PublishedKey, PublishedKeys, Record, SCHEMA, Severity, signed,
    },
    mplp::read,
};
use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/clarification");
    let named = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (named(&path), serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())).collect()
}

fn judges() -> BTreeMap<String, Validator> {
    let schemas = schemas();
    let mut registry = Registry::new();
    for schema in schemas.values() {
        registry = registry.add(schema["$id"].as_str().unwrap(), schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let options = options.with_registry(&registry);
    schemas.iter().map(|(name, schema)| (name.clone(), options.build(schema).unwrap())).collect()
}

/// One document of every kind, as we write it.
fn documents() -> Vec<(&'static str, Value)> {
    let mut asking = Session::begin(super::support::SESSION, key(1), plan());
    let mut open = gap(1, "payee.account", Severity::Block);
    (open.suggestions_exclusive, open.person_must_answer) = (true, true);
    asking.open.push(open);
    let published = PublishedKey { public_key: key(1).public_key(), created_at: stamp(0), retired_at: Some(stamp(9)) };
    let rotations = vec![rotation(&key(1), &key(2), 9)];
    let session = eventful();
    vec![
        ("message", value(&asking.message())),
        ("message", value(&session.message())),
        ("record", value(&asking.record())),
        ("record", value(&session.record())),
        ("attestation", value(&session.attestation(&eventful_plan()))),
        ("handoff", value(&session.handoff(Some(eventful_plan())))),
        ("handoff", value(&asking.handoff(None))),
        ("audit", session.audit(Some(&eventful_plan()))),
        ("audit", asking.audit(None)),
        ("keys", value(&PublishedKeys { agent_id: AGENT.into(), keys: vec![published], rotations })),
    ]
}

fn is_read(name: &str, document: &Value) -> bool {
    match name {
        "message" => read::value::<Message>(document).is_ok(),
        "record" => read::value::<Record>(document).is_ok(),
        "attestation" => read::value::<Attestation>(document).is_ok(),
        "handoff" => read::value::<Handoff>(document).is_ok(),
        "audit" => read::value::<Audit>(document).is_ok(),
        _ => read::value::<PublishedKeys>(document).is_ok(),
    }
}

#[test]
fn the_schema_of_the_message_is_published_under_the_name_that_every_message_carries() {
    assert_eq!(schemas()["message"]["$id"], SCHEMA);
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../../tests/data/clarification-vectors.json")).unwrap();
    assert!(judges()["message"].is_valid(&vectors["message"]));
}

#[test]
fn everything_that_we_write_is_as_its_schema_says() {
    let judges = judges();
    for (name, document) in documents() {
        let found: Vec<String> =
            judges[name].iter_errors(&document).map(|e| format!("{} {e}", e.instance_path())).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
        assert!(is_read(name, &document), "{name}");
    }
}

#[test]
fn the_schemas_and_our_own_reading_refuse_the_same() {
    let judges = judges();
    for (name, document) in documents() {
        for member in document.as_object().unwrap().keys() {
            let less = signed::without(&document, member);
            assert_eq!(judges[name].is_valid(&less), is_read(name, &less), "{name} without {member}");
            for odd in [json!(null), json!([[]]), json!(true), json!(-1), json!("2026-05-10T15:00:00+00:00")] {
                let mut other = document.clone();
                other[member] = odd;
                assert_eq!(judges[name].is_valid(&other), is_read(name, &other), "{name}: {member}: {}", other[member]);
            }
        }
        let mut more = document.clone();
        more["note"] = json!("more");
        assert!(!judges[name].is_valid(&more) && !is_read(name, &more), "{name}");
    }
}
