//! The chain: its content, its immutability, and that every reader can detect a change.

use countersign_jose::clarification::AgentKey;
use countersign_testkit::{
    Setup,
    clarification::{Clarifying, SigningParty, chain_in_store, id_of, proven, python_finds, rewrite_chain, stamp},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

fn plan() -> Value {
    json!({ "hosting": {}, "backup": {}, "transfer": { "recipient": "Harbour Estates" } })
}

/// The gaps of [`plan`], in the order in which they are numbered.
const ACCOUNT: &str = "gap-001";
const REGION: &str = "gap-002";
const COPIES: &str = "gap-003";

/// A session of every kind of entry: own answers, an invalid one, a person's, and a changed plan.
async fn eventful(stage: &Clarifying) -> Value {
    let asked = stage.submits(&plan()).await;
    stage.plane.advance_secs(1).await;
    stage.answers(&asked, REGION, "EU").await;
    stage.plane.advance_secs(1).await;
    let told = stage.answers(&asked, ACCOUNT, "the usual one").await;
    stage.plane.advance_secs(83).await;
    stage.alice.answers(&stage.plane, &told, json!("savings")).await;
    let mut changed = plan();
    changed["title"] = json!("Rent");
    stage.submits_in(&asked, &changed).await.expect(200);
    stage.answers(&asked, "gap-004", "3").await;
    asked
}

/// The path of every scalar value of a document.
fn leaves(document: &Value, place: &str, found: &mut Vec<String>) {
    match document {
        Value::Object(members) => members.iter().for_each(|(name, inner)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            leaves(inner, &format!("{place}/{name}"), found);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| leaves(inner, &format!("{place}/{at}"), found));
        }
        _ => found.push(place.to_owned()),
    }
}

/// Another value of the same kind.
fn otherwise(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_f64().unwrap() as i64 + 1),
        Value::String(text) if text.ends_with('Z') => {
            json!(text.replacen("12:0", "12:4", 1).replacen("2026", "2025", 1))
        }
        Value::String(text) => match text.char_indices().rev().find(|(_, c)| c.is_ascii_alphanumeric()) {
            Some((at, '7')) => json!(format!("{}3{}", &text[..at], &text[at + 1..])),
            Some((at, _)) => json!(format!("{}7{}", &text[..at], &text[at + 1..])),
            None => json!(format!("{text}7")),
        },
        _ => json!(7),
    }
}

fn rounds(audit: &Value) -> Vec<&Value> {
    audit["record"]["chain"].as_array().unwrap().iter().filter(|entry| entry.get("round").is_some()).collect()
}

#[track_caller]
fn is_refused_by_both(keys: &Value, document: &Value, what: &str) {
    assert!(proven(keys, document).is_err(), "ours accepts {what}");
    assert!(python_finds(Some(keys), document).is_some(), "Python accepts {what}");
}

