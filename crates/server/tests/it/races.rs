//! The same request many times at once: it takes effect once.

use axum::{Router, body::Body};
use countersign_testkit::{Answer, Backend, Kit, Plane, TestPerson, agent_request, send_to};
use http::{Method, Request};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Two tests of each race, one a database, on several threads.
macro_rules! races {
    ($($(#[doc = $doc:expr])* async fn $name:ident($kit:ident) $body:block)+) => {
        $(mod $name {
            use super::*;

            $(#[doc = $doc])*
            async fn promise($kit: Kit) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn on_sqlite() {
                promise(Kit(Backend::Sqlite)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn on_postgres() {
                promise(Kit(Backend::Postgres)).await;
            }
        })+
    };
}

races! {
    /// AAP-17.1-11, AAP-17.1-13
    async fn sixty_four_registrations_of_one_session_start_it_once_and_leave_eight_tokens(kit) {
        let scene = kit.fixture().await;
        let (body, _) = scene.receipt_body(&["calendar.read"], |_| ());
        let answers = at_once(&scene.plane.public, (0..64).map(|_| posted("/agent/register", &body))).await;
        let tokens: Vec<String> = answers.iter().filter(|a| a.is_success()).map(|a| text(a, "access_token")).collect();
        for answer in answers.iter().filter(|answer| !answer.is_success()) {
            assert_eq!(answer.refusal(), (503, "service_unavailable".into()), "{}", answer.text());
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        let sessions: BTreeSet<String> = answers.iter().filter(|a| a.is_success()).map(|a| text(a, "session_id")).collect();
        assert_eq!(sessions.len(), 1);
        let session = sessions.first().unwrap();
        let started = scene.alice.get(&scene.plane, &format!("/agent/audit?session_id={session}")).await.expect(200).json();
        assert_eq!(started["total_count"], 1, "{started:#}");
        assert_eq!(started["entries"][0]["event_type"], "session_started");

        let mut live = 0;
        for token in &tokens {
            let call = agent_request(Method::GET, "/calendar/events").header("authorization", format!("Bearer {token}"));
            let call = call.header("x-agent-mode", "user_delegated").header("x-agent-intent-type", "READ_CALENDAR");
            let call = call.header("x-agent-delegation", &scene.connected.delegation_id).header("x-agent-session", session);
            let answer = scene.plane.try_call(call).await;
            match answer.status {
                200 => live += 1,
                _ => assert_eq!(answer.refusal(), (401, "access_token_invalid".into())),
            }
        }
        assert!((1..=8).contains(&live) && live == tokens.len().min(8), "{live} of {} live", tokens.len());
    }

    /// AAP-17.3-05
    async fn fifty_revocations_are_one(kit) {
        let scene = kit.fixture().await;
        let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
        let operator_jwt = scene.plane.acme().jwt(scene.plane.service(), scene.plane.now());
        let by_operator = json!({ "delegation_id": scene.connected.delegation_id, "operator_jwt": operator_jwt });
        let requests = (0..50).map(|n| match n % 2 {
            0 => signed(&scene.alice, "/agent/revoke", &body),
            _ => posted("/agent/revoke", &by_operator),
        });
        let answers = at_once(&scene.plane.public, requests).await;
        let told: BTreeSet<String> = answers.into_iter().map(|answer| answer.expect(200).text()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(scene.audit("event_type=delegation_revoked").await["total_count"], 1);
    }

    /// AAP-5.1-07
    async fn of_twenty_exchanges_of_one_code_one_succeeds(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let request_id = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
        let code = plane.approve_at("", &alice, &request_id).await["code"].as_str().unwrap().to_owned();
        let body = plane.exchange_body(plane.acme(), &code);
        let answers = at_once(&plane.public, (0..20).map(|_| posted("/agent/delegate/token", &body))).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Answer::is_success);
        assert_eq!(won.len(), 1);
        for answer in lost {
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{}", answer.text());
        }
    }

    /// AAP-17.2-03, AAP-5-01
    async fn of_twenty_approvals_of_one_request_one_makes_a_delegation(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let request_id = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
        let mut approvals = Vec::new();
        for _ in 0..20 {
            approvals.push(signed(&alice, "/agent/delegate", &shown(&plane, &alice, &request_id).await));
        }
        let answers = at_once(&plane.public, approvals).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Answer::is_success);
        assert_eq!(won.len(), 1);
        for answer in lost {
            assert_eq!(answer.code(), "connect_request_gone", "{}", answer.text());
        }
        let agents = alice.get(&plane, "/v1/agents").await.expect(200).json()["agents"].as_array().unwrap().clone();
        assert_eq!(agents.len(), 1);
        assert_eq!(agents[0]["delegation_id"], won[0].json()["delegation_id"]);
    }

    /// AAP-17.2-03
    async fn one_disclosure_is_acknowledged_once(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let request_id = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
        let yes = shown(&plane, &alice, &request_id).await;
        let answers = at_once(&plane.public, (0..20).map(|_| signed(&alice, "/agent/delegate", &yes))).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_success()).count(), 1);
    }

    /// AAP-7.1-02, R-25
    async fn a_hundred_calls_at_once_have_a_hundred_entries_and_no_hole(kit) {
        let scene = kit.fixture().await;
        let call = |n: usize| {
            let method = if n.is_multiple_of(2) { Method::GET } else { Method::POST };
            // Each is a call of its own: a repeat of a write in flight is refused.
            scene.agent.request(method, &format!("/calendar/events?n={n}"), "SCHEDULE_EVENT").body(Body::empty()).unwrap()
        };
        for answer in at_once(&scene.plane.api(), (0..100).map(call)).await {
            assert!(answer.is_success(), "{}", answer.text());
        }
        assert_eq!((scene.calls().await.len(), scene.reached()), (100, 100));
        let seqs: BTreeSet<i64> = scene.calls().await.iter().map(|entry| entry["seq"].as_i64().unwrap()).collect();
        assert_eq!(seqs.len(), 100);
    }

    /// AAP-8.2-03, C-88
    async fn sixty_calls_at_the_hour_look_the_key_up_once_and_all_pass(kit) {
        let setup = countersign_testkit::Setup::with_project(|document| {
            (document.credential_ttl, document.max_agent_ttl) = (7200, 7200);
        });
        let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
        let fetched = scene.plane.acme().host.fetches().len();
        scene.plane.advance_secs(3601).await;
        let call = |n: usize| {
            let request = scene.agent.request(Method::POST, &format!("/calendar/events?n={n}"), "SCHEDULE_EVENT");
            request.body(Body::empty()).unwrap()
        };
        for answer in at_once(&scene.plane.api(), (0..60).map(call)).await {
            assert!(answer.is_success(), "{}", answer.text());
        }
        assert_eq!(scene.plane.acme().host.fetches().len(), fetched + 2, "manifest and keys, once");
    }
}

/// Sends all of them together; returns their responses in the same order.
async fn at_once(router: &Router, requests: impl IntoIterator<Item = Request<Body>>) -> Vec<Answer> {
    let send = |request| {
        let router = router.clone();
        tokio::spawn(async move { send_to(&router, request).await })
    };
    let mut answers = Vec::new();
    for sent in requests.into_iter().map(send).collect::<Vec<_>>() {
        answers.push(sent.await.unwrap());
    }
    answers
}

fn posted(path: &str, body: &Value) -> Request<Body> {
    agent_request(Method::POST, path).body(Body::from(body.to_string())).unwrap()
}

fn signed(person: &TestPerson, path: &str, body: &Value) -> Request<Body> {
    let request = person.request(Method::POST, path).header("x-csrf-token", &person.csrf);
    request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

/// Shows the disclosure; returns the approval of it.
async fn shown(plane: &Plane, person: &TestPerson, request_id: &str) -> Value {
    let shown = person.post(plane, "/agent/delegate", &json!({ "request_id": request_id })).await.expect(200).json();
    json!({ "request_id": request_id, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true })
}

fn text(answer: &Answer, member: &str) -> String {
    answer.json()[member].as_str().unwrap().to_owned()
}
