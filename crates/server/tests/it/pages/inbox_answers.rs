//! Answering on the page: once, for exactly the rendered question, with the true result afterwards.

use super::*;
use countersign_engine::Role;
use countersign_testkit::{decisions::DecisionFixture, on_both_stores};

#[tokio::test]
async fn a_form_from_elsewhere_answers_nothing_and_keeps_the_typed_text() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let bob = plane.person("bob").await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    let path = page_of(&asked);
    let shown = hidden(&open_as(&plane, &alice, &path).await.words(), "shown");
    for csrf in ["", "made-up", bob.csrf.as_str()] {
        let sent = [("csrf", csrf), ("shown", &shown), ("answer", "accept"), ("reason", "typed before")];
        let page = send_as(&plane, &alice, &path, &sent).await.expect(403).words();
        assert!(page.contains("This form was open for too long") && page.contains("typed before"), "{page}");
        send_as(&plane, &alice, &path, &[("csrf", csrf), ("more", "60")]).await.expect(403);
    }
    let foreign = alice.request(Method::POST, &path).header(header::ACCEPT, HTML).header("origin", "https://evil.test");
    let sent = [("csrf", alice.csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    plane.send(foreign.header(header::CONTENT_TYPE, FORM).body(form(&sent)).unwrap()).await.expect(403);
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
}

#[tokio::test]
async fn an_approval_of_another_text_than_was_shown_does_not_count_and_a_rejection_does() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 1 })).await;
    let other = agent.requests_approval(&plane, "payments.send", json!({ "amount": 2 })).await;
    let path = page_of(&asked);
    let page = open_as(&plane, &alice, &path).await.words();
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    let of_other = hidden(&open_as(&plane, &alice, &page_of(&other)).await.words(), "shown");
    for wrong in ["", "00", of_other.as_str()] {
        let sent = [("csrf", csrf.as_str()), ("shown", wrong), ("answer", "accept")];
        let page = send_as(&plane, &alice, &path, &sent).await.expect(409).words();
        assert!(page.contains("has changed since you saw it"), "{page}");
    }
    let request = alice.request(Method::POST, &path).header(header::ACCEPT, HTML).header(header::ACCEPT_LANGUAGE, "de");
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    let in_german = plane.send(request.header(header::CONTENT_TYPE, FORM).body(form(&sent)).unwrap()).await;
    in_german.expect(409);
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
    send_as(&plane, &alice, &path, &[("csrf", &csrf), ("answer", "reject")]).await.expect(303);
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "rejected");
}

on_both_stores! {
    ///
    async fn an_approval_on_the_page_lets_it_run_once_and_the_page_names_the_outcome(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 5 })).await;
        let page = follow(&plane, &alice, decide(&plane, &alice, &asked, "accept", &[]).await).await;
        assert!(page.contains("id=\"notice\"") && page.contains("You approved it."), "{page}");
        assert!(page.contains("Exactly this may run once, until") && page.contains("12:05:00\u{a0}UTC"), "{page}");
        assert!(!page.contains("<form"), "{page}");
        let document = agent.reads_decision(&plane, &asked).await.json();
        assert_eq!((&document["state"], &document["assurance"]), (&json!("accepted"), &json!("fresh")));

        let path = page_of(&asked);
        let same = json!({ "tool": "payments.send", "arguments": { "amount": 5 } });
        agent.claims(&plane, &asked, &same).await.expect(200);
        let page = open_as(&plane, &alice, &path).await.words();
        assert!(page.contains("It has started, and the agent has to report the outcome by"), "{page}");
        agent.reports(&plane, &asked, "committed").await.expect(200);
        let page = open_as(&plane, &alice, &path).await.words();
        assert!(page.contains("It ran, as the agent reported on") && !page.contains("id=\"notice\""), "{page}");
    }

    ///
    async fn a_rejection_with_a_reason_reaches_the_agent_and_stands_on_the_page(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let reason = [("reason", " Not before Monday.\r\nAsk Bob. ")];
        let page = follow(&plane, &alice, decide(&plane, &alice, &asked, "reject", &reason).await).await;
        assert!(page.contains("You rejected it.") && page.contains("Not before Monday.\nAsk Bob."), "{page}");
        let document = agent.reads_decision(&plane, &asked).await.json();
        assert_eq!(document["reason"], "Not before Monday.\nAsk Bob.");
        let page = open_as(&plane, &alice, "/inbox").await.words();
        assert!(page.contains("No pending questions"), "{page}");
    }

    /// AAEP-6.3.5-01
    async fn of_an_approval_and_a_rejection_together_one_counts_and_the_other_learns_it(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let path = page_of(&asked);
        let page = open_as(&plane, &alice, &path).await.words();
        let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
        let yes = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
        let no = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "reject")];
        let (yes, no) = tokio::join!(send_as(&plane, &alice, &path, &yes), send_as(&plane, &alice, &path, &no));
        let (counted, late, state) = match yes.status {
            303 => (yes, no, "accepted"),
            _ => (no, yes, "rejected"),
        };
        counted.expect(303);
        let page = late.expect(409).words();
        assert!(page.contains("the question was already settled"), "{page}");
        assert!(page.contains(if state == "accepted" { "You approved it." } else { "You rejected it." }) && !page.contains("<form"), "{page}");
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], state);
    }

    ///
    async fn a_late_answer_is_refused_as_late_before_and_after_the_settlement(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let path = page_of(&asked);
        let page = open_as(&plane, &alice, &path).await.words();
        let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
        let yes = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
        plane.advance_without_settling(300).await;
        let page = send_as(&plane, &alice, &path, &yes).await.expect(409).words();
        assert!(page.contains("it arrived after the deadline") && !page.contains("<form"), "{page}");
        send_as(&plane, &alice, &path, &[("csrf", &csrf), ("more", "60")]).await.expect(409);
        assert!(open_as(&plane, &alice, "/inbox").await.words().contains("No pending questions"));
        plane.advance_secs(0).await;
        let page = send_as(&plane, &alice, &path, &yes).await.expect(409).words();
        assert!(page.contains("Nobody answered in time.") && page.contains("So it is not carried out."), "{page}");
        assert!(!page.contains("rejected it") && !page.contains(">Rejected<"), "{page}");
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "expired");
    }
}

