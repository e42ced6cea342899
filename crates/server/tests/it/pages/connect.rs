//! The consent page: its content, and the effects of the two answers.

use super::*;
use countersign_engine::Role;

const SCOPES: &[&str] = &["calendar.read", "calendar.write", "mail.invite"];

/// AAP-5.1-04
#[tokio::test]
async fn nobody_sees_a_request_before_signing_in_and_signing_in_leads_back_to_it() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    for id in [request.as_str(), "creq_unknown"] {
        let sent_away = open(&plane, &format!("/connect/{id}")).await.expect(303);
        assert_eq!(sent_away.header("location"), Some(format!("/sign-in?next=%2Fconnect%2F{id}").as_str()));
        assert!(!sent_away.words().contains("acme.test"));
    }
    let page = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(200).words();
    assert!(page.contains("acme.test"), "{page}");
    for words in ["See your calendar", "Create and change events in your calendar", "Send invitations in your name"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// AAP-13.2-01
#[tokio::test]
async fn the_verified_domain_is_the_identity_and_the_name_only_a_claim() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let mut identity = plane.acme().identity();
    identity["operator"] = json!("Calendar <b>Official</b> \u{202e}tset.live");
    plane.acme().publish_identity(&identity);
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(200).words();
    let title = page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert!(title.contains("acme.test") && !title.contains("Official"), "{title}");
    let heading = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(heading.contains("acme.test") && !heading.contains("Official"), "{heading}");
    assert!(page.contains("It calls itself") && page.contains("Calendar &#60;b&#62;Official"), "{page}");
    assert!(!page.contains('\u{202e}'), "no direction is turned round");
}

/// AAP-14.4-02, AAP-14.4-03
#[tokio::test]
async fn the_whole_disclosure_stands_on_the_page_in_the_words_of_its_author() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let first = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/connect/{first}")).await.expect(200).words();
    assert!(page.contains("acme.test is responsible for looking into it and putting it right"), "{page}");
    assert!(page.contains("In the words of Calendar"), "{page}");

    let mut identity = plane.acme().identity();
    identity["countersign"]["liability_disclosure"] = json!("We mend what we break.\n\nCall us at any hour.");
    plane.acme().publish_identity(&identity);
    plane.advance_secs(3601).await;
    let second = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/connect/{second}")).await.expect(200).words();
    for words in ["We mend what we break.", "Call us at any hour.", "In the words of acme.test"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// The mode's description in the manifest is the one on this page (AAP 11.5).
#[tokio::test]
async fn the_mode_disclosure_of_the_manifest_the_duration_and_irreversible_actions_are_on_the_page() {
    let own_words = "It acts as you and sees what you see.";
    let setup = Setup::with_project(|document| {
        document.disclosures.insert("user_delegated".into(), own_words.into());
        document.max_duration = "30d".into();
    });
    let plane = plane_with(setup).await;
    let alice = plane.person("alice").await;
    let manifest = plane.get("/.well-known/agent-auth.json").await.json();
    assert_eq!(manifest["disclosures"]["user_delegated"], own_words);
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(200).words();
    for words in [own_words, "30 days from your approval", "Cannot be undone", "<code>events.delete</code>"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// AAP-13.2-05
#[tokio::test]
async fn the_page_is_on_the_services_own_origin_and_cannot_be_framed() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let asked = plane.post("/agent/delegate/requests", &plane.connect_body(plane.acme(), SCOPES)).await.expect(201);
    let url = asked.json()["connect_url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix("https://api.example.test").expect("the service's origin");
    let page = open_as(&plane, &alice, path).await.expect(200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self';"), "{policy}");
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("content-language"), Some("en"));
}

/// The form's response may redirect to the callback, so the policy of the page must allow it.
#[tokio::test]
async fn a_page_whose_answer_leaves_lets_its_form_lead_to_the_callback_and_nowhere_else() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = request_with_callback(&plane, plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self' https://acme.test;"), "{policy}");
    assert!(page.words().contains("you go back to acme.test"));
}

/// AAP-5.1-05
#[tokio::test]
async fn a_rejection_makes_no_token_and_reaches_the_operators_callback() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let waiting = request_with_callback(&plane, plane.acme(), SCOPES).await;
    let sent_back = answer(&plane, &alice, &waiting, "deny", false).await.expect(303);
    let wanted =
        "https://acme.test/callback?error=access_denied&state=state-of-the-test&iss=https%3A%2F%2Fapi.example.test";
    assert_eq!(sent_back.header("location"), Some(wanted));

    let copying = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = answer(&plane, &alice, &copying, "deny", false).await.expect(200).words();
    assert!(page.contains("was not connected and has no access"), "{page}");
    assert!(!page.contains("code_"), "{page}");
    assert_eq!(delegations(&plane, &alice).await, 0);
}

/// AAP-14.4-02
#[tokio::test]
async fn an_approval_without_the_tick_does_not_count_and_the_page_names_the_missing_tick() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = request_with_callback(&plane, plane.acme(), SCOPES).await;
    let page = answer(&plane, &alice, &request, "approve", false).await.expect(422);
    assert!(page.header("content-security-policy").unwrap().contains("https://acme.test"));
    let page = page.words();
    assert!(page.contains("<title>Error: ") && page.contains("<a href=\"#acknowledged\">To approve,"), "{page}");
    assert_eq!(delegations(&plane, &alice).await, 0);
    let path = format!("/connect/{request}");
    send_as(&plane, &alice, &path, &answering(&fields(&page), "approve", true)).await.expect(303);
    assert_eq!(delegations(&plane, &alice).await, 1);
}

/// AAP-5.1-05, AAP-5.1-07
#[tokio::test]
async fn a_consent_sends_code_state_and_issuer_to_the_callback_and_never_the_token() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = request_with_callback(&plane, plane.acme(), SCOPES).await;
    let sent_back = answer(&plane, &alice, &request, "approve", true).await.expect(303);
    assert_eq!(sent_back.header("cache-control"), Some("no-store"));
    let location = url::Url::parse(sent_back.header("location").unwrap()).unwrap();
    assert!(location.as_str().starts_with("https://acme.test/callback?code="), "{location}");
    let names: Vec<String> = location.query_pairs().map(|(name, _)| name.into_owned()).collect();
    assert_eq!(names, ["code", "state", "iss"]);
    let value = |name: &str| location.query_pairs().find(|(n, _)| n == name).unwrap().1.into_owned();
    assert_eq!((value("state"), value("iss")), ("state-of-the-test".into(), plane.service().into()));
    assert!(!sent_back.words().contains("eyJ") && !location.as_str().contains("eyJ"));

    let exchanged = plane.post("/agent/delegate/token", &plane.exchange_body(plane.acme(), &value("code"))).await;
    let token = exchanged.expect(200).json()["delegation_token"].as_str().unwrap().to_owned();
    assert!(is_signed_by_the_service(&plane, &token).await);
}

