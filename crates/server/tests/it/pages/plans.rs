//! Plans on the page: read step by step, approved in part, tracked, and revoked.

use super::*;
use countersign_testkit::{decisions::DecisionFixture, on_both_stores};

/// Ids are of version 4.
fn id(n: u8) -> String {
    format!("00000000-0000-4000-8000-0000000000{n:02x}")
}

const PLAN: u8 = 0xaa;

fn step(n: u8, description: &str, after: &[u8]) -> Value {
    let after: Vec<String> = after.iter().map(|n| id(*n)).collect();
    json!({ "step_id": id(n), "description": description, "status": "pending", "dependencies": after })
}

/// Tidies notes up to a sum, then sends a mail, then writes a report of its own.
fn plan() -> Value {
    let amount = json!({ "most": "100", "sum": "250", "unit_from": "currency" });
    json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": id(PLAN),
            "context_id": id(0xcc),
            "title": "Tidy <b>up</b>",
            "objective": "Nothing lies around any more",
            "status": "draft",
            "steps": [step(1, "Archive the notes", &[]), step(2, "Tell everybody", &[]), step(3, "Report", &[1])],
        },
        "actions": {
            id(1): {
                "tool": "notes.archive", "arguments": { "amount": 80, "currency": "EUR", "box": "blue" },
                "released": { "amount": amount }, "uses": 3,
            },
            id(2): { "tool": "mail.send", "arguments": { "to": "everybody" } },
        },
    })
}

async fn propose(plane: &Plane, agent: &TestAgent, plan: &Value) -> Value {
    agent.post(plane, "/mplp/v1/plans", plan).await;
    let path = format!("/mplp/v1/plans/{}/propose", id(PLAN));
    let answer = agent.post(plane, &path, &json!({})).await.expect(201);
    let decision = answer.header("countersign-decision").unwrap();
    json!({ "decision_id": decision, "page": format!("https://x.test/inbox/calendar/{decision}") })
}

fn plan_path() -> String {
    format!("/plans/calendar/{}", id(PLAN))
}

fn ticked(numbers: &[u8]) -> Vec<(String, String)> {
    numbers.iter().map(|n| (format!("step:{}", id(*n)), "yes".to_owned())).collect()
}

async fn approve(plane: &Plane, who: &TestPerson, asked: &Value, numbers: &[u8]) -> Answer {
    let ticked = ticked(numbers);
    let ticked: Vec<(&str, &str)> = ticked.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    decide(plane, who, asked, "accept", &ticked).await
}

async fn archives(plane: &Plane, agent: &TestAgent, amount: i64) -> Answer {
    let arguments = json!({ "amount": amount, "currency": "EUR", "box": "blue" });
    agent.requests_confirmation(plane, &countersign_testkit::decisions::confirmation("notes.archive", arguments)).await
}

