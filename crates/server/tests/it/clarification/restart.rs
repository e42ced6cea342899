//! Restarts and replays change nothing, and of several concurrent requests one succeeds.

use countersign_testkit::{
    Backend, Kit,
    clarification::{Clarifying, SigningParty, answering, id_of, proven, stamp},
    on_both_stores,
};
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn plan() -> Value {
    json!({ "hosting": {}, "transfer": { "recipient": "Harbour Estates" } })
}

const ACCOUNT: &str = "gap-001";
const REGION: &str = "gap-002";

/// Everything readable of a session, to the byte.
async fn said(stage: &Clarifying, session: &Value) -> Vec<Vec<u8>> {
    let mut said = Vec::new();
    for below in ["list-gaps", "session-status", "audit"] {
        said.push(stage.get(&stage.agent, below, session).await.expect(200).body);
    }
    said.push(stage.keys().await.to_string().into_bytes());
    said
}

/// Stops the plane and starts it again; every reading is unchanged.
async fn restarted(stage: Clarifying, session: &Value) -> Clarifying {
    let before = said(&stage, session).await;
    let stage = stage.restarted().await;
    assert_eq!(said(&stage, session).await, before);
    stage
}

fn rounds(audit: &Value) -> Vec<(Value, Value)> {
    let chain = audit["record"]["chain"].as_array().unwrap();
    let rounds = chain.iter().filter(|entry| entry.get("round").is_some());
    rounds.map(|entry| (entry["gap"]["id"].clone(), entry["answer"].clone())).collect()
}

on_both_stores! {
    /// WWA-1-03, WWA-2-04, WWA-7-01
    async fn a_story_that_is_interrupted_between_any_two_steps_is_the_same_story(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&plan()).await;
        let bytes = stage.submits_in(&asked, &plan()).await.expect(200).body;
        let stage = restarted(stage, &asked).await;
        assert_eq!(stage.submits_in(&asked, &plan()).await.expect(200).body, bytes);
        assert_eq!(stage.submits(&plan()).await, asked, "found again without its id");

        let resolved = stage.answers(&asked, REGION, "eu").await;
        let stage = restarted(stage, &asked).await;
        assert_eq!(stage.answers(&asked, REGION, "eu").await, resolved);
        let told = stage.answers(&asked, ACCOUNT, "").await;
        let stage = restarted(stage, &asked).await;
        assert_eq!(stage.answers(&asked, ACCOUNT, "").await, told, "the same question waits");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);

        stage.plane.advance_secs(30).await;
        stage.alice.answers(&stage.plane, &told, json!("savings")).await;
        let stage = restarted(stage, &asked).await;
        stage.rotates_key().await;
        let stage = stage.restarted().await;
        let accepted = stage.confirms(&asked).await;
        let stage = restarted(stage, &asked).await;
        assert_eq!(stage.confirms(&asked).await, accepted);
        assert_eq!(stage.posts_session(&asked, "attest").await["attestation"], accepted["attestation"]);
        let audit = stage.audit(&asked).await;
        let told = [(REGION, "eu"), (ACCOUNT, ""), (ACCOUNT, "savings")];
        assert_eq!(rounds(&audit), told.map(|(gap, answer)| (json!(gap), json!(answer))));
    }

    /// WWA-7-08, WWA-6.2-05
    async fn a_signed_answer_cannot_be_replayed_after_a_restart(kit) {
        let stage = Clarifying::start(kit).await;
        let hermes = SigningParty::new("hermes", 1);
        let asked = stage.submits(&plan()).await;
        let signed = hermes.signs(&asked, REGION, "eu", &stamp(&stage.plane));
        let useless = hermes.signs(&asked, ACCOUNT, "savings", &stamp(&stage.plane));
        stage.post(&stage.agent, "resolve-gap", &signed).await.expect(200);
        let mut changed = plan();
        changed["hosting"]["zone"] = json!(7);
        changed["transfer"]["recipient"] = json!("Mallory");
        stage.submits_in(&asked, &changed).await.expect(200);
        let stage = restarted(stage, &asked).await;
        let before = stage.audit(&asked).await;
        assert_eq!(stage.post(&stage.agent, "resolve-gap", &useless).await.refusal(), (409, "conflict".into()));
        for gap in [ACCOUNT, "gap-003"] {
            let mut replayed = useless.clone();
            replayed["gap_id"] = json!(gap);
            assert!(matches!(stage.post(&stage.agent, "resolve-gap", &replayed).await.status, 400 | 409), "{gap}");
        }
        assert_eq!(stage.audit(&asked).await, before);
    }

    /// WWA-2-04
    async fn identical_checks_that_come_together_are_one_session(kit) {
        let stage = Clarifying::start(kit).await;
        let body = json!({ "plan_object": plan() });
        let checks = (0..12).map(|_| stage.post(&stage.agent, "submit-clarification", &body));
        let answers = join_all(checks).await;
        let distinct: BTreeSet<Vec<u8>> = answers.into_iter().map(|answer| answer.expect(200).body).collect();
        assert_eq!(distinct.len(), 1);
    }

    /// WWA-6.2-03, WWA-7-03
    async fn answers_that_come_together_are_rounds_one_after_the_other(kit) {
        let stage = Clarifying::start(kit).await;
        let plan = json!({ "components": vec![json!({ "name": "a" }); 8] });
        let asked = stage.submits(&plan).await;
        let gaps: Vec<String> = (1..=8).map(|n| format!("gap-{n:03}")).collect();
        let answers = gaps.iter().flat_map(|gap| [(gap, "button"), (gap, "button")]);
        let told = join_all(answers.map(|(gap, answer)| stage.tries_answer(&asked, gap, answer))).await;
        for answer in told {
            assert!(answer.status == 200 || answer.status == 503, "{}", answer.text());
        }
        for gap in &gaps {
            assert_eq!(stage.answers(&asked, gap, "button").await["accepted_answer"], "button");
        }
        let audit = stage.audit(&asked).await;
        let answered: BTreeSet<String> = rounds(&audit).iter().map(|(gap, _)| gap.to_string()).collect();
        assert_eq!((rounds(&audit).len(), answered.len()), (8, 8));
    }

    /// WWA-6.2-03, R-14
    async fn an_agent_and_a_person_that_answer_together_make_one_answer(kit) {
        for _ in 0..4 {
            let stage = Clarifying::start(kit).await;
            let asked = stage.submits(&json!({ "library": "as usual" })).await;
            let told = stage.answers(&asked, "gap-001", "").await;
            let person = stage.alice.responds(&stage.plane, &told, json!("react"));
            let (own, _) = tokio::join!(stage.tries_answer(&asked, "gap-001", "solid"), person);
            let audit = stage.audit(&asked).await;
            let settled: Vec<&Value> =
                audit["record"]["chain"].as_array().unwrap().iter().filter(|entry| entry["resolved"] == true).collect();
            assert_eq!(settled.len(), 1);
            let taken = settled[0]["answer"].as_str().unwrap();
            match own.status {
                200 => assert_eq!((own.json()["status"].as_str(), taken), (Some("resolved"), "solid")),
                _ => assert_eq!((own.refusal(), taken), ((409, "already_resolved".into()), "react")),
            }
            assert_eq!(stage.confirms(&asked).await["plan"]["library"], taken);
        }
    }
}

