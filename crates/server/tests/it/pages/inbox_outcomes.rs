//! Executions without a reported outcome, and their reconciliation by a person.

use super::*;
use countersign_engine::Role;
use countersign_testkit::{Setup, decisions::DecisionFixture, on_sqlite};

/// An approved payment that was claimed and never reported.
async fn lost(plane: &Plane, by: &TestPerson, agent: &TestAgent, tool: &str) -> Value {
    let asked = agent.requests_approval(plane, tool, json!({ "n": 1 })).await;
    by.accepts(plane, &asked).await;
    let claimed = agent.claims(plane, &asked, &json!({ "tool": tool, "arguments": { "n": 1 } })).await.expect(200);
    plane.advance_secs(61).await;
    claimed.json()
}

fn form_of(lost: &Value) -> String {
    format!("{}/executions/{}", page_of(lost), lost["execution"]["execution_id"].as_str().unwrap())
}

on_sqlite! {
    async fn an_entitled_person_records_the_outcome_and_its_source(kit) {
        // A team of one: the switch of R-1 lets people reconcile their own actions.
        let alone = Setup::payments_with(|document| document.decisions.own_approval = true);
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(alone).await;
        let lost = lost(&plane, &alice, &agent, "payments.send").await;
        let page = open_as(&plane, &alice, "/inbox").await.expect(200).words();
        for words in ["Unknown outcomes", "Call payments.send", "Outcome unknown", "the nightly job", "It did not run"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        let (csrf, path) = (hidden(&page, "csrf"), form_of(&lost));
        let sent = [("csrf", "made-up"), ("ran", "yes"), ("reason", "It is in the statement.")];
        let page = send_as(&plane, &alice, &path, &sent).await.expect(403).words();
        assert!(page.contains("It is in the statement."), "what was typed is lost: {page}");
        let page = send_as(&plane, &alice, &path, &[("csrf", &csrf), ("reason", "x")]).await.expect(422).words();
        assert!(page.contains("Choose whether it ran or did not run."), "{page}");
        let sent = [("csrf", csrf.as_str()), ("ran", "yes"), ("reason", "  ")];
        let page = send_as(&plane, &alice, &path, &sent).await.expect(422).words();
        assert!(page.contains("Say how you found out") && page.contains("value=\"yes\" required checked"), "{page}");
        assert_eq!(agent.reads_decision(&plane, &lost).await.json()["execution"]["state"], "unknown");

        let sent = [("csrf", csrf.as_str()), ("ran", "yes"), ("reason", "It is in the statement.")];
        let page = follow(&plane, &alice, send_as(&plane, &alice, &path, &sent).await).await;
        assert!(page.contains("The outcome is recorded."), "{page}");
        assert!(page.contains("It ran, as you reported on") && page.contains("It is in the statement."), "{page}");
        assert_eq!(agent.reads_decision(&plane, &lost).await.json()["execution"]["state"], "committed");
        let page = send_as(&plane, &alice, &path, &sent).await.expect(409).words();
        assert!(page.contains("was reported meanwhile"), "{page}");
    }
}

#[tokio::test]
async fn the_agents_person_only_sees_a_question_for_other_approvers() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let carol = plane.person_in("calendar", "carol", &[Role::Approver]).await;
    let lost = lost(&plane, &carol, &agent, "payments.release").await;
    let page = open_as(&plane, &alice, "/inbox").await.expect(200).words();
    assert!(page.contains("Somebody else has to report this outcome."), "{page}");
    assert!(!page.contains("name=\"ran\""), "{page}");
    let sent = [("csrf", alice.csrf.as_str()), ("ran", "no"), ("reason", "I think so")];
    let page = send_as(&plane, &alice, &form_of(&lost), &sent).await.expect(403).words();
    assert!(page.contains("You may not report this outcome."), "{page}");

    let sent = [("csrf", carol.csrf.as_str()), ("ran", "no"), ("reason", "The bank says so")];
    let page = follow(&plane, &carol, send_as(&plane, &carol, &form_of(&lost), &sent).await).await;
    assert!(page.contains("It did not run, as you reported on"), "{page}");
    let page = open_as(&plane, &alice, &page_of(&lost)).await.expect(200).words();
    assert!(page.contains("It did not run, as somebody else reported on"), "{page}");
}

#[tokio::test]
async fn it_is_not_there_for_anybody_else_and_an_admin_is_led_back_to_the_inbox() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let bob = plane.person("bob").await;
    let admin = plane.person_in("calendar", "ada", &[Role::Admin]).await;
    let lost = lost(&plane, &alice, &agent, "payments.send").await;
    assert!(!open_as(&plane, &bob, "/inbox").await.expect(200).words().contains("Unknown outcomes"));
    let sent = [("csrf", bob.csrf.as_str()), ("ran", "no"), ("reason", "I want it again")];
    send_as(&plane, &bob, &form_of(&lost), &sent).await.expect(404);
    let elsewhere = form_of(&lost).replace("dec_", "dec_0");
    let sent = [("csrf", admin.csrf.as_str()), ("ran", "no"), ("reason", "I looked")];
    send_as(&plane, &admin, &elsewhere, &sent).await.expect(404);
    let done = send_as(&plane, &admin, &form_of(&lost), &sent).await.expect(303);
    assert_eq!(done.header("location"), Some("/inbox"));
    assert_eq!(agent.reads_decision(&plane, &lost).await.json()["execution"]["state"], "failed");
}