on_both_stores! {
    async fn a_plan_of_somebody_else_is_not_there(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let bob = plane.person("bob").await;
        let asked = propose(&plane, &agent, &plan()).await;
        let csrf = bob.csrf.clone();
        for path in [plan_path(), page_of(&asked), format!("/plans/calendar/{}", id(1)), "/plans/calendar/x".into()] {
            let page = open_as(&plane, &bob, &path).await.expect(404).words();
            assert!(!page.contains("Archive"), "{page}");
        }
        send_as(&plane, &bob, &format!("{}/take-back", plan_path()), &[("csrf", &csrf)]).await.expect(404);
        open_as(&plane, &alice, &plan_path()).await.expect(200);
        open(&plane, &plan_path()).await.expect(303);
    }

    ///
    async fn some_steps_of_a_plan_are_approved_and_only_those_run(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = propose(&plane, &agent, &plan()).await;
        let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
        for words in [
            "Tidy &#60;b&#62;up&#60;/b&#62;",
            "Archive the notes",
            "notes.archive(amount: at most 100 EUR, 250 EUR altogether",
            "amount</bdi>: at most 100 EUR, and altogether at most 250 EUR",
            "Up to 3 times.",
            "Only after step 1.",
            "An approval permits no call for this step",
            "for 1 hour from then on",
        ] {
            assert!(page.contains(words), "the page does not say {words}: {page}");
        }
        assert_eq!(page.matches("type=\"checkbox\"").count(), 3);
        let page = follow(&plane, &alice, approve(&plane, &alice, &asked, &[1, 3]).await).await;
        assert!(page.contains("You approved it.") && page.contains(&plan_path()), "{page}");

        archives(&plane, &agent, 100).await.expect(200);
        let mail = agent.requests_approval(&plane, "mail.send", json!({ "to": "everybody" })).await;
        assert_eq!(mail["state"], "pending", "a step that was not ticked is asked about");
        let page = open_as(&plane, &alice, &plan_path()).await.expect(200).words();
        assert!(page.contains(">Approved in part</p>") && page.contains("Only 2 of 3 steps were approved."), "{page}");
        assert_eq!(page.matches("Not approved: it does not run").count(), 1, "{page}");
        assert_eq!(page.matches(">Approved. Not started</p>").count(), 2, "{page}");
        assert!(page.contains("0 of 3 calls completed"), "{page}");
        let question = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
        assert_eq!(question.matches("Not approved: it does not run").count(), 1, "{question}");
        assert!(page.contains("Uses left: 3 of 3.") && page.contains("250 EUR of 250 EUR left"), "{page}");
    }

    ///
    async fn a_call_that_a_plan_does_not_cover_says_how_it_differs(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut phone = alice.subscriber(&plane).await;
        phone.subscribes_with(&plane, json!({ "languages": ["de"] })).await;
        let mut heard = phone.opens_stream(&plane).await;
        let asked = propose(&plane, &agent, &plan()).await;
        heard.next_of("awaiting.confirmation").await;
        approve(&plane, &alice, &asked, &[1, 2, 3]).await.expect(303);
        let above = archives(&plane, &agent, 101).await.expect(201).json();
        let page = open_as(&plane, &alice, &page_of(&above)).await.expect(200).words();
        assert!(page.contains("This deviates from the approved plan"), "{page}");
        assert!(page.contains("amount is 101 EUR, at most 100 EUR") && page.contains(&plan_path()), "{page}");
        let request = alice.request(Method::GET, &page_of(&above)).header(header::ACCEPT, "text/html");
        let request = request.header(header::ACCEPT_LANGUAGE, "de").body(Body::empty()).unwrap();
        let german = plane.send(request).await.expect(200).words();
        assert!(german.contains("amount ist 101 EUR, erlaubt ist höchstens 100 EUR"), "{german}");
        assert!(!german.contains("at most"), "{german}");

        let event = heard.next_of("awaiting.confirmation").await;
        let told = &event["extensions"]["dev_countersign"]["deviation"];
        let argument = json!({ "kind": "argument", "name": "amount", "is": "101 EUR",
            "was": { "within": { "at_most": "100 EUR" } } });
        assert!(told["deviations"].as_array().unwrap().contains(&argument), "{told:#}");
        assert!(event.get("extra_context").is_none(), "that is the agent's: {event:#}");
        let spoken = event["summary_normal"].as_str().unwrap();
        assert!(spoken.contains("Das weicht vom genehmigten Plan ab") && spoken.contains("höchstens 100 EUR"), "{spoken}");
        let list = phone.request(Method::GET, "/aaep/v1/questions").body(Body::empty()).unwrap();
        let list = Answer::to(&plane.public, list).await.expect(200).json();
        assert_eq!(&list["questions"][0]["deviation"], told, "{list:#}");
    }

    async fn everything_that_is_left_of_a_plan_is_taken_back_at_once(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = propose(&plane, &agent, &plan()).await;
        approve(&plane, &alice, &asked, &[1, 2, 3]).await.expect(303);
        let list = open_as(&plane, &alice, "/allowances").await.expect(200).words();
        assert!(list.contains("Revoke step 1") && list.contains("Revoke step 2"), "{list}");
        assert_eq!(list.matches("<article").count(), 1, "the steps of a plan stand together");

        let path = format!("{}/take-back", plan_path());
        let typed = [("csrf", "made-up"), ("reason", "typed before")];
        let page = send_as(&plane, &alice, &path, &typed).await.expect(403).words();
        assert!(page.contains("open for too long") && page.contains("typed before"), "{page}");
        archives(&plane, &agent, 50).await.expect(200);
        let csrf = alice.csrf.clone();
        let long = "x".repeat(4097);
        send_as(&plane, &alice, &path, &[("csrf", &csrf), ("reason", &long)]).await.expect(422);
        let sent = [("csrf", csrf.as_str()), ("reason", "Enough")];
        let page = follow(&plane, &alice, send_as(&plane, &alice, &path, &sent).await).await;
        assert!(page.contains("The plan is revoked.") && page.contains("Cancelled"), "{page}");
        assert!(page.contains("Enough") && !page.contains("Revoke the whole plan"), "{page}");
        archives(&plane, &agent, 50).await.expect(201);
        let again = send_as(&plane, &alice, &path, &sent).await.expect(409).words();
        assert!(again.contains("There is nothing to revoke"), "{again}");
        assert!(open_as(&plane, &alice, "/allowances").await.expect(200).words().contains("No standing approvals"));
    }
}

