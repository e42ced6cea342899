//! All validators agree, on valid documents and on thousands of copies with one defect each.

use super::{
    documents,
    spoil::{Spoiled, spoiled},
};
use crate::judge;
use countersign_protocol::aaep::{check, handshake, ingest, manifest::Manifest, reply};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    process::{Command, Stdio},
};

#[test]
fn our_reader_and_our_schemas_agree_on_every_spoiled_event() {
    for name in documents::EVENTS {
        for Spoiled { what, document } in spoiled(name, &documents::event(name)) {
            let (read, schema) = (check::event(&document), judge::problems(schema_of(&document, name), &document));
            assert_eq!(read.is_empty(), schema.is_empty(), "{name}, {what}: reader {read:?}, schema {schema:?}");
        }
    }
}

/// An event with another core type is validated as that type, by both.
fn schema_of<'n>(document: &'n Value, name: &'n str) -> &'n str {
    let told = document["type"].as_str().and_then(|told| told.strip_prefix("aaep:"));
    told.filter(|told| documents::EVENTS.contains(told)).unwrap_or(name)
}

#[test]
fn our_readers_and_our_schemas_agree_on_every_spoiled_message() {
    for name in documents::MESSAGES {
        for Spoiled { what, document } in spoiled(name, &documents::message(name)) {
            let mut schema = judge::problems(name, &document);
            schema.retain(|problem| !is_unknown_capability(problem));
            assert_eq!(readable(name, &document), schema.is_empty(), "{name}, {what}: schema {schema:?}");
        }
    }
}

/// We ignore an unknown capability that is not an object, although the schemas refuse it (C23).
fn is_unknown_capability(problem: &str) -> bool {
    let names = ["a", "amount_raw", "@id", "org_reader"];
    let places = ["/capabilities", "/honored_capabilities"];
    places.iter().any(|place| names.iter().any(|name| problem == format!("type at {place}/{name}")))
}

fn readable(name: &str, document: &Value) -> bool {
    match name {
        "subscription.request" => handshake::SubscriptionRequest::parse(document).is_ok(),
        "subscription.accepted" => handshake::SubscriptionAccepted::parse(document).is_ok(),
        "subscription.rejected" => handshake::SubscriptionRejected::parse(document).is_ok(),
        "subscription.renegotiate" => handshake::Renegotiate::parse(document).is_ok(),
        "subscription.close" => handshake::Close::parse(document).is_ok(),
        "producer.manifest" => Manifest::parse(document.to_string().as_bytes()).is_ok(),
        _ => reply::parse(document, false).is_ok_and(|_| document["type"] == name),
    }
}

#[test]
fn nothing_that_the_published_schemas_refuse_is_taken_or_called_sound() {
    for name in documents::EVENTS {
        for Spoiled { what, document } in spoiled(name, &documents::event(name)) {
            let told = schema_of(&document, name);
            let published = judge::published_problems(told, &document);
            assert!(published.is_empty() || !check::event(&document).is_empty(), "{name}, {what}: {published:?}");
        }
        for Spoiled { what, mut document } in spoiled(name, &documents::ingest(name)) {
            let taken = ingest::published(&document).is_ok();
            complete(&mut document);
            let published = judge::published_problems(schema_of(&document, name), &document);
            assert!(published.is_empty() || !taken, "{name}, {what}: {published:?}");
        }
    }
    for name in documents::MESSAGES {
        for Spoiled { what, document } in spoiled(name, &documents::message(name)) {
            let published = judge::published_problems(name, &document);
            assert!(published.is_empty() || !judge::problems(name, &document).is_empty(), "{name}, {what}");
        }
    }
}

/// Adds the members stamped by the hub, and rewrites the type to the form in the schemas.
fn complete(document: &mut Value) {
    let whole = documents::event("agent.awaiting.confirmation");
    for member in ["@context", "event_id", "session_id", "timestamp", "producer", "reply_token"] {
        if document.get(member).is_none() {
            document[member] = whole[member].clone();
        }
    }
    if let Some(name) = document["type"].as_str().and_then(|t| t.strip_prefix("https://aaep-protocol.org/types/")) {
        document["type"] = json!(format!("aaep:{name}"));
    }
}

/// Ajv and our validator give the same verdict for every document.
#[test]
fn another_languages_validator_agrees_with_ours_by_our_schemas() {
    let schemas = judge::schemas();
    let events = documents::EVENTS.iter().map(|name| (*name, documents::event(name)));
    let messages = documents::MESSAGES.iter().map(|name| (*name, documents::message(name)));
    let mut cases = Vec::new();
    for (name, sound) in events.chain(messages) {
        cases.push((name, Spoiled { what: "as it is".into(), document: sound.clone() }));
        // Long texts are covered by the other tests; megabytes of them prove nothing more here.
        let short = |spoiled: &Spoiled| spoiled.document.to_string().len() < 4000;
        cases.extend(spoiled(name, &sound).into_iter().filter(short).map(|spoiled| (name, spoiled)));
    }
    let asked: Vec<Value> =
        cases.iter().map(|(name, s)| json!({ "schema": schemas[*name]["$id"], "document": s.document })).collect();
    let verdicts = ajv(&json!({ "schemas": schemas.values().collect::<Vec<_>>(), "cases": asked }));
    assert_eq!(verdicts.len(), cases.len());
    for ((name, spoiled), valid) in cases.iter().zip(verdicts) {
        let found = judge::problems(name, &spoiled.document);
        assert_eq!(valid, found.is_empty(), "{name}, {}: {found:?}", spoiled.what);
    }
}

fn ajv(input: &Value) -> Vec<bool> {
    let mut node = Command::new("node");
    node.arg(judge::root().join("tests/tools/judge-documents.mjs"));
    let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("these tests need Node");
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the second judge failed; is ajv installed? (./test --prepare)");
    serde_json::from_slice(&output.stdout).unwrap()
}
