//! The gaps: their signature, the work they block, and their answers.

use countersign_testkit::{
    Backend, Kit,
    clarification::{ASKS_AS, Clarifying, open, problems, proven, python_finds},
    on_sqlite,
};
use serde_json::{Value, json};

/// The conditions under which an agent must ask: a plan for each, the location of its one gap, and its severity.
fn conditions() -> [(Value, &'static str, &'static str, &'static str); 6] {
    [
        (json!({ "components": [{ "name": "header" }] }), "components[0].type", "/components/0/type", "BLOCK"),
        (json!({ "library": "use the standard one" }), "library", "/library", "BLOCK"),
        (
            json!({ "compliance": { "standards": ["GDPR"] } }),
            "compliance.overlaps.gdpr-lgpd",
            "/compliance/overlaps/gdpr-lgpd",
            "WARN",
        ),
        (
            json!({ "patterns": ["VA.gov patterns"], "compliance": { "standards": ["UK MOD"] } }),
            "compliance.jurisdiction",
            "/compliance/jurisdiction",
            "BLOCK",
        ),
        (json!({ "languages": ["ar-sa"] }), "layout.direction", "/layout/direction", "WARN"),
        (json!({ "build": { "mode": "real" } }), "build.output_directory", "/build/output_directory", "BLOCK"),
    ]
}

/// A plan with a single WARN gap.
fn warned() -> Value {
    json!({ "languages": ["ar-sa"] })
}

/// A plan with two BLOCK gaps and one WARN gap.
fn three() -> Value {
    json!({ "hosting": {}, "backup": {}, "languages": ["ar-sa"] })
}

/// The message with one member changed or removed, for each member.
fn changed(message: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, value) in message.as_object().unwrap() {
        let mut without = message.clone();
        without.as_object_mut().unwrap().remove(name);
        all.push((format!("without {name}"), without));
        let mut other = message.clone();
        other[name] = match value {
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::Array(_) => json!([]),
            Value::String(text) if name == "status" => json!(text.replace("needs_clarification", "ready_to_proceed")),
            Value::String(text) => json!(other_hex(text)),
            _ => unreachable!("members are texts, numbers and a list"),
        };
        all.push((format!("another {name}"), other));
    }
    for (name, value) in message["gaps"][0].as_object().unwrap() {
        let mut other = message.clone();
        other["gaps"][0][name] = match value {
            Value::Array(list) => json!(list[1..]),
            Value::Bool(flag) => json!(!flag),
            Value::String(text) if name == "severity" => json!(if text == "BLOCK" { "WARN" } else { "BLOCK" }),
            Value::String(text) if name == "id" => json!(text.replace("gap-0", "gap-1")),
            value => json!(format!("{} indeed", value.as_str().unwrap())),
        };
        all.push((format!("another {name} of the gap"), other));
    }
    all
}

/// The same text except for its last digit.
fn other_hex(text: &str) -> String {
    let last = text.chars().rev().find(char::is_ascii_alphanumeric).unwrap();
    let at = text.rfind(last).unwrap();
    let next = if last == '7' { '3' } else { '7' };
    format!("{}{next}{}", &text[..at], &text[at + 1..])
}

