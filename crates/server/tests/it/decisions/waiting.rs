//! `GET /v1/decisions/{id}?wait=`: a waiter is woken at once, and never held longer than it asked.

use countersign_server::{Limits, ServedListener, serve};
use countersign_testkit::{
    Answer, Plane, Setup, TestAgent,
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Far below the longest wait, and below the interval after which a waiter polls by itself.
const AT_ONCE: Duration = Duration::from_secs(4);

/// A wait in progress; other requests have completed since it began.
async fn waiting(plane: &Plane, agent: &TestAgent, asked: &Value) -> JoinHandle<Answer> {
    let (node, path) = (plane.public.clone(), path(asked, 55));
    let whose = agent.clone();
    let wait = tokio::spawn(async move { whose.send(&node, Method::GET, &path, None).await });
    for _ in 0..5 {
        assert_eq!(agent.reads_decision(plane, asked).await.expect(200).json()["state"], "pending");
    }
    assert!(!wait.is_finished(), "it did not wait");
    wait
}

fn path(asked: &Value, seconds: u32) -> String {
    format!("/v1/decisions/{}?wait={seconds}", asked["decision_id"].as_str().unwrap())
}

#[expect(clippy::disallowed_methods, reason = "a test speaks to the node that it started")]
async fn connected(serving: &ServedListener) -> TcpStream {
    TcpStream::connect(serving.address()).await.unwrap()
}

async fn woken(wait: JoinHandle<Answer>) -> Answer {
    tokio::time::timeout(AT_ONCE, wait).await.expect("nobody woke it").unwrap()
}

on_both_stores! {
    async fn a_waiter_gets_the_settlement_at_once(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let waits = [waiting(&plane, &agent, &asked).await, waiting(&plane, &agent, &asked).await];
        alice.accepts(&plane, &asked).await;
        for wait in waits {
            let told = woken(wait).await.expect(200);
            assert_eq!(told.json()["state"], "accepted");
            assert_eq!(told.header("cache-control"), Some("no-store"));
        }
        let late = agent.waits(&plane, &asked, 55).await.expect(200).json();
        assert_eq!(late["state"], "accepted", "what is settled is not waited for");
    }

    async fn a_deadline_and_a_withdrawal_wake_a_waiter(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        plane.advance_secs(300).await;
        assert_eq!(woken(wait).await.expect(200).json()["state"], "expired");
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 83 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        agent.withdraws(&plane, &asked, &json!({})).await.expect(200);
        assert_eq!(woken(wait).await.expect(200).json()["state"], "cancelled");
    }

    async fn a_fruitless_wait_ends_on_time_and_no_request_limit_cuts_it(kit) {
        let limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(Setup { limits, ..Setup::payments() }).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let mut wait = std::pin::pin!(agent.waits(&plane, &asked, 1));
        let early = tokio::time::timeout(Duration::from_millis(900), &mut wait).await;
        assert!(early.is_err(), "it did not wait");
        let told = tokio::time::timeout(AT_ONCE, wait).await.expect("it waits for longer than it said");
        assert_eq!(told.expect(200).json(), asked);
        let scoped = format!("/projects/calendar{}", path(&asked, 1));
        agent.send(&plane.public, Method::GET, &scoped, None).await.expect(200);
    }

    async fn a_wait_beyond_fifty_five_seconds_or_of_no_number_is_refused(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        alice.accepts(&plane, &asked).await;
        for wrong in ["56", "100", "-1", "+5", "1.5", "", "soon", "99999999999999999999", "5&wait=5"] {
            let path = format!("/v1/decisions/{}?wait={wrong}", asked["decision_id"].as_str().unwrap());
            let answer = agent.send(&plane.public, Method::GET, &path, None).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{wrong}");
            if wrong == "56" {
                assert!(answer.json()["error_description"].as_str().unwrap().contains("0 to 55"));
            }
        }
        for right in [0, 1, 55] {
            agent.waits(&plane, &asked, right).await.expect(200);
        }
    }

    async fn after_a_restart_the_same_decision_is_waited_for_and_answered(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let plane = plane.restart().await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json(), asked);
        let same = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "amount": 82 }))).await.expect(200).json();
        assert_eq!(same["decision_id"], asked["decision_id"]);
        let wait = waiting(&plane, &agent, &asked).await;
        alice.accepts(&plane, &asked).await;
        assert_eq!(woken(wait).await.expect(200).json()["state"], "accepted");
    }

    ///
    async fn a_wait_ends_with_the_standing_of_the_waiter(kit) {
        let DecisionFixture { plane, agent, alice } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        plane.revoke_key(&agent).await;
        assert_eq!(woken(wait).await.refusal(), (403, "not_authorized".into()));

        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &connected).await.as_test_agent();
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        let revoke = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
        assert_eq!(woken(wait).await.refusal(), (401, "delegation_revoked".into()));
    }

    async fn a_client_that_goes_away_leaves_nothing_waiting(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let limits = Limits { max_connections: 1, ..Limits::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve(listener, plane.public.clone(), limits).unwrap();
        let request = |seconds| {
            let path = path(&asked, seconds);
            let head = format!("GET {path} HTTP/1.1\r\nhost: api.example.test\r\nconnection: close\r\n");
            format!("{head}authorization: Bearer {}\r\n\r\n", agent.token)
        };
        let mut gone = connected(&serving).await;
        gone.write_all(request(55).as_bytes()).await.unwrap();
        drop(gone);
        // There is one slot: the next request is served only after the first wait has ended.
        let next = async {
            let mut next = connected(&serving).await;
            next.write_all(request(0).as_bytes()).await.unwrap();
            let mut answer = String::new();
            next.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let answer = tokio::time::timeout(AT_ONCE, next).await.expect("the first wait goes on");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serving.stop().await;
    }

    async fn a_node_that_stops_answers_its_waiters_with_the_current_state(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve(listener, plane.public.clone(), Limits::default()).unwrap();
        let mut client = connected(&serving).await;
        let request = |seconds| {
            let head = format!("GET {} HTTP/1.1\r\nhost: api.example.test\r\n", path(&asked, seconds));
            format!("{head}authorization: Bearer {}\r\n\r\n", agent.token)
        };
        // Both in one write: when the first is answered, the second is being processed.
        client.write_all([request(0), request(55)].concat().as_bytes()).await.unwrap();
        let mut first = vec![0; 8192];
        let length = client.read(&mut first).await.unwrap();
        for _ in 0..5 {
            agent.reads_decision(&plane, &asked).await.expect(200);
        }
        let stopped = async {
            serving.stop().await;
            let mut answers = String::from_utf8(first[..length].to_vec()).unwrap();
            client.read_to_string(&mut answers).await.unwrap();
            answers
        };
        let answers = tokio::time::timeout(AT_ONCE, stopped).await.expect("it waits for the wait");
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
        assert_eq!(answers.matches("\"pending\"").count(), 2, "{answers}");
    }
}