#[tokio::test]
async fn no_ticked_step_or_one_without_its_predecessors_is_refused_and_the_boxes_stay() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = propose(&plane, &agent, &plan()).await;
    let page = approve(&plane, &alice, &asked, &[]).await.expect(422).words();
    assert!(page.contains("Tick at least one step") && !page.contains("\" checked>"), "{page}");
    let page = approve(&plane, &alice, &asked, &[2, 3]).await.expect(422).words();
    assert!(page.contains("Step 3 can only run after step 1") && page.contains("href=\"#step-1\""), "{page}");
    assert_eq!(page.matches("\" checked>").count(), 2);
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
}

///
#[tokio::test]
async fn an_approval_of_another_plan_than_was_shown_does_not_count() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let first = propose(&plane, &agent, &plan()).await;
    let shown = hidden(&open_as(&plane, &alice, &page_of(&first)).await.words(), "shown");
    alice.rejects(&plane, &first, None).await;
    let mut more = plan();
    more["actions"][id(1)]["uses"] = json!(30);
    let second = propose(&plane, &agent, &more).await;
    let tick = format!("step:{}", id(1));
    let sent = [("csrf", alice.csrf.as_str()), ("shown", &shown), ("answer", "accept"), (tick.as_str(), "yes")];
    let page = send_as(&plane, &alice, &page_of(&second), &sent).await.expect(409).words();
    assert!(page.contains("has changed since you saw it"), "{page}");
    archives(&plane, &agent, 50).await.expect(201);
}

on_both_stores! {
    async fn a_rejected_plan_shows_the_reason_and_a_new_proposal_its_changes(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = propose(&plane, &agent, &plan()).await;
        let no = decide(&plane, &alice, &asked, "reject", &[("reason", "Too many at once")]).await;
        assert!(follow(&plane, &alice, no).await.contains("You rejected it."));
        let page = open_as(&plane, &alice, &plan_path()).await.expect(200).words();
        assert!(page.contains("Too many at once") && page.contains(">Draft<"), "{page}");
        let mut less = plan();
        less["actions"][id(1)]["uses"] = json!(2);
        let again = propose(&plane, &agent, &less).await;
        let page = open_as(&plane, &alice, &page_of(&again)).await.expect(200).words();
        assert!(page.contains("Changes since you were last asked"), "{page}");
        assert!(page.contains("Step 1: its uses went from 3 to 2") && page.contains("Up to 2 times."), "{page}");
        // The settled question does not show the current plan.
        let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
        assert!(page.contains("You rejected it.") && !page.contains("Up to 2 times."), "{page}");
    }
}

#[tokio::test]
async fn a_plan_is_shown_in_german_to_a_reader_of_german() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = propose(&plane, &agent, &plan()).await;
    for (path, words) in [(page_of(&asked), "Welche Schritte dürfen"), (plan_path(), "0 von 3 Schritten abgeschlossen")]
    {
        let request = alice.request(Method::GET, &path).header(header::ACCEPT, HTML);
        let request = request.header(header::ACCEPT_LANGUAGE, "de").body(Body::empty()).unwrap();
        let page = plane.send(request).await.expect(200).words();
        assert!(page.contains(words), "{page}");
    }
}

#[tokio::test]
async fn an_address_cannot_make_a_page_say_that_something_was_taken_back() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = propose(&plane, &agent, &plan()).await;
    approve(&plane, &alice, &asked, &[1]).await.expect(303);
    let list = open_as(&plane, &alice, "/allowances").await.words();
    let open_one = list.split_once("/allowances/calendar/").unwrap().1.split('/').next().unwrap().to_owned();
    for path in [
        format!("{}?taken-back", plan_path()),
        "/allowances?taken-back=alw_0000000000000001".into(),
        format!("/allowances?taken-back={open_one}"),
    ] {
        let page = open_as(&plane, &alice, &path).await.expect(200).words();
        assert!(!page.contains("id=\"notice\""), "{path}: {page}");
    }
}
