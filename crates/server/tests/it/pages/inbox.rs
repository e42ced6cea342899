//! A person's pending questions, and one question in full.

use super::*;
use countersign_engine::Role;
use countersign_testkit::{decisions::DecisionFixture, on_sqlite};

#[tokio::test]
async fn nobody_sees_an_inbox_without_signing_in() {
    let DecisionFixture { plane, agent, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    for path in ["/inbox".to_owned(), page_of(&asked)] {
        let sent_on = open(&plane, &path).await.expect(303);
        let next = path.replace('/', "%2F");
        assert_eq!(sent_on.header("location"), Some(format!("/sign-in?next={next}")).as_deref());
    }
}

on_sqlite! {
    async fn somebody_elses_question_is_not_there(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let bob = plane.person("bob").await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
        assert!(!open_as(&plane, &bob, "/inbox").await.expect(200).words().contains("Call payments.send"));
        let path = page_of(&asked);
        let elsewhere = path.replace("/calendar/", "/nowhere/");
        for path in [path.clone(), elsewhere, "/inbox/calendar/dec_unknown".into()] {
            let page = open_as(&plane, &bob, &path).await.expect(404).words();
            assert!(page.contains("There is no such page") && !page.contains("payments"), "{path}: {page}");
        }
        let csrf = bob.csrf.clone();
        send_as(&plane, &bob, &path, &[("csrf", &csrf), ("answer", "reject")]).await.expect(404);
        send_as(&plane, &bob, &path, &[("csrf", &csrf), ("more", "60")]).await.expect(404);
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json()["state"], "pending");
        assert!(open_as(&plane, &alice, "/inbox").await.expect(200).words().contains("Call payments.send"));
    }
}

///
#[tokio::test]
async fn a_question_names_requester_author_consequence_and_deadline() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let earlier = agent.requests_approval(&plane, "payments.send", json!({ "amount": 3 })).await;
    decide(&plane, &alice, &earlier, "accept", &[]).await.expect(303);
    let same = json!({ "tool": "payments.send", "arguments": { "amount": 3 } });
    agent.claims(&plane, &earlier, &same).await.expect(200);
    agent.reports(&plane, &earlier, "committed").await.expect(200);
    plane.advance_secs(60).await;

    let mut body = countersign_testkit::decisions::confirmation("payments.send", json!({ "amount": 3 }));
    body["extra_context"] = json!({ "amount": "3.00 EUR", "to": { "iban": "DE00" }, "urgent": true });
    let asked = agent.requests_confirmation(&plane, &body).await.expect(201).json();
    let in_both = [
        "the nightly job",
        "(API key of this service)",
        "In the agent’s own words. Nobody has checked them.",
        "Call payments.send",
        "what was asked for is done",
        "High risk",
        "Cannot be undone",
        "It is not carried out.",
        ">5 minutes<",
        "15 November 2026, 12:06:00\u{a0}UTC",
        "Exactly the same last ran",
        "15 November 2026, 12:00:00\u{a0}UTC",
    ];
    let list = open_as(&plane, &alice, "/inbox").await.expect(200).words();
    let full = open_as(&plane, &alice, &page_of(&asked)).await.expect(200).words();
    for words in in_both {
        assert!(list.contains(words), "the list does not say {words}: {list}");
        assert!(full.contains(words), "the page does not say {words}: {full}");
    }
    assert!(list.contains(&format!("href=\"{}\"", page_of(&asked))) && list.contains("Inbox: 1 pending question"));
    for words in ["3.00 EUR", "&#34;iban&#34;: &#34;DE00&#34;", "true", "<code translate=\"no\">payments.send</code>"] {
        assert!(full.contains(words), "the page does not say {words}: {full}");
    }
    assert!(full.contains("An approval permits exactly this, once, within 5 minutes."));
}

#[tokio::test]
async fn the_operator_of_a_connected_agent_is_named_by_its_domain() {
    let plane = plane_with(Setup::payments()).await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await.as_test_agent();
    let asked = asked_in_words(&plane, &agent, "Tidy up").await;
    for path in ["/inbox", &page_of(&asked)] {
        let page = open_as(&plane, &alice, path).await.expect(200).words();
        assert!(page.contains(">acme.test</bdi> (verified domain)</p>"), "{page}");
    }
}