#[tokio::test]
async fn the_same_form_sent_twice_is_the_same_answer() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    for (answer, outcome) in [("accept", "You approved it."), ("reject", "You rejected it.")] {
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "for": answer })).await;
        let path = page_of(&asked);
        let page = open_as(&plane, &alice, &path).await.words();
        let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
        let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", answer), ("reason", "because")];
        for _ in 0..2 {
            let page = follow(&plane, &alice, send_as(&plane, &alice, &path, &sent).await).await;
            assert!(page.contains(outcome), "{page}");
        }
    }
}

/// AAEP-6.8-05, R-9
#[tokio::test]
async fn a_second_answer_learns_that_another_person_decided_or_that_the_question_was_withdrawn() {
    let plane = plane_with(Setup::payments()).await;
    plane.person("alice").await;
    let first = plane.person_in("calendar", "carol", &[Role::Approver]).await;
    let second = plane.person_in("calendar", "dave", &[Role::Approver]).await;
    let agent = plane.agent_key("alice", countersign_testkit::decisions::ALL).await;
    let asked = agent.requests_approval(&plane, "payments.release", json!({ "n": 1 })).await;
    let path = page_of(&asked);
    let page = open_as(&plane, &second, &path).await.expect(200).words();
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    decide(&plane, &first, &asked, "accept", &[]).await.expect(303);
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    let page = send_as(&plane, &second, &path, &sent).await.expect(409).words();
    assert!(page.contains("Somebody else who may decide it approved it."), "{page}");
    assert!(page.contains("Exactly this may run once") && !page.contains("carol"), "{page}");

    let asked = agent.requests_approval(&plane, "payments.release", json!({ "n": 2 })).await;
    agent.withdraws(&plane, &asked, &json!({})).await.expect(200);
    let page = open_as(&plane, &second, &page_of(&asked)).await.expect(200).words();
    assert!(page.contains("It was withdrawn.") && !page.contains("<form"), "{page}");
    let sent = [("csrf", csrf.as_str()), ("answer", "reject")];
    let page = send_as(&plane, &second, &page_of(&asked), &sent).await.expect(409).words();
    assert!(page.contains("Your answer did not count"), "{page}");
}

///
#[tokio::test]
async fn where_another_person_must_approve_ones_own_approval_is_not_offered_and_does_not_count_but_ones_rejection_does()
{
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.release", json!({})).await;
    let path = page_of(&asked);
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(
        page.contains("You cannot approve this; somebody else has to.") && !page.contains("value=\"accept\""),
        "{page}"
    );
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    let page = send_as(&plane, &alice, &path, &sent).await.expect(403).words();
    assert!(page.contains("Your answer did not count: you may not decide this."), "{page}");
    let page = follow(&plane, &alice, decide(&plane, &alice, &asked, "reject", &[]).await).await;
    assert!(page.contains("You rejected it."), "{page}");
}

///
#[tokio::test]
async fn an_answer_that_needs_a_fresh_sign_in_leads_through_it_and_back() {
    let plane = plane_with(Setup::payments()).await;
    plane.person("alice").await;
    let carol = plane.person_in("calendar", "carol", &[Role::Approver]).await;
    let agent = plane.agent_key("alice", countersign_testkit::decisions::ALL).await;
    let asked = agent.requests_approval(&plane, "payments.release", json!({})).await;
    let path = page_of(&asked);
    let page = open_as(&plane, &carol, &path).await.words();
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    send_as(&plane, &carol, &path, &[("csrf", &csrf), ("more", "300")]).await.expect(303);
    plane.advance_secs(301).await;

    let there = format!("/sign-in?fresh&next={}", path.replace('/', "%2F"));
    let page = open_as(&plane, &carol, &path).await.expect(200).words();
    assert!(page.contains(&format!("href=\"{}\"", there.replace('&', "&#38;"))), "{page}");
    assert!(!page.contains("value=\"accept\"") && !page.contains("value=\"reject\""), "{page}");
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    let sent_on = send_as(&plane, &carol, &path, &sent).await.expect(303);
    assert_eq!(sent_on.header("location"), Some(there.as_str()));
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");

    let again = TestPerson::sign_in(&plane, "carol").await;
    let page = follow(&plane, &again, decide(&plane, &again, &asked, "accept", &[]).await).await;
    assert!(page.contains("You approved it."), "{page}");
}

