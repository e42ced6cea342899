//! The gaps: their signature, the work they block, and their answers.

use countersign_testkit::{
    Backend, Kit, Setup,
    clarification::{ASKS_AS, Clarifying, id_of, open, problems, proven, python_finds, required},
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
        let stage = Clarifying::set(kit).await;
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
        let stage = Clarifying::set(kit).await;
        for plan in [warned(), json!({ "hosting": {} }), json!({ "library": "as usual" })] {
            let body = json!({ "plan_object": plan });
            let asked = stage.post(&stage.agent, "scaffold-plan", &body).await.expect(200).json();
            let refused = [
                asked.clone(),
                stage.names(&asked, "attest").await,
                stage.names(&asked, "confirm-plan").await,
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

    /// WWA-3-07, WWA-8-03, WWA-4-07
    async fn a_plan_comes_after_the_last_answer_and_a_confirmation_and_not_before(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&warned()).await;
        stage.answers(&asked, "gap-001", "rtl").await;
        let body = json!({ "plan_object": warned(), "session_id": id_of(&asked) });
        for (below, body) in [("scaffold-plan", &body), ("attest", &json!({ "session_id": id_of(&asked) }))] {
            let told = stage.post(&stage.agent, below, body).await.expect(200).json();
            assert_eq!(told["status"], "ready_to_proceed", "{below}");
            assert_eq!((told.get("plan"), told.get("attestation")), (None, None), "{told:#}");
        }
        assert_eq!(stage.confirms(&asked).await["status"], "plan_accepted");
        let plan = json!({ "languages": ["ar-sa"], "layout": { "direction": "rtl" } });
        assert_eq!(stage.post(&stage.agent, "scaffold-plan", &body).await.expect(200).json()["plan"], plan);
        let again = json!({ "plan_object": plan });
        assert_eq!(stage.post(&stage.agent, "scaffold-plan", &again).await.expect(200).json()["plan"], plan);
        assert_eq!(stage.names(&asked, "attest").await["status"], "attested");
    }

    /// WWA-3-08, WWA-4-15, WWA-6.2-02
    async fn accept_settles_a_warning_and_never_a_block(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&json!({ "backup": {}, "languages": ["ar-sa"] })).await;
        for answer in ["accept", " ACCEPT ", "", "  ", "as usual", "many"] {
            let told = stage.answers(&asked, "gap-002", answer).await;
            assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("escalated"), &Value::Null), "{answer:?}");
            assert_eq!(told["open_gaps"], 2, "{answer:?}");
        }
        let told = stage.answers(&asked, "gap-001", " Accept").await;
        assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("resolved"), &json!("accept")));
        let status = stage.status(&asked).await;
        assert_eq!((&status["accepted_gaps"], &status["blocking_gaps"]), (&json!(1), &json!(1)));
        assert_eq!(stage.alice.waiting_questions(&stage.plane).await, 1, "however often it was no answer");
    }

    /// WWA-4-01, WWA-4-02, WWA-4-03, WWA-4-04, WWA-4-05, WWA-4-06, WWA-4-18, WWA-1-02, WWA-9-03
    async fn a_message_names_its_asker_and_is_signed_as_a_whole(kit) {
        let stage = Clarifying::set(kit).await;
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

    /// WWA-4-15, WWA-4-16, WWA-4-17, WWA-5-03, WWA-4-06, WWA-6.1-01
    async fn gaps_are_answered_one_by_one_and_the_counts_are_a_recount(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&three()).await;
        let mut before = asked.clone();
        for (done, (gap, answer)) in [("gap-001", "rtl"), ("gap-003", "2"), ("gap-002", "us")].into_iter().enumerate() {
            stage.plane.advance_secs(7).await;
            assert_eq!(stage.answers(&asked, gap, answer).await["open_gaps"], 2 - done);
            let now = stage.gaps(&asked).await;
            let left: Vec<&Value> = before["gaps"].as_array().unwrap().iter().filter(|g| g["id"] != gap).collect();
            assert_eq!(now["gaps"].as_array().unwrap().iter().collect::<Vec<_>>(), left, "the others are as they were");
            let of = |severity: &str| left.iter().filter(|gap| gap["severity"] == severity).count();
            let message = &now["clarification"];
            assert_eq!(message["blocking_gaps"], of("BLOCK"));
            assert_eq!(message["warning_gaps"], of("WARN"));
            assert_eq!(message["accepted_gaps"], done + 1);
            assert!(message["timestamp"].as_str() > before["clarification"]["timestamp"].as_str());
            let status = stage.status(&asked).await;
            for member in ["status", "accepted_gaps", "blocking_gaps", "warning_gaps"] {
                assert_eq!(status[member], message[member]);
            }
            before = now;
        }
        assert_eq!((&before["status"], &before["gaps"]), (&json!("ready_to_proceed"), &json!([])));
    }

    /// WWA-5-02, WWA-4-13, WWA-6.2-02, WWA-7-07
    async fn a_suggestion_is_taken_in_its_own_spelling_and_other_words_as_they_are(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&json!({ "library": "the usual one", "hosting": {}, "backup": {} })).await;
        let told = stage.answers(&asked, "gap-002", "moon").await;
        assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("escalated"), &Value::Null));
        assert!(told["reason"].as_str().unwrap().contains("eu, us"), "{told}");
        assert_eq!(stage.answers(&asked, "gap-002", "  EU\t").await["accepted_answer"], "eu");
        let words = "  govuk  Frontend ";
        assert_eq!(stage.answers(&asked, "gap-001", words).await["accepted_answer"], words);
        assert_eq!(stage.answers(&asked, "gap-003", "12.50").await["accepted_answer"], "12.50");
        let audit = stage.audit(&asked).await;
        let said: Vec<&Value> = audit["record"]["chain"].as_array().unwrap().iter().map(|e| &e["answer"]).collect();
        assert_eq!(said, ["moon", "  EU\t", words, "12.50"], "in the chain as it was said");
        let plan = json!({ "library": words, "hosting": { "region": "eu" }, "backup": { "copies": 12.5 } });
        assert_eq!(stage.confirms(&asked).await["plan"], plan);
    }

    /// WWA-6.2-03, WWA-7-01
    async fn the_same_answer_again_says_nothing_new_and_another_one_is_refused(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&three()).await;
        for (gap, answer, other) in [("gap-002", "eu", "us"), ("gap-003", "no number", "")] {
            let first = stage.tries_to_answer(&asked, gap, answer).await.expect(200);
            let audit = stage.audit(&asked).await;
            stage.plane.advance_secs(1).await;
            assert_eq!(stage.tries_to_answer(&asked, gap, answer).await.expect(200).body, first.body);
            assert_eq!(stage.audit(&asked).await, audit);
            let told = stage.tries_to_answer(&asked, gap, other).await;
            match gap {
                "gap-002" => {
                    assert_eq!(told.refusal(), (409, "already_resolved".into()));
                    assert_eq!(stage.audit(&asked).await, audit);
                }
                _ => assert_eq!(told.expect(200).json()["status"], "escalated"),
            }
        }
    }

    /// WWA-2-01, WWA-4-07
    async fn a_gap_raised_by_an_answer_is_asked_before_anything_goes_on(kit) {
        let stage = Clarifying::set(kit).await;
        let plan = json!({ "libraries": ["the usual one"], "compliance": { "standards": ["jsp-440"] } });
        let asked = stage.submits(&plan).await;
        assert_eq!(open(&asked), [("gap-001".to_owned(), "libraries[0]".to_owned())]);
        assert_eq!(stage.answers(&asked, "gap-001", "uswds").await["open_gaps"], 1);
        let told = stage.confirms(&asked).await;
        assert_eq!(told["status"], "needs_clarification");
        assert_eq!(open(&told)[0].1, "compliance.jurisdiction");
        stage.answers(&asked, "gap-002", "both").await;
        assert_eq!(stage.confirms(&asked).await["plan"]["libraries"], json!(["uswds"]));
    }

    /// WWA-4-14, WWA-8-04
    async fn a_gap_that_blocks_one_thing_alone_still_keeps_every_plan_back(kit) {
        for blocked in ["planner", "developer", "build", "attest"] {
            let stage = Clarifying::with(kit, Setup::clarifying_with(|document| {
                let rule = required("why", "trip.why", json!({ "blocked_operations": [blocked] }));
                document.clarification.rules = vec![serde_json::from_value(rule).unwrap()];
            })).await;
            let body = json!({ "plan_object": { "trip": {} } });
            let asked = stage.post(&stage.agent, "scaffold-plan", &body).await.expect(200).json();
            assert_eq!(asked["gaps"][0]["blocked_operations"], json!([blocked]));
            for told in [asked.clone(), stage.names(&asked, "attest").await, stage.confirms(&asked).await] {
                assert_eq!(told["status"], "needs_clarification", "{blocked}");
                assert_eq!((told.get("plan"), told.get("attestation")), (None, None));
            }
            stage.answers(&asked, "gap-001", "to see the sea").await;
            assert_eq!(stage.confirms(&asked).await["status"], "plan_accepted");
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