on_sqlite! {
    /// WWA-6.3-01, WWA-7-02, WWA-7-03, WWA-7-05, WWA-7-06, WWA-7-07, WWA-7-09, WWA-7-10, WWA-7-11, WWA-2-03, WWA-7-13,
    /// WWA-7-14
    async fn every_round_stands_in_the_chain_as_it_was_asked_and_answered(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = eventful(&stage).await;
        let audit = stage.audit(&asked).await;
        let record = &audit["record"];
        assert_eq!((record["session_id"].as_str(), &record["total_rounds"]), (Some(id_of(&asked)), &json!(4)));
        assert_eq!((&record["all_resolved"], record["chain"].as_array().unwrap().len()), (&json!(true), 5));
        let rounds = rounds(&audit);
        let said: Vec<(u64, String, String, bool)> = rounds.iter().map(|r| {
            let text = |value: &'_ Value| value.as_str().unwrap().to_owned();
            (r["round"].as_u64().unwrap(), text(&r["gap"]["id"]), text(&r["answer"]), r["resolved"] == true)
        }).collect();
        let expected = [
            (1, REGION, "EU", true),
            (2, ACCOUNT, "the usual one", false),
            (3, ACCOUNT, "savings", true),
            (4, "gap-004", "3", true),
        ];
        assert_eq!(said, expected.map(|(round, gap, answer, settled)| (round, gap.into(), answer.into(), settled)));
        let as_asked = |id: &str| asked["gaps"].as_array().unwrap().iter().find(|gap| gap["id"] == id).unwrap();
        let stored = (&rounds[0]["gap"], &rounds[2]["gap"]);
        assert_eq!(stored, (as_asked(REGION), as_asked(ACCOUNT)), "whole, as it was asked");
        let times: Vec<&str> = rounds.iter()
            .flat_map(|r| [r["ask_timestamp"].as_str().unwrap(), r["answer_timestamp"].as_str().unwrap()]).collect();
        assert!(times.is_sorted() && times.first() < times.last(), "{times:?}");
        for (view, round) in audit["clarification_chain"].as_array().unwrap().iter().zip(&rounds) {
            assert_eq!(view["timestamp"], round["answer_timestamp"]);
            assert_eq!(view["signature"], round["answer_signature"]);
            assert_eq!((&view["ask"]["ask_signature"], &view["ask"]["gap"]), (&round["ask_signature"], &round["gap"]));
            assert_eq!(view["answer"]["answer"], round["answer"]);
            assert_eq!(view["answer"]["answer_signature"], round["answer_signature"]);
        }
        let report = proven(&stage.keys().await, &audit).unwrap();
        let told: Vec<(&str, &str, bool)> =
            report.rounds.iter().map(|r| (r.gap_id.as_str(), r.answer.as_str(), r.attested)).collect();
        assert_eq!(told[2], (ACCOUNT, "savings", false));
    }

    /// WWA-7-01
    async fn no_request_changes_the_entries_of_a_chain(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&plan()).await;
        stage.answers(&asked, REGION, "eu").await;
        let mut stood = chain_in_store(&stage.plane.place).await;
        let audit = stage.audit(&asked).await;
        let path = format!("/v1/clarification/audit?session_id={}", id_of(&asked));
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::POST] {
            for path in [path.as_str(), "/v1/clarification/list-gaps", "/v1/clarification/session-status"] {
                let answer = stage.agent.send(&stage.plane.public, method.clone(), path, Some(audit.to_string())).await;
                assert!(!answer.is_success(), "{method} {path}");
            }
        }
        assert_eq!(stage.audit(&asked).await, audit);
        let mut changed = plan();
        changed["title"] = json!("Rent");
        for step in 0..6 {
            match step {
                0 => drop(stage.tries_answer(&asked, REGION, "us").await),
                1 => drop(stage.answers(&asked, ACCOUNT, "no").await),
                2 => drop(stage.submits_in(&asked, &changed).await.expect(200)),
                3 => drop(stage.rotates_key().await),
                4 => drop(stage.answers(&asked, "gap-005", "2").await),
                _ => drop(stage.confirms(&asked).await),
            }
            let now = chain_in_store(&stage.plane.place).await;
            assert_eq!(now.get(..stood.len()), Some(stood.as_slice()), "after step {step}");
            stood = now;
        }
        assert_eq!(stood.len(), 5, "two rounds, another plan, another key, one more round");
    }

    /// WWA-7-01, WWA-7-04, WWA-7-08, WWA-7-12, WWA-7-15, WWA-7-16, WWA-9-02
    async fn any_value_that_was_changed_afterwards_is_found_by_both_verifiers(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = eventful(&stage).await;
        stage.confirms(&asked).await;
        let (keys, audit) = (stage.keys().await, stage.audit(&asked).await);
        let mut places = Vec::new();
        leaves(&audit, "", &mut places);
        assert!(places.len() > 150, "{}", places.len());
        for place in places {
            let mut forged = audit.clone();
            let value = forged.pointer_mut(&place).unwrap();
            *value = otherwise(value);
            is_refused_by_both(&keys, &forged, &place);
        }
    }

    /// WWA-7-01
    async fn a_chain_that_was_changed_in_the_database_cannot_be_proven_any_more(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = eventful(&stage).await;
        assert_eq!(stage.audit(&asked).await["record"]["chain"][2]["answer"], "savings");
        rewrite_chain(&stage.plane.place, "\"answer\":\"savings\"", "\"answer\":\"current\"").await;
        let below = format!("/v1/clarification/audit?session_id={}", id_of(&asked));
        let told = stage.agent.send(&stage.plane.public, Method::GET, &below, None).await.expect(200).json();
        let keys = stage.keys().await;
        let wrong = proven(&keys, &told).unwrap_err();
        assert!(wrong.place.starts_with("record.chain[2]"), "{wrong}");
        assert!(python_finds(Some(&keys), &told).unwrap().contains("chain[2]"));
    }

    /// WWA-6.2-04, WWA-6.2-05, WWA-7-08, WWA-4-05, WWA-4-06
    async fn a_signed_answer_is_taken_only_fresh_sound_and_as_an_answer_to_this_very_question(kit) {
        let stage = Clarifying::with(kit, Setup::clarifying_with(|document| {
            let listed = AgentKey::from_seed([1; 32]).public_key().to_string();
            document.clarification.agents.insert("hermes".into(), listed);
        })).await;
        let (hermes, impostor) = (SigningParty::new("hermes", 1), SigningParty::new("hermes", 2));
        let checked = stage.submits(&plan()).await;
        let now = stamp(&stage.plane);
        let sound = hermes.signs(&checked, REGION, "eu", &now);
        let with = |change: &dyn Fn(&mut Value)| {
            let mut body = sound.clone();
            change(&mut body);
            body
        };
        let refused = [
            ("another answer", with(&|body| body["answer"] = json!("us"))),
            ("another gap", with(&|body| body["gap_id"] = json!(COPIES))),
            ("another time", with(&|body| body["answer_timestamp"] = json!("2026-11-15T12:00:01Z"))),
            ("another name", with(&|body| body["answered_by"]["agent_id"] = json!("hermes2"))),
            ("an offset", with(&|body| body["answer_timestamp"] = json!("2026-11-15T12:00:00+00:00"))),
            ("no signature", with(&|body| drop(body.as_object_mut().unwrap().remove("answer_signature")))),
            ("no time", with(&|body| drop(body.as_object_mut().unwrap().remove("answer_timestamp")))),
            ("not attested", with(&|body| body["answered_by"]["attested"] = json!(false))),
            ("a short key", with(&|body| body["answered_by"]["public_key"] = json!("ed25519:00ff"))),
            ("somebody else's key", impostor.signs(&checked, REGION, "eu", &now)),
            ("61 s ago", hermes.signs(&checked, REGION, "eu", "2026-11-15T11:58:59Z")),
            ("in 61 s", hermes.signs(&checked, REGION, "eu", "2026-11-15T12:01:01Z")),
        ];
        for (what, body) in refused {
            let answer = stage.post(&stage.agent, "resolve-gap", &body).await;
            assert!(matches!(answer.status, 400 | 403), "{what}: {} {}", answer.status, answer.text());
        }
        assert_eq!(rounds(&stage.audit(&checked).await).len(), 0);
        stage.post(&stage.agent, "resolve-gap", &sound).await.expect(200);
        let audit = stage.audit(&checked).await;
        let round = rounds(&audit)[0];
        let by = json!({ "agent_id": "hermes", "public_key": hermes.key.public_key(), "attested": true });
        assert_eq!(round["answered_by"], by);
        assert_eq!((&round["answer_signature"], &round["given_by"]), (&sound["answer_signature"], &json!("own")));

        stage.answers(&checked, COPIES, "3").await;
        let audit = stage.audit(&checked).await;
        let receipt = &rounds(&audit)[1]["answered_by"];
        assert_eq!((&receipt["agent_id"], &receipt["attested"]), (&json!("calendar-asks"), &json!(false)));
        assert_eq!(receipt["public_key"], stage.keys().await["keys"][0]["public_key"]);
    }

    /// WWA-9-01, WWA-9-02, WWA-7-13
    async fn an_attestation_and_a_handoff_hold_the_chain_and_fall_with_it(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = eventful(&stage).await;
        let open = stage.handoff(&asked).await;
        assert_eq!(open.get("plan"), None, "it is not confirmed yet");
        let accepted = stage.confirms(&asked).await;
        let (keys, audit, handed) = (stage.keys().await, stage.audit(&asked).await, stage.handoff(&asked).await);
        let (attestation, record) = (&accepted["attestation"], &audit["record"]);
        assert_eq!(attestation["clarification"]["rounds"], record["total_rounds"]);
        assert_eq!(attestation["inputs"]["clarification_rounds"], record["total_rounds"]);
        assert_eq!(attestation["clarification"]["head"], record["chain"][4]["entry_hash"]);
        assert_eq!(attestation["inputs"]["clarification_chain_ref"], record["chain"][4]["entry_hash"]);
        assert_eq!(attestation["clarification"]["chain_signature"], record["chain_signature"]);
        assert_eq!((&handed["context"]["clarification"], &handed["plan"]), (record, &accepted["plan"]));
        for document in [attestation, &handed] {
            let mut places = Vec::new();
            leaves(document, "", &mut places);
            for place in places {
                let mut forged = document.clone();
                let value = forged.pointer_mut(&place).unwrap();
                *value = otherwise(value);
                is_refused_by_both(&keys, &forged, &place);
            }
        }
    }
}
