//! Calls that need approval: held, then sent exactly as shown, once.

use crate::proxy_fixture::{ProxyFixture, envelope, proxy_with, refused, status};
use countersign_protocol::project::ProjectDocument;
use serde_json::Value;

const SENT: &str = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
const BODY: &str = "{\"to\": \"bob\"}";

async fn bank() -> ProxyFixture {
    let listed = |document: &mut ProjectDocument| {
        let invite = document.routes.iter_mut().find(|route| route.id == "invite").unwrap();
        invite.headers = vec!["x-branch".into()];
        invite.effect = Some("invite:{body.to}".into());
        document.upstreams[0].idempotency_header = Some("idempotency-key".into());
    };
    proxy_with(|_| SENT.into(), listed, |_| ()).await
}

impl ProxyFixture {
    fn invite(&self, target: &str, more: &str, body: &str) -> String {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n{more}", body.len());
        self.head(&format!("POST {target}"), "SEND_INVITATION", &more) + body
    }

    /// Sends a held call, and has alice approve it.
    async fn confirmed(&self) -> Value {
        let answer = self.ask(&self.invite("/mail/invitations", "X-Branch: 7\r\n", BODY)).await;
        assert_eq!(refused(&answer), (403, "irreversible_requires_confirm".into()));
        let decision = envelope(&answer)["decision"].clone();
        assert!(self.seen().is_empty());
        self.fixture.alice.accepts(&self.fixture.plane, &decision).await;
        decision
    }
}

///
#[tokio::test]
async fn an_approval_of_one_request_is_not_claimed_for_another() {
    let proxy = bank().await;
    proxy.confirmed().await;
    let confirm = "X-Agent-Confirm: true\r\n";
    let branch = format!("{confirm}X-Branch: 7\r\n");
    for other in [
        proxy.invite("/mail/invitations", &branch, "{\"to\": \"eve\"}"),
        proxy.invite("/mail/invitations", &branch, "{\"to\":\"bob\"}"),
        proxy.invite("/mail/invitations?a=1", &branch, BODY),
        proxy.invite("/mail/invitations", &format!("{confirm}X-Branch: 8\r\n"), BODY),
        proxy.invite("/mail/invitations", confirm, BODY),
        proxy.invite("/mail/invitations", &format!("{branch}Content-Encoding: identity\r\n"), BODY),
    ] {
        assert_eq!(status(&proxy.ask(&other).await), 403, "{other}");
    }
    for unreadable in ["{\"to\": \"bob\", \"to\": \"eve\"}", "{\"to\": \"bob\"} x"] {
        let answer = proxy.ask(&proxy.invite("/mail/invitations", &branch, unreadable)).await;
        assert_eq!(refused(&answer), (400, "invalid_request".into()), "{unreadable}");
    }
    assert!(proxy.seen().is_empty());
}

///
#[tokio::test]
async fn exactly_the_confirmed_request_is_sent_once() {
    let proxy = bank().await;
    proxy.confirmed().await;
    let request = proxy.invite("/mail/invitations", "X-Agent-Confirm: true\r\nX-Branch: 7\r\nX-Other: 1\r\n", BODY);
    let answer = proxy.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 201") && answer.ends_with("ok"), "{answer}");
    let again = proxy.ask(&request).await;
    assert_ne!(status(&again), 201, "{again}");
    let seen = proxy.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("POST /mail/invitations HTTP/1.1\r\n") && seen[0].ends_with(BODY), "{}", seen[0]);
    assert!(seen[0].contains("x-branch: 7\r\n") && !seen[0].contains("x-other"), "{}", seen[0]);
    assert!(seen[0].contains("idempotency-key: invite:bob\r\n"), "{}", seen[0]);
}

///
#[tokio::test]
async fn a_decision_is_redeemed_without_the_body_and_once() {
    let proxy = bank().await;
    let decision = proxy.confirmed().await;
    let line = format!("POST /.countersign/decisions/{}/redeem", decision["decision_id"].as_str().unwrap());
    let redeem = proxy.head(&line, "SEND_INVITATION", "");
    let with_body = proxy.head(&line, "SEND_INVITATION", "Content-Length: 2\r\n") + "{}";
    assert_eq!(refused(&proxy.ask(&with_body).await), (400, "invalid_request".into()));
    let answer = proxy.ask(&redeem).await;
    assert!(answer.starts_with("HTTP/1.1 201") && answer.ends_with("ok"), "{answer}");
    assert_ne!(status(&proxy.ask(&redeem).await), 201);
    let seen = proxy.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].ends_with(BODY) && seen[0].contains("x-branch: 7\r\n"), "{}", seen[0]);
}

#[tokio::test]
async fn a_held_body_that_is_too_large_is_refused_before_anybody_is_asked() {
    let proxy = bank().await;
    let answer = proxy.ask(&proxy.invite("/mail/invitations", "", &" ".repeat(1024 * 1024 + 1))).await;
    assert_eq!(refused(&answer), (413, "payload_too_large".into()));
    assert_eq!(proxy.fixture.alice.pending_questions(&proxy.fixture.plane).await, 0);
}