/// AAEP-6.4.2-06
#[tokio::test]
async fn more_time_is_given_up_to_the_policys_limit_with_an_event() {
    let setup = Setup::payments_with(|document| document.decisions.max_extension_seconds = 330);
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture_with(setup).await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    let path = page_of(&asked);
    let page = open_as(&plane, &alice, &path).await.words();
    assert!(
        page.contains("Ask for more time: 1 minute<")
            && page.contains("Ask for more time: 5 minutes<")
            && page.contains("12:10:30\u{a0}UTC"),
        "{page}"
    );
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    send_as(&plane, &alice, &path, &[("csrf", &csrf), ("more", "86400")]).await.expect(400);
    let more = |seconds: &'static str| {
        let (plane, alice, path, csrf) = (&plane, &alice, path.clone(), csrf.clone());
        async move { follow(plane, alice, send_as(plane, alice, &path, &[("csrf", &csrf), ("more", seconds)]).await).await }
    };
    let page = more("300").await;
    assert!(page.contains("The deadline was extended.") && page.contains("12:10:00\u{a0}UTC"), "{page}");
    assert!(page.contains("Ask for more time: 1 minute<") && !page.contains("Ask for more time: 5 minutes<"), "{page}");
    let page = more("60").await;
    assert!(page.contains("12:10:30\u{a0}UTC") && !page.contains("Ask for more time:"), "{page}");
    plane.advance_secs(600).await;
    // An approval still fits a question rendered before the extension.
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    send_as(&plane, &alice, &path, &sent).await.expect(303);
}

#[tokio::test]
async fn a_question_is_answered_with_a_field_for_each_kind_that_it_takes() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let choices = json!([{ "value": "a", "label": "The first" }, { "value": "b", "label": "The second" }]);
    for (kind, wrong, right, response) in [
        ("freetext", "  ", "Two\r\nlines", json!("Two\nlines")),
        ("yes_no", "perhaps", "no", json!(false)),
        ("multiple_choice", "The first", "b", json!("b")),
        ("numeric", "many", " -3.5 ", json!(-3.5)),
    ] {
        let mut body = json!({ "question": format!("Which {kind}?"), "accepted_response_kinds": [kind] });
        if kind == "multiple_choice" {
            body["choices"] = choices.clone();
        }
        let asked = agent.requests_clarification(&plane, &body).await.expect(201).json();
        let said = |text| [("kind", kind), ("response", text)];
        for not_one in [wrong, ""] {
            let page = decide(&plane, &alice, &asked, "respond", &said(not_one)).await.expect(422).words();
            assert!(page.contains("id=\"problem\""), "{kind}: {page}");
        }
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending", "{kind}");
        let page = follow(&plane, &alice, decide(&plane, &alice, &asked, "respond", &said(right)).await).await;
        assert!(page.contains("You answered it."), "{page}");
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["response"], response);
    }
}

#[tokio::test]
async fn an_answer_of_a_kind_that_the_question_does_not_take_does_not_count() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let body = json!({ "question": "How many?", "accepted_response_kinds": ["numeric"] });
    let asked = agent.requests_clarification(&plane, &body).await.expect(201).json();
    let text = [("kind", "freetext"), ("response", "seven")];
    decide(&plane, &alice, &asked, "respond", &text).await.expect(422);
    decide(&plane, &alice, &asked, "accept", &[]).await.expect(422);
    decide(&plane, &alice, &asked, "respond", &[("kind", "shrug"), ("response", "7")]).await.expect(422);
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    decide(&plane, &alice, &asked, "perhaps", &[]).await.expect(422);
    let long = "x".repeat(4097);
    let page = decide(&plane, &alice, &asked, "reject", &[("reason", &long)]).await.expect(422).words();
    assert!(page.contains("The reason is too long"), "{page}");
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
}

#[tokio::test]
async fn an_address_cannot_make_the_page_say_that_something_was_done() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    let path = page_of(&asked);
    for made_up in ["answered", "reconciled"] {
        let page = open_as(&plane, &alice, &format!("{path}?{made_up}")).await.expect(200).words();
        assert!(!page.contains("id=\"notice\""), "{page}");
    }
    alice.rejects(&plane, &asked, None).await;
    let page = open_as(&plane, &alice, &format!("{path}?more")).await.expect(200).words();
    assert!(!page.contains("id=\"notice\""), "{page}");
}
