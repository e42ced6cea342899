//! Gaps that need a person, the channels of the answers, and that an agent cannot answer in the person's place.

use crate::pages::{Words as _, decide, follow, open_as};
use countersign_testkit::{
    clarification::{Clarifying, open},
    on_sqlite, stored_evidence,
};
use serde_json::{Value, json};

/// A person must name the account, and there are two to choose from.
fn transfer() -> Value {
    json!({ "transfer": { "recipient": "Harbour Estates" } })
}

/// A person must name the recipient, without suggestions.
fn to_whom() -> Value {
    json!({ "transfer": { "account": "savings" } })
}

/// The rounds of a session: the gap, the answer, its author, and whether it settled the gap.
async fn rounds(stage: &Clarifying, session: &Value) -> Vec<(String, String, String, bool)> {
    let audit = stage.audit(session).await;
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let chain = audit["record"]["chain"].as_array().unwrap().clone();
    let rounds = chain.iter().filter(|entry| entry.get("round").is_some());
    rounds
        .map(|e| (text(&e["gap"], "id"), text(e, "answer"), text(e, "given_by"), e["resolved"].as_bool().unwrap()))
        .collect()
}

fn round(gap: &str, answer: &str, given_by: &str, resolved: bool) -> (String, String, String, bool) {
    (gap.to_owned(), answer.to_owned(), given_by.to_owned(), resolved)
}

