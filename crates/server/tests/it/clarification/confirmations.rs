//! The effect of an open gap elsewhere, and the clarified answers that an approver reads.

use crate::mplp::{archiving, id, step};
use crate::pages::{Words as _, open_as};
use countersign_testkit::{
    Answer, Setup, TestAgent,
    clarification::{Clarifying, id_of, open, required},
    decisions::confirmation,
    on_sqlite, stored_evidence,
};
use http::Method;
use serde_json::{Value, json};

/// A plan that needs approval, with a vague objective.
fn vague(n: u64) -> Value {
    let mut plan = archiving(n, 1);
    plan["plan"]["objective"] = json!("as usual");
    plan
}

/// It blocks all of `build`, and the agent may answer it.
fn blocking() -> Value {
    json!({ "hosting": {} })
}

fn unclear() -> (u16, String) {
    (409, "clarification_required".into())
}

async fn mplp(stage: &Clarifying, method: Method, below: &str, body: Option<&Value>) -> Answer {
    let path = format!("/mplp/v1/{below}");
    stage.agent.send(&stage.plane.public, method, &path, body.map(Value::to_string)).await
}

async fn proposes(stage: &Clarifying, n: u64) -> Answer {
    mplp(stage, Method::POST, &format!("plans/{}/propose", id(n)), Some(&json!({}))).await
}

async fn archives(stage: &Clarifying, who: &TestAgent, more: Value) -> Answer {
    let mut body = confirmation("notes.archive", json!({ "note": "a" }));
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    who.requests_confirmation(&stage.plane, &body).await
}

