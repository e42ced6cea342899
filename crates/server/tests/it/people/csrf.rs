//! A change counts only if it comes from our own pages, with the token of this very sign-in session.

use super::{RIGHT, another_device, holds};
use axum::body::Body;
use countersign_engine::Role;
use countersign_testkit::{Plane, Setup, TestPerson, on_sqlite, send_to};
use http::{Method, header};
use serde_json::{Value, json};

/// Every change that a sign-in session can make, with a valid body.
async fn changes(plane: &Plane, alice: &TestPerson) -> Vec<(Method, &'static str, Value)> {
    let connected = plane.connect(alice, plane.acme(), &["calendar.read"]).await;
    let waiting = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
    let shown = alice.post(plane, "/agent/delegate", &json!({ "request_id": waiting })).await.expect(200).json();
    let yes =
        json!({ "request_id": waiting, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true });
    let mut document = alice.get(plane, "/v1/project").await.expect(200).json()["document"].clone();
    document["display_name"] = json!("Taken over");
    vec![
        (Method::POST, "/agent/revoke", json!({ "delegation_id": connected.delegation_id })),
        (Method::POST, "/agent/delegate", yes),
        (Method::POST, "/agent/delegate", json!({ "request_id": waiting, "approve": false })),
        (Method::PUT, "/v1/project", document),
        (Method::POST, "/session/fresh", json!({ "password": RIGHT })),
        (Method::DELETE, "/session", json!({})),
        (Method::DELETE, "/session/everywhere", json!({})),
    ]
}

/// The observable state that these requests could change.
async fn state(plane: &Plane, alice: &TestPerson) -> Value {
    json!([
        alice.get(plane, "/v1/agents").await.expect(200).json(),
        alice.get(plane, "/v1/project").await.expect(200).json(),
        alice.get(plane, "/session").await.expect(200).json(),
    ])
}

/// Sends with exactly these headers beside the cookie.
async fn send(
    plane: &Plane,
    alice: &TestPerson,
    (method, path, body): (&Method, &str, &Value),
    headers: &[(&str, &str)],
) -> countersign_testkit::Answer {
    let mut request = alice.request(method.clone(), path).header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    // A response to HEAD has no body to check.
    if *method == Method::HEAD { send_to(&plane.public, request).await } else { plane.send(request).await }
}

