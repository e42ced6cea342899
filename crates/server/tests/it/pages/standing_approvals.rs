//! A standing approval: given on the page, used within its limits, listed, and revoked.

use super::*;
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest},
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};

fn arguments(amount: i64) -> Value {
    json!({ "amount": amount, "currency": "EUR", "box": "blue" })
}

async fn archives(plane: &Plane, agent: &TestAgent, amount: i64) -> Answer {
    agent.requests_confirmation(plane, &confirmation("notes.archive", arguments(amount))).await
}

/// Claims an approval and reports the execution.
async fn runs(plane: &Plane, agent: &TestAgent, asked: &Value, amount: i64) -> Answer {
    let body = json!({ "tool": "notes.archive", "arguments": arguments(amount) });
    let claimed = agent.claims(plane, asked, &body).await;
    if claimed.is_success() {
        agent.reports(plane, asked, "committed").await.expect(200);
    }
    claimed
}

const THREE: [(&str, &str); 5] =
    [("uses", "3"), ("minutes", "30"), ("each:amount", "100"), ("sum:amount", "250"), ("unit:amount", "currency")];

/// The first standing approval of a list.
fn first_open(list: &str) -> String {
    let rest = list.split_once("/allowances/calendar/").unwrap_or_else(|| panic!("no standing approval: {list}")).1;
    rest.split('/').next().unwrap().to_owned()
}

on_both_stores! {
    ///
    async fn three_times_up_to_a_sum_is_three_times_up_to_that_sum_and_can_be_taken_back(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = archives(&plane, &agent, 80).await.expect(201).json();
        let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
        assert!(page.contains("amount: now 80") && page.contains("<option value=\"currency\" selected>"), "{page}");
        let page = follow(&plane, &alice, accept_more(&plane, &alice, &asked, &THREE).await).await;
        assert!(page.contains("You approved it.") && page.contains("Uses left: 3 of 3."), "{page}");
        assert!(page.contains("at most 100 EUR, and altogether at most 250 EUR"), "{page}");

        runs(&plane, &agent, &asked, 80).await.expect(200);
        runs(&plane, &agent, &asked, 100).await.expect(200);
        let list = open_as(&plane, &alice, "/allowances").await.expect(200).words();
        assert!(list.contains("Uses left: 1 of 3.") && list.contains("70 EUR of 250 EUR left"), "{list}");
        assert!(list.contains("notes.archive {&#34;amount&#34;:80,"), "the call itself, not what the agent says: {list}");
        assert!(list.contains("15 November 2026, 12:30:00\u{a0}UTC"), "{list}");
        assert!(open_as(&plane, &alice, "/inbox").await.words().contains("Standing approvals: 1"));
        archives(&plane, &agent, 71).await.expect(201);
        archives(&plane, &agent, 70).await.expect(200);

        let path = format!("/allowances/calendar/{}/take-back", first_open(&list));
        let sent = [("csrf", alice.csrf.as_str()), ("reason", "Enough")];
        let page = follow(&plane, &alice, send_as(&plane, &alice, &path, &sent).await).await;
        assert!(page.contains("The standing approval is revoked.") && page.contains("No standing approvals"), "{page}");
        archives(&plane, &agent, 70).await.expect(201);
        assert_eq!(runs(&plane, &agent, &asked, 70).await.status, 409);
        let page = send_as(&plane, &alice, &path, &sent).await.expect(409).words();
        assert!(page.contains("Nothing is left to revoke"), "{page}");
        let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
        assert!(!page.contains("See and revoke standing approvals"), "{page}");
    }

    async fn nobody_revokes_approvals_of_others_and_no_form_from_elsewhere_does(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let bob = plane.person("bob").await;
        let asked = archives(&plane, &agent, 80).await.expect(201).json();
        accept_more(&plane, &alice, &asked, &[("uses", "3")]).await.expect(303);
        let list = open_as(&plane, &alice, "/allowances").await.expect(200).words();
        let path = format!("/allowances/calendar/{}/take-back", first_open(&list));
        send_as(&plane, &bob, &path, &[("csrf", &bob.csrf)]).await.expect(404);
        assert!(open_as(&plane, &bob, "/allowances").await.expect(200).words().contains("No standing approvals"));
        let sent = [("csrf", bob.csrf.as_str()), ("reason", "typed before")];
        let page = send_as(&plane, &alice, &path, &sent).await.expect(403).words();
        assert!(page.contains("open for too long") && page.contains("typed before"), "{page}");
        let long = "x".repeat(4097);
        let page = send_as(&plane, &alice, &path, &[("csrf", &alice.csrf), ("reason", &long)]).await.expect(422).words();
        assert!(page.contains("The reason is too long"), "{page}");
        archives(&plane, &agent, 80).await.expect(200);
        open(&plane, "/allowances").await.expect(303);
    }
}