on_sqlite! {
    /// WWA-6.2-06, WWA-6.2-02, WWA-7-09, WWA-7-11, R-14, R-10
    async fn an_agent_never_settles_a_persons_gap(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&transfer()).await;
        assert_eq!(asked["gaps"][0]["person_must_answer"], true);
        let told = stage.answers(&asked, "gap-001", "savings").await;
        assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("escalated"), &Value::Null));
        assert_eq!((&told["given_by"], &told["open_gaps"]), (&json!("own"), &json!(1)));
        let path = format!("/v1/decisions/{}", told["decision_id"].as_str().unwrap());
        for below in ["claim", "outcome", "answer", "reply"] {
            let body = json!({ "response": "savings", "status": "committed" });
            assert!(!stage.agent.post(&stage.plane, &format!("{path}/{below}"), &body).await.is_success());
        }
        let reply = json!({ "type": "clarification.reply", "reply_token": "rpl_x", "response": "savings",
            "subscription_id": "sub_x", "timestamp": "2026-11-15T12:00:00.000Z" });
        assert!(!stage.agent.post(&stage.plane, "/aaep/v1/replies", &reply).await.is_success());
        assert_eq!(stage.confirms(&asked).await["status"], "needs_clarification");
        assert_eq!(rounds(&stage, &asked).await, [round("gap-001", "savings", "own", false)]);
        assert_eq!(stage.audit(&asked).await["record"]["all_resolved"], false);
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);
    }

    /// WWA-5-05, WWA-6.2-06, WWA-7-09, WWA-7-11, R-14
    async fn a_gap_with_suggestions_is_a_choice_for_the_person_and_the_reply_settles_it(kit) {
        let stage = Clarifying::start(kit).await;
        let (phone, mut heard) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.submits(&transfer()).await;
        let told = stage.answers(&asked, "gap-001", "").await;
        let question = heard.next_of("awaiting.clarification").await;
        assert_eq!(question["question"], "What is “transfer.account”?");
        assert_eq!(question["accepted_response_kinds"][0], "multiple_choice");
        let choices: Vec<&Value> = question["choices"].as_array().unwrap().iter().map(|c| &c["value"]).collect();
        assert_eq!(choices, ["current", "savings"]);

        stage.plane.advance_secs(20).await;
        let reply = phone.response(&stage.plane, &question, json!("current"));
        phone.replies(&stage.plane, &reply).await.expect(204);
        let now = stage.gaps(&asked).await;
        assert_eq!((&now["status"], &now["clarification"]["accepted_gaps"]), (&json!("ready_to_proceed"), &json!(1)));
        let settled = [round("gap-001", "", "own", false), round("gap-001", "current", "person", true)];
        assert_eq!(rounds(&stage, &asked).await, settled);
        let audit = stage.audit(&asked).await;
        let (first, second) = (&audit["record"]["chain"][0], &audit["record"]["chain"][1]);
        assert_eq!((first.get("decision_id"), &second["decision_id"]), (None, &told["decision_id"]));
        assert_eq!(audit["record"]["all_resolved"], true);
        assert_eq!(audit["clarification_chain"][1]["given_by"], "person");

        phone.replies(&stage.plane, &phone.response(&stage.plane, &question, json!("savings"))).await.expect(204);
        assert_eq!(stage.audit(&asked).await, audit, "the second answer is none");
        assert_eq!(stage.confirms(&asked).await["plan"]["transfer"]["account"], "current");
    }

    /// WWA-5-05
    async fn a_gap_without_suggestions_is_answered_in_the_persons_own_words(kit) {
        let stage = Clarifying::start(kit).await;
        let (phone, mut heard) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.submits(&to_whom()).await;
        stage.answers(&asked, "gap-001", "Mallory").await;
        let question = heard.next_of("awaiting.clarification").await;
        assert_eq!(question["accepted_response_kinds"], json!(["freetext"]));
        assert!(question.get("choices").is_none_or(|choices| choices == &json!([])), "{question:#}");
        let context = question["context"].as_str().unwrap();
        assert!(context.contains("The agent's own answer was “Mallory”"), "{context}");
        let reply = phone.response(&stage.plane, &question, json!("Harbour Estates"));
        phone.replies(&stage.plane, &reply).await.expect(204);
        assert_eq!(stage.confirms(&asked).await["plan"]["transfer"]["recipient"], "Harbour Estates");
    }

    /// WWA-5-05, WWA-6.2-06
    async fn a_person_answers_on_the_page(kit) {
        let stage = Clarifying::start(kit).await;
        let bob = stage.plane.person("bob").await;
        let asked = stage.submits(&transfer()).await;
        let told = stage.answers(&asked, "gap-001", "the usual account").await;
        let page = url::Url::parse(told["page"].as_str().unwrap()).unwrap().path().to_owned();
        open_as(&stage.plane, &bob, &page).await.expect(404);
        let words = open_as(&stage.plane, &stage.alice, &page).await.expect(200).words();
        for part in ["What is “transfer.account”?", "nobody may guess", "the usual account", "current", "savings"] {
            assert!(words.contains(part), "{part} is not in {words}");
        }
        let chosen = [("kind", "multiple_choice"), ("response", "savings")];
        let answered = decide(&stage.plane, &stage.alice, &told, "respond", &chosen).await;
        let words = follow(&stage.plane, &stage.alice, answered).await;
        assert!(words.contains("You answered it."), "{words}");
        assert_eq!(rounds(&stage, &asked).await.last().unwrap(), &round("gap-001", "savings", "person", true));
    }

    /// WWA-2-04, R-14
    async fn a_changed_plan_calls_the_question_off_and_the_answer_to_it_changes_nothing(kit) {
        let stage = Clarifying::start(kit).await;
        let (phone, mut heard) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.submits(&transfer()).await;
        let told = stage.answers(&asked, "gap-001", "").await;
        let question = heard.next_of("awaiting.clarification").await;
        let mut changed = transfer();
        changed["transfer"]["amount"] = json!(82_000);
        stage.submits_in(&asked, &changed).await.expect(200);
        let before = stage.audit(&asked).await;
        let decision = stage.agent.reads_decision(&stage.plane, &told).await.expect(200).json();
        assert_eq!(decision["state"], "cancelled");
        phone.replies(&stage.plane, &phone.response(&stage.plane, &question, json!("savings"))).await.expect(204);
        assert_eq!(stage.audit(&asked).await, before);
        assert_eq!(open(&stage.gaps(&asked).await), [("gap-002".to_owned(), "transfer.account".to_owned())]);
    }

    /// WWA-6.2-02, WWA-7-11
    async fn a_question_that_nobody_answered_in_time_leaves_the_gap_open_and_is_asked_again(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&transfer()).await;
        let first = stage.answers(&asked, "gap-001", "").await;
        stage.plane.advance_secs(3600).await;
        let decision = stage.agent.reads_decision(&stage.plane, &first).await.expect(200).json();
        assert_eq!(decision["state"], "expired");
        assert_eq!(stage.confirms(&asked).await["status"], "needs_clarification");
        let second = stage.answers(&asked, "gap-001", "").await;
        assert_ne!(second["decision_id"], first["decision_id"]);
        stage.alice.answers(&stage.plane, &second, json!("savings")).await;
        assert_eq!(stage.confirms(&asked).await["plan"]["transfer"]["account"], "savings");
    }

    /// WWA-6.2-06, R-14, R-25
    async fn whose_answer_it_was_stands_in_the_record_the_audit_and_the_evidence(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&json!({ "hosting": {}, "transfer": { "recipient": "Bo Private" } })).await;
        let told = stage.answers(&asked, "gap-001", "").await;
        stage.alice.answers(&stage.plane, &told, json!("savings")).await;
        stage.answers(&asked, "gap-002", "eu").await;
        let given = |list: &Value| -> Vec<Value> {
            list.as_array().unwrap().iter().map(|entry| entry["given_by"].clone()).collect()
        };
        let audit = stage.audit(&asked).await;
        assert_eq!(given(&audit["record"]["chain"]), ["own", "person", "own"]);
        assert_eq!(given(&audit["clarification_chain"]), ["own", "person", "own"]);
        let entries = stored_evidence(&stage.plane.place).await;
        let told: Vec<(Value, String)> = entries.iter().filter(|e| e.event_type == "clarification_answered")
            .map(|e| (serde_json::from_slice(&e.leaf).unwrap(), e.openings.clone().unwrap())).collect();
        let leaves: Vec<String> = told.iter().map(|(leaf, _)| leaf.to_string()).collect();
        for (leaf, whose) in leaves.iter().zip(["own", "person", "own"]) {
            assert!(leaf.contains(&format!("\"given_by\":\"{whose}\"")), "{leaf}");
            assert!(!leaf.contains("savings") && !leaf.contains("transfer.account"), "words stand open: {leaf}");
        }
        assert!(told[1].1.contains("savings") && told[1].1.contains("transfer.account"));
    }
}