on_sqlite! {
    ///
    async fn nothing_is_changed_without_the_token_or_from_elsewhere(kit) {
        let plane = kit.plane().await;
        let alice = plane.person_in("calendar", "alice", &[Role::User, Role::Admin]).await;
        let (phone, bob) = (another_device(&plane, &alice).await, plane.person("bob").await);
        let changes = changes(&plane, &alice).await;
        let before = state(&plane, &alice).await;
        let own = ("x-csrf-token", alice.csrf.as_str());
        let foreign: [(&str, Vec<(&str, &str)>); 11] = [
            ("no token", vec![]),
            ("an empty token", vec![("x-csrf-token", "")]),
            ("the token of her other session", vec![("x-csrf-token", &phone.csrf)]),
            ("another person's token", vec![("x-csrf-token", &bob.csrf)]),
            ("a token cut short", vec![("x-csrf-token", &alice.csrf[1..])]),
            ("another site's page", vec![own, ("origin", "https://evil.test")]),
            ("a page of no site", vec![own, ("origin", "null")]),
            ("our host without TLS", vec![own, ("origin", "http://api.example.test")]),
            ("a host below ours, where projects have none", vec![own, ("origin", "https://x.api.example.test")]),
            ("another site, by what the browser says", vec![own, ("sec-fetch-site", "cross-site")]),
            ("a neighbour, by what the browser says", vec![own, ("sec-fetch-site", "same-site")]),
        ];
        for (method, path, body) in &changes {
            for (what, headers) in &foreign {
                let answer = send(&plane, &alice, (method, path, body), headers).await;
                assert_eq!(answer.refusal(), (403, "csrf_rejected".into()), "{method} {path}: {what}");
            }
        }
        assert_eq!(state(&plane, &alice).await, before);
        let home = [own, ("origin", plane.service()), ("sec-fetch-site", "same-origin")];
        for (method, path, body) in changes.iter().take(2) {
            let answer = send(&plane, &alice, (method, path, body), &home).await;
            assert!(answer.is_success(), "{method} {path}: {}", answer.text());
        }
    }

    ///
    async fn a_token_in_the_address_or_the_body_counts_for_nothing(kit) {
        let plane = kit.plane().await;
        let alice = plane.person_in("calendar", "alice", &[Role::User, Role::Admin]).await;
        let changes = changes(&plane, &alice).await;
        for (method, path, body) in &changes {
            let mut body = body.clone();
            body["csrf"] = json!(alice.csrf);
            body["csrf_token"] = json!(alice.csrf);
            for name in ["csrf", "csrf_token", "x-csrf-token"] {
                let path = format!("{path}?{name}={}", alice.csrf);
                let answer = send(&plane, &alice, (method, &path, &body), &[]).await;
                // A project's document is refused for unknown members before any other check.
                let wanted = if *method == Method::PUT { vec![400, 403] } else { vec![403] };
                assert!(wanted.contains(&answer.status), "{method} {path}: {}", answer.text());
            }
        }
        assert!(holds(&plane, &alice).await);
    }

    ///
    async fn reading_never_changes_anything(kit) {
        let plane = kit.plane().await;
        let alice = plane.person_in("calendar", "alice", &[Role::User, Role::Admin]).await;
        let changes = changes(&plane, &alice).await;
        let before = state(&plane, &alice).await;
        for (_, path, body) in &changes {
            let members = body.as_object().unwrap().iter();
            let query: String = members.map(|(name, value)| format!("{name}={value}&")).collect();
            let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
            for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
                let path = format!("{path}?{query}");
                let answer = send(&plane, &alice, (&method, &path, body), &[("x-csrf-token", &alice.csrf)]).await;
                assert!([200, 405].contains(&answer.status), "{method} {path}: {}", answer.status);
            }
        }
        assert_eq!(state(&plane, &alice).await, before);
    }

    ///
    async fn a_form_of_another_site_cannot_sign_its_visitor_in(kit) {
        let plane = kit.plane().await;
        plane.account("mallory").await;
        let body = json!({ "name": "mallory", "password": RIGHT });
        for (name, value) in [("origin", "https://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
            let request = http::Request::post("/session").header(header::CONTENT_TYPE, "application/json");
            let request = request.header(name, value).body(Body::from(body.to_string())).unwrap();
            let answer = plane.send(request).await;
            assert_eq!(answer.refusal(), (403, "csrf_rejected".into()), "{name}: {value}");
            assert!(answer.header("set-cookie").is_none());
        }
        // Content types that a form can send without a preflight.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            let request = http::Request::post("/session").header(header::CONTENT_TYPE, kind);
            let answer = plane.send(request.body(Body::from(body.to_string())).unwrap()).await;
            assert_eq!(answer.refusal(), (415, "unsupported_media_type".into()), "{kind}");
        }
    }

    ///
    async fn where_projects_have_hosts_their_pages_are_ours_and_others_below_are_not(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[Role::User]).await;
        let body = json!({ "delegation_id": "del_0000000000" });
        let revoke = (&Method::POST, "/projects/north/agent/revoke", &body);
        for origin in ["https://api.example.test", "https://north.api.example.test"] {
            let headers = [("x-csrf-token", alice.csrf.as_str()), ("origin", origin)];
            assert_eq!(send(&plane, &alice, revoke, &headers).await.code(), "delegation_not_found", "{origin}");
        }
        for origin in ["https://evilapi.example.test", "http://north.api.example.test", "https://example.test"] {
            let headers = [("x-csrf-token", alice.csrf.as_str()), ("origin", origin)];
            assert_eq!(send(&plane, &alice, revoke, &headers).await.code(), "csrf_rejected", "{origin}");
        }
    }
}
