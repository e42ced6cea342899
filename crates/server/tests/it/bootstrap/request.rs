//! `POST /agent/delegate/requests`: the domain is proven and the request complete before a person is asked.

use super::{ask, connect_body, delegations, request, show, yes};
use countersign_testkit::{Setup, on_sqlite};
use serde_json::{Value, json};

fn refused(cases: &[(&str, Value, u16, &str)]) -> Vec<(String, Value, (u16, String))> {
    cases.iter().map(|(what, body, status, code)| ((*what).into(), body.clone(), (*status, (*code).into()))).collect()
}

on_sqlite! {
    /// AAP-5.1-07, AAP-19.4-05, AAP-19.4-06
    async fn an_incomplete_or_invalid_connect_request_is_refused(kit) {
        let plane = kit.plane().await;
        let short = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c";
        let ttl = |seconds: i64| json!({ "max_agent_ttl": seconds });
        let cases = refused(&[
            ("no JWT", json!({ "operator_jwt": null }), 400, "invalid_request"),
            ("no JWT but a text", json!({ "operator_jwt": "abc" }), 401, "operator_jwt_invalid"),
            ("no mode", json!({ "mode": null }), 400, "mode_missing"),
            ("an empty mode", json!({ "mode": "" }), 400, "mode_missing"),
            ("another mode", json!({ "mode": "service_account" }), 400, "mode_not_supported"),
            ("no challenge", json!({ "code_challenge": null }), 400, "invalid_request"),
            ("a short challenge", json!({ "code_challenge": short }), 400, "invalid_request"),
            ("a challenge that is no base64url", json!({ "code_challenge": "=".repeat(43) }), 400, "invalid_request"),
            ("the plain method", json!({ "code_challenge_method": "plain" }), 400, "invalid_request"),
            ("no state", json!({ "state": null }), 400, "invalid_request"),
            ("a state that anyone could guess", json!({ "state": "1" }), 400, "invalid_request"),
            ("a state that breaks the line", json!({ "state": "12345678\r\nSet-Cookie: a" }), 400, "invalid_request"),
            ("no scopes", json!({ "scopes": null }), 400, "invalid_request"),
            ("an empty list of scopes", json!({ "scopes": [] }), 400, "invalid_request"),
            ("a scope that does not exist", json!({ "scopes": ["mail.read"] }), 400, "invalid_request"),
            ("a lifetime below the least", ttl(299), 400, "invalid_request"),
            ("a lifetime above the most", ttl(86_401), 400, "invalid_request"),
        ]);
        for (what, changes, expected) in cases {
            let answer = ask(&plane, changes).await;
            assert_eq!(answer.refusal(), expected, "{what}: {}", answer.text());
        }
        ask(&plane, json!({ "code_challenge_method": "S256" })).await.expect(201);
    }

    /// AAP-5.1-07
    async fn a_callback_counts_only_if_it_is_https_on_the_operators_domain_and_listed_by_it(kit) {
        let plane = kit.plane().await;
        let refused = [
            ("one that is not listed", "https://acme.test/other"),
            ("a listed one with more behind it", "https://acme.test/callback/more"),
            ("a listed one with a query", "https://acme.test/callback?then=elsewhere"),
            ("a listed one without TLS", "http://acme.test/callback"),
            ("one on another domain", "https://evil.test/callback"),
            ("one on a domain that only looks alike", "https://acme.test.evil.test/callback"),
            ("one with a user before the host", "https://acme.test@evil.test/callback"),
            ("an empty one", ""),
        ];
        for (what, callback) in refused {
            let answer = ask(&plane, json!({ "callback": callback })).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{what}");
        }
        ask(&plane, json!({ "callback": plane.acme().callback() })).await.expect(201);
    }

    /// AAP-5.1-07
    async fn an_operator_cannot_list_a_callback_without_tls_or_on_a_domain_that_is_not_its_own(kit) {
        let operators = vec!["plain.test", "foreign.test"];
        let plane = kit.plane_with(Setup { operators, ..Setup::default() }).await;
        let callbacks = [("plain.test", "http://plain.test/back"), ("foreign.test", "https://acme.test/back")];
        for (domain, callback) in callbacks {
            let operator = plane.operator(domain);
            let mut identity = operator.identity();
            identity["countersign"]["callbacks"] = json!([callback]);
            operator.publish_identity(&identity);
            let mut body = plane.connect_body(operator, &["calendar.read"]);
            body["callback"] = json!(callback);
            let answer = plane.post("/agent/delegate/requests", &body).await;
            assert_eq!(answer.refusal(), (401, "operator_not_found".into()), "{domain}");
        }
    }

    /// R-13, C-60
    async fn a_policy_that_would_not_be_kept_is_refused_by_name(kit) {
        let plane = kit.plane().await;
        for policy in [json!({ "after_inactivity": "59m" }), json!({ "max_duration": "1 hour" }), json!("strict")] {
            let answer = ask(&plane, json!({ "policy": policy })).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{policy}");
            assert!(answer.json()["error_description"].as_str().unwrap().contains("policy"), "{}", answer.text());
        }
        let answer = ask(&plane, json!({})).await.expect(201).json();
        assert_eq!(answer.get("ignored"), None, "nothing was ignored: {answer:#}");
    }

    /// C-19
    async fn an_operator_gets_a_warning_that_its_webhook_has_no_effect_yet(kit) {
        let plane = kit.plane().await;
        let mut identity = plane.acme().identity();
        identity["webhook_url"] = json!("https://acme.test/hook");
        plane.acme().publish_identity(&identity);
        let asked = ask(&plane, json!({})).await.expect(201).json();
        let members = |answer: &serde_json::Value| -> Vec<String> {
            let ignored = answer["ignored"].as_array().unwrap();
            assert!(ignored.iter().all(|one| one["reason"].as_str().is_some_and(|why| why.len() > 20)), "{answer:#}");
            ignored.iter().map(|one| one["member"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(members(&asked), ["webhook_url"]);
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let mut receipt = plane.receipt_claims(plane.acme(), "alice", &connected, &["calendar.read"]);
        receipt["heartbeat_interval"] = json!(1800);
        receipt["abort_on_revoke"] = json!(true);
        let mut body = plane.register_body(plane.acme(), &connected);
        assert_eq!(members(&plane.post("/agent/register", &body).await.expect(200).json()), ["webhook_url"]);
        body["consent_receipt"] = json!(plane.acme().sign_receipt(&receipt));
        let registered = plane.post("/agent/register", &body).await.expect(200).json();
        assert_eq!(members(&registered), ["webhook_url"], "heartbeats are watched");
        crate::schemas::assert_valid("register-response", &registered);
    }

    /// AAP-5.1-07
    async fn the_domain_is_proven_before_anything_is_shown(kit) {
        let plane = kit.plane_with(Setup { operators: vec!["acme.test", "other.test"], ..Setup::default() }).await;
        let (acme, other) = (plane.acme(), plane.operator("other.test"));
        let forged = other.sign_operator(&acme.claims(plane.service(), plane.now()));
        let elsewhere = acme.jwt("https://elsewhere.test", plane.now());
        let old = acme.jwt(plane.service(), plane.now().plus_secs(-3600));
        for (what, jwt) in [("signed by another", forged), ("for another service", elsewhere)] {
            let answer = ask(&plane, json!({ "operator_jwt": jwt })).await;
            assert_eq!(answer.refusal(), (401, "operator_jwt_invalid".into()), "{what}");
        }
        let answer = ask(&plane, json!({ "operator_jwt": old })).await;
        assert_eq!(answer.refusal(), (401, "operator_jwt_expired".into()));
    }

    /// AAP-5.1-07
    async fn a_request_lives_for_ten_minutes_to_the_second(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let asked = ask(&plane, json!({})).await.expect(201).json();
        let id = asked["request_id"].as_str().unwrap();
        assert_eq!(asked["connect_url"], format!("{}/connect/{id}", plane.service()));
        assert_eq!(asked["expires_at"], plane.now().plus_secs(600).to_rfc3339());
        plane.advance_secs(599).await;
        let shown = show(&plane, &alice, id).await;
        plane.advance_secs(1).await;
        for body in [json!({ "request_id": id }), yes(id, &shown), json!({ "request_id": id, "approve": false })] {
            let late = alice.post(&plane, "/agent/delegate", &body).await;
            assert_eq!(late.refusal(), (410, "connect_request_gone".into()), "{body}");
        }
        assert_eq!(delegations(&plane, &alice).await, 0);
    }

    /// AAP-5.1-07
    async fn the_id_of_a_request_is_unguessable_and_one_that_nobody_made_is_gone(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let (one, two) = (request(&plane, json!({})).await, request(&plane, json!({})).await);
        for id in [&one, &two] {
            let random = id.strip_prefix("creq_").unwrap();
            assert!(random.len() == 32 && random.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        }
        assert_ne!(one[..21], two[..21]);
        let unknown = format!("creq_{}", "0".repeat(32));
        let answer = alice.post(&plane, "/agent/delegate", &json!({ "request_id": unknown })).await;
        assert_eq!(answer.refusal(), (410, "connect_request_gone".into()));
    }
}

///
#[tokio::test]
async fn an_operator_that_names_no_protocol_version_gets_the_served_ones() {
    let plane = countersign_testkit::Kit(countersign_testkit::Backend::Sqlite).plane().await;
    for path in ["/agent/delegate/requests", "/agent/delegate/token"] {
        let body = connect_body(&plane, json!({})).to_string();
        let request = http::Request::post(path).header("content-type", "application/json");
        let answer = plane.send(request.body(axum::body::Body::from(body)).unwrap()).await;
        assert_eq!(answer.refusal(), (400, "spec_version_unsupported".into()), "{path}");
    }
}
