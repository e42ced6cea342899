//! `await_decision`: woken at once, never silent for longer than announced, and ended with the waiter's credential.

use super::calling::{HOST, PATH, Told, call_tool, request, result, send_at, told};
use countersign_server::{Limits, serve};
use countersign_testkit::{Answer, Plane, Setup, TestAgent, decisions::DecisionFixture, on_sqlite};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Far below the longest wait, and below the interval after which a waiter polls by itself.
const AT_ONCE: Duration = Duration::from_secs(4);

fn wait_for(asked: &Value, seconds: u32) -> Value {
    let arguments = json!({ "decision_id": asked["decision_id"], "wait_seconds": seconds });
    request("tools/call", json!({ "name": "await_decision", "arguments": arguments }))
}

/// A wait in progress; other requests have completed since it began.
async fn waiting(plane: &Plane, agent: &TestAgent, asked: &Value) -> JoinHandle<Answer> {
    let (node, whose, message) = (plane.public.clone(), agent.clone(), wait_for(asked, 55));
    let wait = tokio::spawn(async move { send_at(&node, PATH, &whose, &message).await });
    for _ in 0..20 {
        assert_eq!(agent.looks(plane, asked).await.expect(200).json()["state"], "pending");
    }
    assert!(!wait.is_finished(), "it did not wait");
    wait
}

async fn woken(wait: JoinHandle<Answer>) -> Told {
    let answer = tokio::time::timeout(AT_ONCE, wait).await.expect("nobody woke it").unwrap();
    told(&result(&answer))
}

/// The code that ended a wait: that of the tool or, if it was refused before it began, that of the endpoint.
async fn ended(wait: JoinHandle<Answer>) -> String {
    let answer = tokio::time::timeout(AT_ONCE, wait).await.expect("nobody woke it").unwrap();
    if answer.status == 200 { told(&result(&answer)).refusal() } else { answer.code() }
}

on_sqlite! {
    /// R-10, R-23
    async fn a_wait_ends_with_the_standing_of_the_waiter(kit) {
        let DecisionFixture { plane, agent, alice } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        plane.revoke_key(&agent).await;
        assert_eq!(ended(wait).await, "not_authorized");

        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &connected).await.asking();
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        let revoke = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
        assert_eq!(ended(wait).await, "delegation_revoked");
    }

    async fn a_waiter_gets_the_settlement_at_once(kit) {
        let DecisionFixture { plane, alice, agent } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        alice.accepts(&plane, &asked).await;
        assert_eq!(woken(wait).await.given()["state"], "accepted");
    }

    async fn a_fruitless_wait_ends_on_time_and_names_the_next_call(kit) {
        let limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
        let DecisionFixture { plane, agent, .. } = kit.asked_with(Setup { limits, ..Setup::payments() }).await;
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        let message = wait_for(&asked, 1);
        let mut wait = std::pin::pin!(send_at(&plane.public, PATH, &agent, &message));
        let early = tokio::time::timeout(Duration::from_millis(900), &mut wait).await;
        assert!(early.is_err(), "it did not wait");
        let answer = tokio::time::timeout(AT_ONCE, wait).await.expect("it waits for longer than it said");
        let told = told(&result(&answer)).given();
        assert_eq!(told["state"], "pending");
        let next = told["next"].as_str().unwrap();
        assert!(next.contains("await_decision") && next.contains(asked["page"].as_str().unwrap()), "{next}");
    }

    async fn after_a_restart_the_same_decision_is_waited_for(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let question = countersign_testkit::decisions::confirmation("payments.send", json!({ "amount": 82 }));
        let asked = call_tool(&plane, &agent, "request_confirmation", question).await.given();
        let plane = plane.restart().await;
        let wait = waiting(&plane, &agent, &asked).await;
        alice.accepts(&plane, &asked).await;
        assert_eq!(woken(wait).await.given()["state"], "accepted");
    }

    async fn a_client_that_hangs_up_leaves_no_waiter_and_a_node_that_stops_answers(kit) {
        let DecisionFixture { plane, agent, .. } = kit.asked().await;
        let asked = agent.asks_to(&plane, "payments.send", json!({ "amount": 82 })).await;
        let limits = Limits { max_connections: 1, ..Limits::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve(listener, plane.public.clone(), limits).unwrap();
        let mut gone = connected(&serving).await;
        gone.write_all(raw(&agent, &wait_for(&asked, 55)).as_bytes()).await.unwrap();
        drop(gone);
        // There is one slot: the next request is served only after the first wait has ended.
        let next = async {
            let mut next = connected(&serving).await;
            // Both in one write: when the first is answered, the second is being processed.
            let both = [raw(&agent, &wait_for(&asked, 0)), raw(&agent, &wait_for(&asked, 55))].concat();
            next.write_all(both.as_bytes()).await.unwrap();
            let mut answer = vec![0; 8192];
            let read = next.read(&mut answer).await.unwrap();
            (next, String::from_utf8_lossy(&answer[..read]).into_owned())
        };
        let (mut client, first) = tokio::time::timeout(AT_ONCE, next).await.expect("the first wait goes on");
        for _ in 0..5 {
            agent.looks(&plane, &asked).await.expect(200);
        }
        let stopped = async {
            serving.stop().await;
            let mut answers = first;
            client.read_to_string(&mut answers).await.unwrap();
            answers
        };
        let answers = tokio::time::timeout(AT_ONCE, stopped).await.expect("it waits for the wait");
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
        assert_eq!(answers.matches(r#""state":"pending""#).count(), 2, "{answers}");
    }
}

fn raw(agent: &TestAgent, message: &Value) -> String {
    let body = message.to_string();
    let head = format!("POST {PATH} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n");
    format!("{head}content-length: {}\r\nauthorization: Bearer {}\r\n\r\n{body}", body.len(), agent.token)
}

#[expect(clippy::disallowed_methods, reason = "a test speaks to the node that it started")]
async fn connected(serving: &countersign_server::ServedListener) -> TcpStream {
    TcpStream::connect(serving.address()).await.unwrap()
}