#[tokio::test]
async fn an_invalid_value_is_reported_beside_its_field_and_nothing_is_decided() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = archives(&plane, &agent, 80).await.expect(201).json();
    for (fields, words, field) in [
        (&[("uses", "")][..], "Say how many times", "uses"),
        (&[("uses", "0")], "a whole number of times", "uses"),
        (&[("uses", "101")], "a whole number of times", "uses"),
        (&[("uses", "3.5")], "a whole number of times", "uses"),
        (&[("minutes", "1441")], "a whole number of minutes", "minutes"),
        (&[("minutes", "-1"), ("uses", "2")], "a whole number of minutes", "minutes"),
        (&[("each:amount", "1,000")], "an amount in digits", "each-1"),
        (&[("each:amount", "79")], "at least 80", "each-1"),
        (&[("sum:amount", "79"), ("unit:amount", "currency")], "at least 80", "sum-1"),
        (&[("sum:amount", "200")], "A sum needs a unit", "sum-1"),
        (&[("sum:amount", "200"), ("unit:amount", "nonsense")], "A sum needs a unit", "sum-1"),
    ] {
        let page = accept_more(&plane, &alice, &asked, fields).await.expect(422).words();
        assert!(page.contains(words) && page.contains(&format!("href=\"#{field}\"")), "{fields:?}: {page}");
        assert!(page.contains("<details class=\"allow-more\" open>"), "{fields:?}");
        for (_, typed) in fields.iter().filter(|(name, _)| !name.starts_with("unit")) {
            assert!(page.contains(&format!("value=\"{typed}\"")), "{typed}: {page}");
        }
    }
    let wrong = [("csrf", alice.csrf.as_str()), ("shown", "00"), ("answer", "accept-more"), ("uses", "2")];
    send_as(&plane, &alice, &page_of(&asked), &wrong).await.expect(409);
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
}

///
#[tokio::test]
async fn no_argument_of_an_irreversible_high_risk_action_can_be_released() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 80 })).await;
    let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
    assert!(page.contains("every argument stays as it is shown") && !page.contains("each:amount"), "{page}");
    let more = [("uses", "2"), ("each:amount", "1000")];
    accept_more(&plane, &alice, &asked, &more).await.expect(303);
    let another = confirmation("payments.send", json!({ "amount": 81 }));
    agent.requests_confirmation(&plane, &another).await.expect(201);
    agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "amount": 80 }))).await.expect(200);
}

#[tokio::test]
async fn the_exact_arguments_of_a_tool_are_shown_and_texts_that_are_no_amounts_are_not_offered() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let given = json!({ "price": "12.50", "account": "12345", "deep": { "n": 3, "list": [1, "EUR"] }, "on": true });
    let asked = agent.requests_approval(&plane, "notes.archive", given).await;
    let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
    assert!(page.contains("Tool call"), "{page}");
    for words in ["account</bdi></dt>", "12345", "true</bdi></dd>", "deep.list.1"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for offered in ["each:price", "each:deep.n", "each:deep.list.0"] {
        assert!(page.contains(offered), "{offered}: {page}");
    }
    assert!(!page.contains("each:account") && !page.contains("each:on"), "{page}");
    let worded = asked_in_words(&plane, &agent, "Tidy up").await;
    let page = open_as(&plane, &alice, &page_of(&worded)).await.expect(200).words();
    assert!(!page.contains("Arguments of the tool call") && !page.contains("allow-more"), "{page}");
    accept_more(&plane, &alice, &worded, &[("uses", "3")]).await.expect(422);
}