#[tokio::test]
async fn an_agents_text_stays_text_on_both_pages() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let hostile = "</blockquote><script>alert(1)</script><img src=x onerror=y>";
    let long = format!("{hostile} {} the end", "unbreakable".repeat(1200));
    let body = json!({ "action": long, "consequence": "Pay \u{202E}0001 $\u{202C} now\u{200B}", "language": "en",
        "extra_context": { "<b>name</b>\u{202E}": hostile } });
    let asked = agent.requests_confirmation(&plane, &body).await.expect(201).json();
    let question = json!({ "question": hostile, "context": hostile, "accepted_response_kinds": ["multiple_choice"],
        "choices": [{ "value": "\"><script>", "label": hostile }, { "value": "b", "label": "\u{202E}b" }] });
    let clarified = agent.requests_clarification(&plane, &question).await.expect(201).json();
    for path in ["/inbox", &page_of(&asked), &page_of(&clarified)] {
        let page = open_as(&plane, &alice, path).await.expect(200).text();
        for banned in ["<script>alert", "<img", "<b>", "\u{202E}", "\u{202C}", "\u{200B}", "\"><script>"] {
            assert!(!page.contains(banned), "{path} has {banned:?}");
        }
        assert!(page.contains("&#60;script&#62;alert(1)"), "{path}");
    }
    assert!(open_as(&plane, &alice, &page_of(&asked)).await.text().contains("the end"));
    assert!(!open_as(&plane, &alice, "/inbox").await.text().contains("the end"));
}

///
#[tokio::test]
async fn with_several_projects_everything_is_on_one_page_and_each_link_names_its_project() {
    let plane = plane_with(Setup::multi()).await;
    let alice = plane.person_in("north", "alice", &[Role::User]).await;
    plane.give_roles("south", "alice", &[Role::User]).await;
    let mut pages = Vec::new();
    for project in ["north", "south"] {
        let prefix = format!("/projects/{project}");
        let connected = plane.connect_at(&prefix, &alice, plane.acme(), &["calendar.read"]).await;
        let body = plane.register_body(plane.acme(), &connected);
        let registered = plane.post(&format!("{prefix}/agent/register"), &body).await.expect(200).json();
        let token = registered["access_token"].as_str().unwrap().to_owned();
        let agent = TestAgent { token, principal: connected.delegation_id.clone() };
        let body = json!({ "action": format!("Go {project}"), "consequence": "Gone" });
        let asked = agent.post(&plane, &format!("{prefix}/v1/confirmations"), &body).await.expect(201).json();
        pages.push(page_of(&asked));
    }
    let all = open_as(&plane, &alice, "/inbox").await.expect(200).words();
    for page in &pages {
        assert!(all.contains(&format!("href=\"{page}\"")), "{page}: {all}");
    }
    assert!(all.contains("data-listen=\"/projects/north\" data-project=\"north\""), "{all}");
    assert!(pages[0].starts_with("/inbox/north/") && pages[1].starts_with("/inbox/south/"));
    open_as(&plane, &alice, &pages[0].replace("north", "south")).await.expect(404);
    let page = open_as(&plane, &alice, &pages[1]).await.expect(200).words();
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    let sent = [("csrf", csrf.as_str()), ("shown", &shown), ("answer", "accept")];
    let page = follow(&plane, &alice, send_as(&plane, &alice, &pages[1], &sent).await).await;
    assert!(page.contains("You approved it."), "{page}");
}

#[tokio::test]
async fn an_empty_inbox_says_that_nothing_waits_and_the_way_to_it_is_on_every_page() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    assert!(open_as(&plane, &alice, "/inbox").await.expect(200).words().contains("No pending questions"));
    for path in ["/agents", "/account", "/"] {
        assert!(open_as(&plane, &alice, path).await.expect(200).words().contains("href=\"/inbox\""), "{path}");
    }
    assert!(!open(&plane, "/sign-in").await.expect(200).words().contains("href=\"/inbox\""));
}

#[tokio::test]
async fn only_pages_that_listen_may_ask_the_server_and_nobody_else() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    for path in ["/inbox", &page_of(&asked)] {
        let page = open_as(&plane, &alice, path).await.expect(200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.ends_with("; connect-src 'self'") && policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    for path in ["/agents", "/account", "/", "/sign-in?fresh"] {
        let page = open_as(&plane, &alice, path).await.expect(200);
        assert!(!page.header("content-security-policy").unwrap().contains("connect-src"), "{path}");
    }
}

#[tokio::test]
async fn the_pages_are_in_german_for_a_reader_of_german() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({})).await;
    let in_german = |path: &str| {
        let request = alice.request(Method::GET, path).header(header::ACCEPT, HTML);
        request.header(header::ACCEPT_LANGUAGE, "de").body(Body::empty()).unwrap()
    };
    let list = plane.send(in_german("/inbox")).await.expect(200).words();
    assert!(list.contains("Eingang: 1 ausstehende Frage") && list.contains("Hohes Risiko"), "{list}");
    let page = plane.send(in_german(&page_of(&asked))).await.expect(200).words();
    assert!(page.contains("In den eigenen Worten des Agenten") && page.contains("Nicht rückgängig zu machen"));
}