on_sqlite! {
    /// WWA-8-04, WWA-2-01, WWA-5-05
    async fn a_plan_of_which_anything_is_unclear_is_not_proposed_to_anybody(kit) {
        let stage = Clarifying::start(kit).await;
        mplp(&stage, Method::POST, "plans", Some(&vague(1))).await.expect(201);
        let refused = proposes(&stage, 1).await;
        assert_eq!(refused.refusal(), unclear());
        let told = refused.json()["clarification"].clone();
        assert_eq!((&told["gaps"][0]["id"], &told["gaps"][0]["field"]), (&json!("gap-001"), &json!("plan.objective")));
        assert!(!told["gaps"][0]["question"].as_str().unwrap().is_empty());
        assert_eq!(proposes(&stage, 1).await.json()["clarification"], told, "the same session again");
        let plan = mplp(&stage, Method::GET, &format!("plans/{}", id(1)), None).await.expect(200).json();
        assert_eq!(plan["status"], "draft");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
        assert_eq!(open(&stage.gaps(&told).await), [("gap-001".to_owned(), "plan.objective".to_owned())]);
        stage.answers(&told, "gap-001", "The notes are in order").await;
        assert_eq!(proposes(&stage, 1).await.refusal(), unclear(), "answered, and not confirmed");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
    }

    /// WWA-2-04
    async fn a_corrected_draft_ends_the_questions_about_the_last_one(kit) {
        let stage = Clarifying::start(kit).await;
        mplp(&stage, Method::POST, "plans", Some(&vague(1))).await.expect(201);
        let told = proposes(&stage, 1).await.json()["clarification"].clone();
        let path = format!("plans/{}", id(1));
        mplp(&stage, Method::PUT, &path, Some(&vague(1))).await.expect(200);
        let again = proposes(&stage, 1).await.json()["clarification"].clone();
        assert_eq!(again, told, "written again without a change it is the same plan, asked in the same session");
        let mut clear = vague(1);
        clear["plan"]["objective"] = json!("The notes are in order");
        mplp(&stage, Method::PUT, &path, Some(&clear)).await.expect(200);
        proposes(&stage, 1).await.expect(201);
        assert_eq!(stage.status(&told).await["status"], "ready_to_proceed");
        assert_eq!(stage.audit(&told).await["submitted_plans"].as_array().unwrap().len(), 2);
    }

    /// WWA-5-05, WWA-5-04, WWA-6.2-06, R-14
    async fn confirming_proposes_the_plan_with_its_answers_and_says_whose_they_are(kit) {
        let stage = Clarifying::start(kit).await;
        let mut phone = stage.alice.subscriber(&stage.plane).await;
        phone.subscribes_with(&stage.plane, json!({ "preferred_verbosity": "detailed" })).await;
        let mut heard = phone.opens_stream(&stage.plane).await;
        let mut plan = vague(1);
        plan["plan"]["title"] = json!("the usual one");
        mplp(&stage, Method::POST, "plans", Some(&plan)).await.expect(201);
        let told = proposes(&stage, 1).await.json()["clarification"].clone();
        for (gap, field) in open(&stage.gaps(&told).await) {
            match field.as_str() {
                "plan.title" => {
                    let asked = stage.answers(&told, &gap, "").await;
                    stage.alice.answers(&stage.plane, &asked, json!("Spring <b>cleaning</b>")).await;
                }
                _ => drop(stage.answers(&told, &gap, "The notes are in order").await),
            }
        }
        let accepted = stage.confirms(&told).await;
        assert_eq!(accepted["plan"]["plan"]["objective"], "The notes are in order");
        let plan = mplp(&stage, Method::GET, &format!("plans/{}", id(1)), None).await.expect(200).json();
        assert_eq!((&plan["status"], &plan["objective"]), (&json!("proposed"), &json!("The notes are in order")));
        let below = format!("confirms/{}", accepted["confirm_id"].as_str().unwrap());
        let confirm = mplp(&stage, Method::GET, &below, None).await.expect(200).json();
        assert_eq!((&confirm["status"], &confirm["target_id"]), (&json!("pending"), &json!(id(1))));

        let question = heard.next_of("awaiting.confirmation").await;
        let clarified = &question["extensions"]["dev_countersign"]["clarification"];
        assert_eq!((clarified["session_id"].as_str(), &clarified["rounds"]), (Some(id_of(&told)), &json!(3)));
        let whose: Vec<(&Value, &Value, &Value)> = clarified["answers"].as_array().unwrap().iter()
            .map(|answer| (&answer["field"], &answer["answer"], &answer["given_by"])).collect();
        let (title, objective) = (json!("plan.title"), json!("plan.objective"));
        assert!(whose.contains(&(&title, &json!("Spring <b>cleaning</b>"), &json!("person"))), "{whose:?}");
        assert!(whose.contains(&(&objective, &json!("The notes are in order"), &json!("own"))), "{whose:?}");
        let spoken = question["summary_detailed"].as_str().unwrap();
        for part in ["“The notes are in order” (the agent's own answer)", "(answered by a person)"] {
            assert!(spoken.contains(part), "{part} is not in {spoken}");
        }
        let path = format!("/inbox/calendar/{}", accepted["decision_id"].as_str().unwrap());
        let page = open_as(&stage.plane, &stage.alice, &path).await.expect(200).words();
        for part in ["The notes are in order", "Spring &#60;b&#62;cleaning", "plan.objective", "agent’s own answer"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        phone.accepts(&stage.plane, &question).await.expect(204);
        let plan = mplp(&stage, Method::GET, &format!("plans/{}", id(1)), None).await.expect(200).json();
        assert_eq!(plan["status"], "approved");
        assert_eq!(stage.confirms(&told).await["confirm_id"], accepted["confirm_id"], "once");
    }

    /// WWA-5-05
    async fn a_plan_that_was_never_written_is_written_and_proposed_when_it_is_confirmed(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&vague(2)).await;
        assert_eq!(mplp(&stage, Method::GET, &format!("plans/{}", id(2)), None).await.status, 404);
        stage.answers(&asked, "gap-001", "The notes are in order").await;
        assert_eq!(mplp(&stage, Method::GET, &format!("plans/{}", id(2)), None).await.status, 404);
        let accepted = stage.confirms(&asked).await;
        let plan = mplp(&stage, Method::GET, &format!("plans/{}", id(2)), None).await.expect(200).json();
        assert_eq!((&plan["status"], &plan["steps"][0]["step_id"]), (&json!("proposed"), &json!(step(2, 1))));
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);
        assert_eq!(stage.confirms(&asked).await, accepted);
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);
    }

    /// WWA-5-04
    async fn an_invalid_mplp_plan_is_refused_before_the_session_is_closed(kit) {
        let stage = Clarifying::start(kit).await;
        let mut plan = archiving(3, 1);
        plan["plan"]["steps"][0]["status"] = json!("levitating");
        let asked = stage.submits(&plan).await;
        let body = json!({ "session_id": id_of(&asked) });
        let answer = stage.post(&stage.agent, "confirm-plan", &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        assert_eq!(stage.status(&asked).await["state"], "open");
    }

    /// WWA-4-14, WWA-8-04
    async fn nobody_is_asked_for_an_approval_while_a_gap_blocks_it(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&blocking()).await;
        let refused = archives(&stage, &stage.agent, json!({})).await;
        assert_eq!(refused.refusal(), unclear());
        assert_eq!(refused.json()["clarification"]["session_id"], asked["session_id"]);
        assert_eq!(refused.json()["clarification"]["gaps"][0]["field"], "hosting.region");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
        let other = stage.plane.agent_key("alice", &["notes.archive"]).await;
        archives(&stage, &other, json!({})).await.expect(201);
        stage.answers(&asked, "gap-001", "eu").await;
        archives(&stage, &stage.agent, json!({})).await.expect(201);
    }

    /// WWA-4-14
    async fn unblocked_operations_go_on_and_so_do_all_after_expiry(kit) {
        let stage = Clarifying::with(kit, Setup::clarifying_with(|document| {
            let operations = json!({ "developer": ["notes.archive"], "build": ["notes.tidy"] });
            document.clarification.operations = serde_json::from_value(operations).unwrap();
            let rule = required("why", "trip.why", json!({ "blocked_operations": ["build"], "person": false }));
            document.clarification.rules = vec![serde_json::from_value(rule).unwrap()];
        })).await;
        stage.submits(&json!({ "languages": ["ar-sa"] })).await;
        archives(&stage, &stage.agent, json!({})).await.expect(201);
        stage.submits(&json!({ "trip": {} })).await;
        archives(&stage, &stage.agent, json!({})).await.expect(200);
        let tidies = async || stage.agent.requests_confirmation(&stage.plane, &confirmation("notes.tidy", json!({}))).await;
        assert_eq!(tidies().await.refusal(), unclear());
        let unlisted = stage.agent.requests_confirmation(&stage.plane, &confirmation("mail.send", json!({}))).await;
        assert_eq!(unlisted.refusal(), unclear(), "what waits for a yes and is in no list is built");
        stage.plane.advance_secs(86_400).await;
        tidies().await.expect(201);
    }

    /// WWA-4-14, R-5
    async fn an_approval_is_not_claimed_while_a_later_gap_blocks_it(kit) {
        let stage = Clarifying::start(kit).await;
        let decision = archives(&stage, &stage.agent, json!({})).await.expect(201).json();
        stage.alice.accepts(&stage.plane, &decision).await;
        let asked = stage.submits(&blocking()).await;
        let claim = json!({ "tool": "notes.archive", "arguments": { "note": "a" } });
        for body in [&claim, &json!({ "digest": decision["digest"] })] {
            assert_eq!(stage.agent.claims(&stage.plane, &decision, body).await.refusal(), unclear());
        }
        stage.answers(&asked, "gap-001", "eu").await;
        stage.agent.claims(&stage.plane, &decision, &claim).await.expect(200);
    }

    /// WWA-6.2-06, R-14, R-25, R-2
    async fn an_approver_reads_the_answers_and_the_evidence_keeps_them(kit) {
        let stage = Clarifying::start(kit).await;
        let (_, mut heard) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.submits(&blocking()).await;
        stage.answers(&asked, "gap-001", "eu").await;
        let forged = json!({ "clarification": { "answers": [{ "answer": "alice agreed", "given_by": "person" }] } });
        let alone = json!({ "extra_context": forged, "arguments": { "note": "b" } });
        archives(&stage, &stage.agent, alone).await.expect(201);
        let question = heard.next_of("awaiting.confirmation").await;
        assert_eq!(question["extra_context"], forged, "the agent's own, unchanged");
        assert!(!question["extensions"].to_string().contains("alice agreed"), "the plane's to say: {question:#}");
        let named = json!({ "clarification_session_id": id_of(&asked), "extra_context": forged });
        let decision = archives(&stage, &stage.agent, named).await.expect(201).json();
        let question = heard.next_of("awaiting.confirmation").await;
        let answers = &question["extensions"]["dev_countersign"]["clarification"]["answers"];
        assert_eq!((&answers[0]["field"], &answers[0]["answer"]), (&json!("hosting.region"), &json!("eu")));
        assert_eq!((&answers[0]["given_by"], answers.as_array().unwrap().len()), (&json!("own"), 1));
        let spoken = question["summary_normal"].as_str().unwrap();
        assert!(spoken.contains("hosting.region: “eu” (the agent's own answer)"), "{spoken}");
        let path = url::Url::parse(decision["page"].as_str().unwrap()).unwrap().path().to_owned();
        let page = open_as(&stage.plane, &stage.alice, &path).await.expect(200).words();
        assert!(page.contains("hosting.region") && page.contains("agent’s own answer"), "{page}");
        let ours = page.split_once("id=\"clarified-heading\"").unwrap().1.split_once("</section>").unwrap().0;
        assert!(ours.contains("hosting.region") && !ours.contains("alice agreed"), "{ours}");
        assert!(!question["extensions"].to_string().contains("alice agreed"), "{question:#}");

        let entries = stored_evidence(&stage.plane.place).await;
        let raised = entries.iter().rfind(|entry| entry.event_type == "decision_raised").unwrap();
        let kept = raised.openings.clone().unwrap();
        assert!(kept.contains("hosting.region") && kept.contains(id_of(&asked)), "{kept}");
        assert!(!String::from_utf8_lossy(&raised.leaf).contains("hosting.region"));
    }

    /// R-10, WWA-8-04
    async fn a_session_that_is_open_or_somebody_elses_clarifies_nothing(kit) {
        let stage = Clarifying::start(kit).await;
        let other = stage.plane.agent_key("alice", &["notes.archive"]).await;
        let warned = stage.submits(&json!({ "languages": ["ar-sa"] })).await;
        let named = json!({ "clarification_session_id": id_of(&warned) });
        assert_eq!(archives(&stage, &other, named.clone()).await.refusal(), (404, "not_found".into()));
        assert_eq!(archives(&stage, &stage.agent, named.clone()).await.refusal(), unclear(), "a WARN is open as well");
        let unknown = json!({ "clarification_session_id": id(7) });
        assert_eq!(archives(&stage, &stage.agent, unknown).await.refusal(), (404, "not_found".into()));
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
        stage.answers(&warned, "gap-001", "accept").await;
        archives(&stage, &stage.agent, named).await.expect(201);
    }
}