/// members of an agent's context are shown as the agent's, by whatever name.
#[tokio::test]
async fn an_agent_cannot_say_in_our_place_how_its_call_differs_from_a_plan() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let mut body = confirmation("notes.archive", arguments(80));
    let plan = "00000000-0000-4000-8000-0000000000aa";
    let deviation = json!({ "plan_id": plan, "plan_title": "“x”", "step_id": plan,
        "deviations": [{ "kind": "asks_again" }], "lines": ["nothing at all"] });
    let request = json!({ "method": "GET", "target": "/harmless", "content_type": "", "body_bytes": 0,
        "body_sha256": "", "values": [] });
    let lookalikes = json!({ "deviation": deviation, "plan_difference": deviation, "request": request, "kept": 1 });
    body["extra_context"] = lookalikes.clone();
    let (phone, mut heard) = alice.subscribed(&plane).await;
    let asked = agent.requests_confirmation(&plane, &body).await.expect(201).json();
    let page = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
    assert!(!page.contains("This deviates from") && !page.contains("difference-heading"), "{page}");
    let (theirs, technical) = page.split_once("<summary>Technical details</summary>").unwrap();
    assert!(theirs.contains("kept") && theirs.contains("/harmless") && !technical.contains("/harmless"), "{page}");
    let event = heard.next_of("awaiting.confirmation").await;
    assert_eq!(event["extra_context"], lookalikes, "the agent's own, unchanged");
    let list = phone.request(Method::GET, "/aaep/v1/questions").body(Body::empty()).unwrap();
    let list = Answer::to(&plane.public, list).await.expect(200).json();
    for ours in [&event["extensions"]["dev_countersign"], &list["questions"][0]] {
        assert!(ours.get("deviation").is_none() && ours.get("request").is_none(), "{ours:#}");
    }
}

on_both_stores! {
    ///
    async fn an_amount_behind_the_gateway_is_released_in_the_unit_of_its_route(kit) {
        let scene = kit
            .bank_with(|document| {
                for route in document.routes.iter_mut().filter(|route| route.id == "transfers") {
                    route.irreversible = Some(false);
                    route.requires_confirmation = Some(true);
                    route.risk = serde_json::from_value(json!("medium")).unwrap();
                }
            })
            .await;
        let transfer = |amount: &str| {
            let body = json!({ "amount": amount, "currency": "EUR", "from": "acct-1", "to": "acct-2" });
            GatewayRequest::new("POST", "/transfers").json(body.to_string())
        };
        let held = scene.sends(transfer("82.00")).await;
        let decision = BankFixture::decision(&held);
        let plane = &scene.plane;
        let page = open_as(plane, &scene.alice, &page_of(&decision)).await.expect(200).words();
        assert!(page.contains("body.amount: now 82.00 EUR") && page.contains("Altogether up to, in EUR"), "{page}");
        assert!(!page.contains("Arguments of the tool call"), "{page}");
        let more = [("uses", "5"), ("sum:body.amount", "200.00")];
        accept_more(plane, &scene.alice, &decision, &more).await.expect(303);
        scene.sends(transfer("120.00")).await.expect(201);
        scene.sends(transfer("80.01")).await.expect(403);
        scene.sends(transfer("80.00")).await.expect(201);
    }
}

#[tokio::test]
async fn amounts_are_typed_with_a_comma_in_german() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "notes.archive", json!({ "price": "12.50", "currency": "EUR" })).await;
    let path = page_of(&asked);
    let german =
        |request: http::request::Builder| request.header(header::ACCEPT, HTML).header(header::ACCEPT_LANGUAGE, "de");
    let request = german(alice.request(Method::GET, &path)).body(Body::empty()).unwrap();
    let page = plane.send(request).await.expect(200).words();
    let sent = [
        ("csrf", alice.csrf.as_str()),
        ("shown", &hidden(&page, "shown")),
        ("answer", "accept-more"),
        ("sum:price", "250,75"),
        ("unit:price", "currency"),
    ];
    let request = german(alice.request(Method::POST, &path)).header(header::CONTENT_TYPE, FORM);
    plane.send(request.body(form(&sent)).unwrap()).await.expect(303);
    let list = open_as(&plane, &alice, "/allowances").await.expect(200).words();
    assert!(list.contains("250.75 EUR of 250.75 EUR left"), "{list}");
}

#[tokio::test]
async fn the_link_to_standing_approvals_is_in_the_inbox_and_in_the_account() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    for (path, words) in [("/inbox", "Standing approvals: none"), ("/account", "See and revoke standing approvals")] {
        let page = open_as(&plane, &alice, path).await.expect(200).words();
        assert!(page.contains(&format!("<a href=\"/allowances\">{words}</a>")), "{page}");
    }
}