/// AAP-5.1-07
#[tokio::test]
async fn without_a_callback_the_page_shows_the_code_once_and_never_the_token() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = answer(&plane, &alice, &request, "approve", true).await.expect(200);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let page = page.words();
    let code = page.split("translate=\"no\">code_").nth(1).unwrap().split('<').next().unwrap();
    assert!(!page.contains("eyJ"), "a token in the browser");
    assert!(page.contains("datetime=\"2026-11-15T12:10:00.000Z\""), "{page}");
    let body = plane.exchange_body(plane.acme(), &format!("code_{code}"));
    plane.post("/agent/delegate/token", &body).await.expect(200);
    let again = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(410).words();
    assert!(again.contains("Already answered") && !again.contains(code), "{again}");
}

/// AAP-5-01
#[tokio::test]
async fn an_approval_counts_only_from_a_page_of_the_same_person_and_session() {
    let plane = plane().await;
    let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    let shown_to_bob = fields(&open_as(&plane, &bob, &path).await.expect(200).words());
    let expired = send_as(&plane, &alice, &path, &answering(&shown_to_bob, "approve", true)).await.expect(403);
    assert!(expired.words().contains("This form was open for too long"));

    let [_, disclosure_of_bob, _] = shown_to_bob;
    let [csrf, _, shown] = fields(&open_as(&plane, &alice, &path).await.expect(200).words());
    let mixed = [csrf, disclosure_of_bob, shown];
    send_as(&plane, &alice, &path, &answering(&mixed, "approve", true)).await.expect(403);

    let own = fields(&open_as(&plane, &alice, &path).await.expect(200).words());
    let foreign = alice.request(Method::POST, &path).header(header::ORIGIN, "https://acme.test");
    let foreign = foreign.header(header::ACCEPT, HTML).header(header::CONTENT_TYPE, FORM);
    plane.send(foreign.body(form(&answering(&own, "approve", true))).unwrap()).await.expect(403);
    assert_eq!(delegations(&plane, &alice).await + delegations(&plane, &bob).await, 0);
}

/// A person without a role in the project is told so, and nothing else.
#[tokio::test]
async fn a_person_outside_the_project_sees_nothing_of_the_request() {
    let plane = plane().await;
    let eve = plane.person_in("calendar", "eve", &[Role::Auditor]).await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let page = open_as(&plane, &eve, &format!("/connect/{request}")).await.expect(403).words();
    assert!(page.contains("You may not do this") && !page.contains("acme."), "{page}");
}

