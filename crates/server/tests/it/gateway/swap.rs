//! The digest covers the executed request: approve one request and send another, and nothing runs (R-3).

use super::held::*;
use crate::{foreign::judge::Judge, register::support::claims_of};
use countersign_protocol::{
    action::{Action, HttpAction},
    hash::Digest,
};
use countersign_testkit::{
    bank::{BankFixture, GATEWAY, GatewayRequest, Got},
    on_sqlite,
};
use serde_json::json;

const APPROVED: &str = r#"{"from":"ours","to":"theirs","amount":"82000.00","currency":"USD"}"#;

fn transfer(body: impl Into<Vec<u8>>) -> GatewayRequest {
    GatewayRequest { body: body.into(), ..BankFixture::transfer() }
}

fn typed(kind: &str) -> GatewayRequest {
    GatewayRequest { headers: vec![("content-type".into(), kind.into())], ..BankFixture::transfer() }
}

fn at(target: &str) -> GatewayRequest {
    GatewayRequest { target: target.into(), ..BankFixture::transfer() }
}

/// Equivalent to most readers, but other bytes.
fn look_alikes() -> Vec<GatewayRequest> {
    vec![
        BankFixture::transfer_of("820000.00"),
        BankFixture::transfer_of("82000.0"),
        transfer(r#"{"to":"theirs","from":"ours","amount":"82000.00","currency":"USD"}"#),
        transfer(APPROVED.replace(':', ": ")),
        transfer(format!("{APPROVED}\n")),
        transfer(APPROVED.replace("theirs", "\\u0074heirs")),
        transfer(APPROVED.replace("\"82000.00\"", "82000.00")),
        transfer(APPROVED.replace('}', r#","urgent":true}"#)),
        at("/transfers?now=1"),
        at("/transfers?"),
        typed("application/json; charset=utf-8"),
        typed("application/vnd.bank+json"),
        BankFixture::transfer().with("x-reference", "R-2"),
    ]
}

/// Requests that two parsers could read differently.
fn ambiguous() -> Vec<GatewayRequest> {
    let twice = BankFixture::transfer().with("x-reference", "R-1").with("x-reference", "R-2");
    vec![
        transfer(APPROVED.replace('}', r#","amount":"820000.00"}"#)),
        transfer(APPROVED.replace('}', r#","\u0061mount":"820000.00"}"#)),
        transfer(APPROVED.replace('}', r#","Amount":"820000.00"}"#)),
        transfer(format!("{APPROVED}{APPROVED}")),
        transfer(format!("{APPROVED}\0")),
        transfer(format!("\u{feff}{APPROVED}")),
        transfer([APPROVED.as_bytes(), b"\xff"].concat()),
        transfer(APPROVED.replace("theirs", "\\ud800")),
        transfer(APPROVED.replace("82000.00", "8.2e4")),
        transfer(r#"{"from":"ours","to":"theirs","currency":"USD"}"#),
        transfer("[]"),
        at("/transfers?a=1&a=2"),
        at("/transfers?a=%zz"),
        typed("application/json; charset=utf-16"),
        typed("application/json, text/plain"),
        BankFixture::transfer().with("content-encoding", "gzip"),
        twice,
    ]
}

on_sqlite! {
    /// R-3
    async fn approve_82000_and_send_820000_and_nothing_runs(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        for sent in look_alikes() {
            let other = asked(&scene, sent.clone().confirmed("true")).await;
            assert_ne!(id(&other), id(&decision), "{sent:?}");
            assert_ne!(other["digest"], decision["digest"], "{sent:?}");
        }
        assert_eq!(scene.bank.got().len(), 0);
        scene.sends(confirmed_transfer()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// R-3
    async fn an_ambiguous_request_is_refused_before_anybody_is_asked(kit) {
        let scene = kit.bank().await;
        scene.approved(BankFixture::transfer()).await;
        for sent in ambiguous() {
            for sent in [sent.clone(), sent.confirmed("true")] {
                let refused = scene.sends(sent.clone()).await;
                assert_eq!(refused.refusal(), (400, "invalid_request".into()), "{sent:?}");
            }
        }
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0, "somebody was asked");
        assert_eq!(scene.bank.got().len(), 0);
    }

    /// R-3
    async fn the_upstream_gets_the_approved_request_byte_for_byte_and_nothing_else(kit) {
        let scene = kit.bank().await;
        let body = " {\"to\" :\"th\\u0065irs\",\n\"from\":\"Größe\",\"amount\":\"82000.10\",\"currency\":\"USD\"} ";
        let sent = GatewayRequest { target: "/transfers?b=%2F&a=%c3%a4".into(), ..BankFixture::transfer() };
        let sent = GatewayRequest { body: body.into(), ..sent }.with("x-reference", "R 1; \"a\"");
        let decision = asked(&scene, meddled(sent.clone())).await;
        scene.alice.accepts(&scene.plane, &decision).await;
        scene.sends(meddled(sent).confirmed("true")).await.expect(201);
        let effects = scene.bank.effects();
        let got = effects.first().expect("it ran");
        assert_eq!((got.method.as_str(), got.target.as_str()), ("POST", "/transfers?b=%2F&a=%c3%a4"));
        assert_eq!(String::from_utf8_lossy(&got.body), body);
        let mut names: Vec<&str> = got.headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        let usual = ["authorization", "content-length", "content-type", "countersign-identity", "host", "x-reference"];
        assert_eq!(names, usual);
        assert_eq!(got.headers["authorization"], "Bearer the-banks-own-secret");
        assert_eq!(got.headers["host"], scene.bank.address.to_string());
        assert_eq!(decision["digest"], digest_of(&scene, got));
    }

    /// R-3
    async fn a_write_that_nobody_must_confirm_carries_no_more_of_its_caller(kit) {
        let scene = kit.bank().await;
        let note = GatewayRequest::new("POST", "/notes").json(r#"{"text":"remember"}"#);
        scene.sends(meddled(note.with("x-reference", "not listed on this route"))).await.expect(201);
        let effects = scene.bank.effects();
        let mut names: Vec<&str> = effects[0].headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "content-length", "content-type", "countersign-identity", "host"]);
        assert_eq!(effects[0].method, "POST");
        let claims = claims_of(effects[0].headers["countersign-identity"].to_str().unwrap());
        assert_eq!((claims.get("decision_id"), claims.get("action_sha256")), (None, None));
        assert_eq!(claims["route"], "notes");
    }

    /// R-3
    async fn the_upstream_gets_caller_and_approver_in_a_statement_that_verifies(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.sends(confirmed_transfer().with("countersign-identity", "forged")).await.expect(201);
        let effects = scene.bank.effects();
        let statement = effects[0].headers["countersign-identity"].to_str().unwrap();
        let jwks = scene.plane.get("/.well-known/agent-jwks.json").await.json();
        let expected = |audience: String| {
            json!({ "typ": "countersign-identity+jwt", "issuer": scene.plane.service(), "audience": audience,
                    "now": scene.plane.now().secs() })
        };
        for mut judge in Judge::all() {
            let elsewhere = judge.verify(&jwks, statement, expected("http://elsewhere.test".into()));
            assert!(elsewhere.get("refused").is_some(), "{}: {elsewhere}", judge.name);
            let verified = judge.verify(&jwks, statement, expected(scene.bank.url()));
            let claims = &verified["claims"];
            assert_eq!(claims["decision_id"], decision["decision_id"], "{}: {verified}", judge.name);
            assert_eq!(claims["action_sha256"], decision["digest"]);
            assert_eq!((&claims["sub"], &claims["operator"]), (&json!("alice"), &json!("acme.test")));
            assert_eq!(claims["delegation_id"], scene.connected.delegation_id);
            assert_eq!(claims["session_id"], scene.agent.session_id);
            assert_eq!(claims["exp"], scene.plane.now().secs() + 60);
        }
    }

    /// R-2
    async fn the_shown_text_is_rendered_from_the_request_and_marked_as_the_owners(kit) {
        let scene = kit.bank().await;
        let decision = asked(&scene, BankFixture::transfer()).await;
        let page = decision["page"].as_str().unwrap().strip_prefix(scene.plane.service()).unwrap();
        let page = scene.alice.get(&scene.plane, page).await.expect(200).text();
        let page = page.replace("<wbr>", "").replace(['\u{2068}', '\u{2069}'], "");
        for words in ["Transfer 82000.00 USD to “<bdi class=\"quoted\">theirs</bdi>”", "Rendered by Bank from the request", "/transfers"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(!page.contains("In the agent’s own words"), "{page}");
    }
}

/// Adds every header that could change the upstream's action or forge its caller.
fn meddled(sent: GatewayRequest) -> GatewayRequest {
    sent.with("x-http-method-override", "DELETE")
        .with("x-method-override", "DELETE")
        .with("x-forwarded-for", "10.0.0.1")
        .with("forwarded", "for=10.0.0.1")
        .with("x-original-url", "/closures")
        .with("cookie", "session=admin")
        .with("countersign-identity", "forged")
        .with("idempotency-key", "mine")
        .with("accept", "text/html")
        .with("x-other", "1")
}

/// The digest of the request that the upstream received, computed by hand (R-3).
fn digest_of(scene: &BankFixture, got: &Got) -> String {
    let text = |name: &str| got.headers[name].to_str().unwrap().to_owned();
    let action = HttpAction {
        project: "bank".into(),
        principal: scene.connected.delegation_id.clone(),
        route: "transfers".into(),
        method: got.method.to_string(),
        origin: GATEWAY.into(),
        target: got.target.clone(),
        content_type: text("content-type"),
        content_encoding: String::new(),
        body_sha256: Digest::of(&got.body).hex(),
        headers: [("x-reference".to_owned(), text("x-reference"))].into(),
    };
    Action::Http(action).digest().unwrap().hex()
}