/// WWA-6.2-03, WWA-7-01, WWA-2-04
#[tokio::test]
async fn two_nodes_that_are_asked_at_once_write_one_session_and_one_round() {
    let stage = Clarifying::start(Kit(Backend::Postgres)).await;
    let (_engine, second) = stage.plane.second_node().await;
    let nodes = [&stage.plane.public, &second];
    let sent = async |below: &'static str, bodies: Vec<Value>| {
        let path = format!("/v1/clarification/{below}");
        let sends = bodies
            .iter()
            .enumerate()
            .map(|(n, body)| stage.agent.send(nodes[n % 2], Method::POST, &path, Some(body.to_string())));
        join_all(sends).await
    };
    let body = json!({ "plan_object": plan() });
    let checks = sent("submit-clarification", vec![body; 12]).await;
    let sessions: BTreeSet<Vec<u8>> = checks.into_iter().map(|answer| answer.expect(200).body).collect();
    assert_eq!(sessions.len(), 1);
    let asked: Value = serde_json::from_slice(sessions.first().unwrap()).unwrap();

    let answers = (0..12).map(|n| answering(&asked, REGION, if n % 3 == 0 { "eu" } else { "us" })).collect();
    let told = sent("resolve-gap", answers).await;
    let taken =
        told.iter().find(|answer| answer.status == 200).expect("one that counts").json()["accepted_answer"].clone();
    for answer in &told {
        match answer.status {
            200 => assert_eq!(answer.json()["accepted_answer"], taken),
            _ => assert_eq!(answer.refusal(), (409, "already_resolved".into())),
        }
    }
    let audit = stage.audit(&asked).await;
    assert_eq!(rounds(&audit), [(json!(REGION), taken)]);

    let escalations = sent("resolve-gap", vec![answering(&asked, ACCOUNT, ""); 8]).await;
    let questions: BTreeSet<String> =
        escalations.iter().map(|answer| answer.json()["decision_id"].to_string()).collect();
    assert_eq!(questions.len(), 1);
    assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);
    assert_eq!(rounds(&stage.audit(&asked).await).len(), 2);

    stage.alice.answers(&stage.plane, &escalations[0].json(), json!("savings")).await;
    let confirms = sent("confirm-plan", vec![json!({ "session_id": id_of(&asked) }); 6]).await;
    let attested: BTreeSet<Vec<u8>> = confirms.into_iter().map(|answer| answer.expect(200).body).collect();
    assert_eq!(attested.len(), 1);
    assert!(proven(&stage.keys().await, &stage.audit(&asked).await).is_ok());
}

/// WWA-7-17
#[tokio::test]
async fn keys_that_are_replaced_on_both_nodes_at_once_follow_one_another() {
    let stage = Clarifying::start(Kit(Backend::Postgres)).await;
    let asked = stage.submits(&plan()).await;
    let (engine, _second) = stage.plane.second_node().await;
    let at = stage.plane.at().await;
    let (left, right) = tokio::join!(
        stage.plane.engine.clarifications().rotate_clarification_key(&at),
        engine.clarifications().rotate_clarification_key(&at),
    );
    assert!(left.is_ok() && right.is_ok());
    let keys = stage.keys().await;
    assert_eq!((keys["keys"].as_array().unwrap().len(), keys["rotations"].as_array().unwrap().len()), (3, 2));
    stage.answers(&asked, REGION, "eu").await;
    assert_eq!(stage.audit(&asked).await["record"]["chain"].as_array().unwrap().len(), 3);
}
