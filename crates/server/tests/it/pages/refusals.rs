//! Error pages, and the headers of every page.

use super::*;

#[tokio::test]
async fn a_browser_gets_a_page_with_the_number_of_the_request_and_a_program_the_envelope() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let page = open_as(&plane, &alice, "/agents/del_unknown").await.expect(404);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let id = page.header("x-request-id").unwrap();
    assert!(page.words().contains(id) && page.words().contains("What you can do"), "{}", page.words());

    let asked = alice.request(Method::GET, "/agents/del_unknown").header(header::ACCEPT, "application/json");
    let envelope = plane.send(asked.body(Body::empty()).unwrap()).await;
    assert_eq!(envelope.refusal(), (401, "delegation_not_found".into()));
}

#[tokio::test]
async fn a_refusal_that_is_a_page_is_counted_like_any_other() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    open_as(&plane, &alice, "/agents/del_unknown").await.expect(404);
    open_as(&plane, &alice, "/connect/creq_unknown").await.expect(404);
    send_as(&plane, &alice, "/sign-out", &[]).await.expect(403);
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let metrics = countersign_testkit::send_to(&plane.operations, request).await.expect(200).words();
    for code in ["delegation_not_found", "connect_request_gone", "csrf_rejected"] {
        assert!(metrics.contains(&format!("countersign_refusals_total{{error=\"{code}\"}} 1")), "{metrics}");
    }
}

#[tokio::test]
async fn an_address_where_nothing_is_answers_browsers_with_a_page() {
    let plane = plane().await;
    assert!(open(&plane, "/nowhere").await.expect(404).words().contains("There is no such page"));
    assert_eq!(plane.get("/nowhere").await.refusal(), (404, "not_found".into()));
    assert!(open(&plane, "/sign-out").await.expect(405).words().contains("This address works differently"));
}

#[tokio::test]
async fn when_the_store_is_gone_the_page_says_that_nothing_works_now() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    plane.engine.store().close().await;
    let csrf = alice.csrf.clone();
    let page = send_as(&plane, &alice, "/sign-out", &[("csrf", &csrf)]).await.expect(503);
    assert_eq!(page.header("retry-after"), Some("1"));
    assert!(page.words().contains("Not available at the moment"), "{}", page.words());
}

/// AAP-13.2-05
#[tokio::test]
async fn every_page_forbids_framing_guessing_and_keeping() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await.delegation_id;
    let request = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
    let pages = ["/", "/account", "/agents", "/sign-in?fresh", "/nowhere"].map(str::to_owned);
    let more = [format!("/agents/{connected}"), format!("/agents/{connected}/revoke"), format!("/connect/{request}")];
    for path in pages.into_iter().chain(more) {
        let page = open_as(&plane, &alice, &path).await;
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        let wanted = [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("content-language", "en"),
        ];
        for (name, value) in wanted {
            assert_eq!(page.header(name), Some(value), "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn the_files_of_a_page_may_be_kept_for_ever() {
    let plane = plane().await;
    let page = open(&plane, "/").await.expect(200).words();
    let files: Vec<&str> = page.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        let answer = plane.get(file).await.expect(200);
        assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    plane.get("/assets/pages.0000000000000000.css").await.expect(404);
}