#[tokio::test]
async fn a_domain_that_looks_like_one_already_connected_is_pointed_out() {
    let plane = plane_with(Setup { operators: vec!["acme.test", "acrne.test"], ..Setup::default() }).await;
    let alice = plane.person("alice").await;
    let stranger = plane.connect_request("", plane.operator("acrne.test"), SCOPES).await;
    let path = format!("/connect/{stranger}");
    assert!(!open_as(&plane, &alice, &path).await.expect(200).words().contains("Look closely"));
    plane.connect(&alice, plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(page.contains("Look closely at this domain") && page.contains("It is not acme.test"), "{page}");
}

#[tokio::test]
async fn a_reader_of_german_is_asked_in_german() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let asked =
        alice.request(Method::GET, &format!("/connect/{request}")).header(header::ACCEPT_LANGUAGE, "de-AT,en;q=0.5");
    let page = plane.send(asked.header(header::ACCEPT, HTML).body(Body::empty()).unwrap()).await.expect(200);
    assert_eq!(page.header("content-language"), Some("de"));
    assert!(page.words().contains("<html lang=\"de\">") && page.words().contains("acme.test"));
}

async fn is_signed_by_the_service(plane: &Plane, token: &str) -> bool {
    let published = plane.get("/.well-known/agent-jwks.json").await.expect(200);
    let keys = countersign_jose::KeySet::parse(&published.body, &countersign_jose::KeyPolicy::default()).unwrap();
    countersign_jose::verify_delegation(token, &keys, &[plane.service()], plane.now()).is_ok()
}

/// AAP-8.4-01, AAP-8.4-04, AAP-8.4-05, AAP-19.6-01, AAP-19.6-05
#[tokio::test]
async fn the_page_shows_the_rules_of_all_three_and_the_person_tightens_them_before_the_approval() {
    let setup = Setup::with_project(|document| {
        document.max_duration = "30d".into();
        document.auto_revoke = serde_json::from_value(json!({ "on_events": ["user.role_changed"] })).unwrap();
    });
    let plane = plane_with(setup).await;
    let alice = plane.person("alice").await;
    let mut identity = plane.acme().identity();
    identity["countersign"]["auto_revoke_policy"] = json!({ "after_inactivity": "14d", "after_duration": "60d" });
    plane.acme().publish_identity(&identity);
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    for words in [
        "30 days from your approval</strong> (rule of Calendar)",
        "after 14 days without a request (rule of acme.test)",
        "when your role changes (rule of Calendar)",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let own = "?after_duration=2w&after_inactivity=99d&max_requests=5&on_task_completion=true";
    let page = open_as(&plane, &alice, &format!("{path}{own}")).await.expect(200).words();
    for words in [
        "14 days from your approval</strong> (your own rule)",
        "after 14 days without a request (rule of acme.test)",
        "when the agent reports its task as complete (your own rule)",
        "after 5 requests (your own rule)",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let kept = ["csrf", "disclosure_id", "shown", "after_duration", "after_inactivity", "max_requests"];
    let fields: Vec<(&str, String)> = kept.iter().map(|name| (*name, hidden(&page, name))).collect();
    let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.extend([("answer", "approve"), ("acknowledged_disclosure", "true")]);
    let looser = send_as(&plane, &alice, &path, &fields).await;
    assert_eq!(looser.status, 409, "a rule of the page was left out");
    fields.push(("on_task_completion", "true"));
    send_as(&plane, &alice, &path, &fields).await.expect(200);
    let summary = alice.request(Method::GET, "/agent/access-summary").body(Body::empty()).unwrap();
    let summary = plane.send(summary).await.expect(200).json();
    let expected = json!({
        "expires_at": plane.now().plus_secs(14 * 86_400).to_rfc3339(), "inactivity_timeout": 14 * 86_400,
        "on_task_completion": true, "on_events": ["user.offboarded", "user.role_changed"],
        "after_use": { "max_requests": 5 },
    });
    assert_eq!(summary["delegations"][0]["effective_policy"], expected);
}

/// AAP-8.4-07
#[tokio::test]
async fn a_rule_that_cannot_be_read_is_pointed_out_and_nothing_is_approved() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    for bad in
        ["after_duration=7 days", "after_inactivity=30m", "max_requests=0", "max_requests=-1", "after_duration=1.5h"]
    {
        let page = open_as(&plane, &alice, &format!("/connect/{request}?{}", bad.replace(' ', "+"))).await.expect(422);
        let (field, page) = (bad.split('=').next().unwrap(), page.words());
        assert!(
            page.contains("One of your rules cannot be read") && page.contains(&format!("href=\"#{field}\"")),
            "{page}"
        );
        let input = page.split(&format!("<input id=\"{field}\"")).nth(1).unwrap().split('>').next().unwrap();
        assert!(input.contains("aria-invalid"), "{input}");
    }
    let page = open_as(&plane, &alice, &format!("/connect/{request}")).await.expect(200).words();
    let fields = fields(&page);
    let mut sent = answering(&fields, "approve", true);
    sent.push(("after_duration", "soon"));
    send_as(&plane, &alice, &format!("/connect/{request}"), &sent).await.expect(422);
    assert_eq!(delegations(&plane, &alice).await, 0);
}