on_sqlite! {
    /// WWA-3-01, WWA-3-02, WWA-3-03, WWA-3-04, WWA-3-05, WWA-3-06, WWA-2-02, WWA-4-09, WWA-4-10, WWA-4-11, WWA-4-12,
    /// WWA-4-13, WWA-4-16, WWA-4-17
    async fn each_condition_is_one_gap_about_one_field(kit) {
        let stage = Clarifying::start(kit).await;
        for (plan, field, pointer, severity) in conditions() {
            let asked = stage.submits(&plan).await;
            assert_eq!((&asked["status"], open(&asked).len()), (&json!("needs_clarification"), 1), "{asked:#}");
            let gap = &asked["gaps"][0];
            assert_eq!((&gap["id"], &gap["field"]), (&json!("gap-001"), &json!(field)));
            assert_eq!((&gap["pointer"], &gap["severity"]), (&json!(pointer), &json!(severity)));
            let question = gap["question"].as_str().unwrap();
            assert!(question.contains(field) || question.contains("jurisdiction"), "{question}");
            assert!(!gap["context"].as_str().unwrap().is_empty() && gap["suggestions"].is_array());
            let counts = if severity == "BLOCK" { (1, 0) } else { (0, 1) };
            assert_eq!((&asked["blocking_count"], &asked["warning_count"]), (&json!(counts.0), &json!(counts.1)));
            if let Some(suggestion) = gap["suggestions"][0].as_str() {
                assert_eq!(stage.answers(&asked, "gap-001", suggestion).await["accepted_answer"], suggestion);
            }
        }
        let clear = stage.submits(&json!({ "title": "everything is said" })).await;
        assert_eq!((&clear["status"], &clear["gaps"]), (&json!("ready_to_proceed"), &json!([])));
    }

    /// WWA-1-01, WWA-2-01, WWA-5-01, WWA-8-02, WWA-3-07, WWA-8-03, WWA-5-04, WWA-4-07
    async fn with_any_open_gap_there_is_no_plan_no_attestation_and_nothing_in_part(kit) {
        let stage = Clarifying::start(kit).await;
        for plan in [warned(), json!({ "hosting": {} }), json!({ "library": "as usual" })] {
            let body = json!({ "plan_object": plan });
            let asked = stage.post(&stage.agent, "scaffold-plan", &body).await.expect(200).json();
            let refused = [
                asked.clone(),
                stage.posts_session(&asked, "attest").await,
                stage.posts_session(&asked, "confirm-plan").await,
                stage.post(&stage.agent, "scaffold-plan", &body).await.expect(200).json(),
                stage.gaps(&asked).await,
            ];
            for told in refused {
                assert_eq!(told["status"], "needs_clarification");
                assert_eq!(told["gaps"].as_array().unwrap().len(), 1);
                assert!(told["gaps"][0]["severity"].is_string() && told["gaps"][0]["suggestions"].is_array());
                assert_eq!((told.get("plan"), told.get("attestation")), (None, None), "{told:#}");
            }
            assert_eq!(stage.handoff(&asked).await.get("plan"), None);
            let audit = stage.audit(&asked).await;
            assert_eq!((audit.get("accepted_plan"), audit.get("attestation")), (None, None));
        }
    }

    /// WWA-4-01, WWA-4-02, WWA-4-03, WWA-4-04, WWA-4-05, WWA-4-06, WWA-4-18, WWA-1-02, WWA-9-03
    async fn a_message_names_its_asker_and_is_signed_as_a_whole(kit) {
        let stage = Clarifying::start(kit).await;
        let message = stage.submits(&three()).await["clarification"].clone();
        let keys = stage.keys().await;
        assert_eq!(message["$schema"], "https://workswithagents.dev/specs/clarification-protocol.json");
        assert_eq!((&message["protocol_version"], &message["agent_id"]), (&json!("1.0.0"), &json!(ASKS_AS)));
        assert_eq!(message["agent_public_key"], keys["keys"][0]["public_key"]);
        assert_eq!(message["timestamp"], "2026-11-15T12:00:00.000Z");
        for (member, digits) in [("agent_public_key", 64), ("signature", 128)] {
            let hex = message[member].as_str().unwrap().strip_prefix("ed25519:").unwrap();
            assert!(hex.len() == digits && hex.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{hex}");
        }
        assert_eq!(problems("message", &message), [""; 0]);
        let without_keys = python_finds(None, &message);
        assert_eq!(without_keys, None, "integrity needs no keys");
        for (what, forged) in changed(&message) {
            assert!(proven(&keys, &forged).is_err(), "{what}: {forged:#}");
            assert!(python_finds(Some(&keys), &forged).is_some(), "{what}: {forged:#}");
        }
    }
}

/// WWA-8-01: a new endpoint must declare here its behaviour while a gap is open.
#[tokio::test]
async fn every_endpoint_is_known_to_be_refused_or_to_generate_nothing() {
    // In `with_any_open_gap_there_is_no_plan_no_attestation_and_nothing_in_part`.
    let refused = ["attest", "confirm-plan", "handoff", "scaffold-plan"];
    let asks = [
        "abandon",
        "audit",
        "keys",
        "list-gaps",
        "resolve-gap",
        "rotate-key",
        "session-status",
        "submit-clarification",
    ];
    let plane = Kit(Backend::Sqlite).plane().await;
    let described = plane.get("/openapi.json").await.expect(200).json();
    let paths = described["paths"].as_object().unwrap().keys();
    let mut found: Vec<&str> = paths.filter_map(|path| path.strip_prefix("/v1/clarification/")).collect();
    found.sort_unstable();
    let mut known = [refused.as_slice(), &asks].concat();
    known.sort_unstable();
    assert_eq!(found, known);
}
