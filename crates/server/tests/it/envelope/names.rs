//! A request's id: one a request, the same in the header, in the envelope and in the log.

use axum::body::Body;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, agent_request, send_to};
use http::{Method, Request};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

/// Responses of all kinds, successes and errors, of the service itself and of the gateway.
async fn answers(plane: &Plane) -> Vec<Answer> {
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    vec![
        plane.get("/.well-known/agent-auth.json").await.expect(200),
        plane.get("/.well-known/agent-auth.json?projectId=nobody").await.expect(404),
        plane.get("/nothing").await.expect(404),
        plane.get("/agent/register").await.expect(405),
        plane.post("/agent/register", &json!({})).await.expect(400),
        plane.send(agent_request(Method::POST, "/agent/register").body(Body::from("{")).unwrap()).await.expect(400),
        plane.send(Request::post("/session").body(Body::from("{}")).unwrap()).await.expect(415),
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200),
        plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(403),
        send_to(&plane.api(), Request::get("/calendar/events").body(Body::empty()).unwrap()).await.expect(401),
    ]
}

fn name(answer: &Answer) -> String {
    answer.header("x-request-id").expect("a name").to_owned()
}

/// AAP-16.1-04
#[tokio::test]
async fn no_two_requests_have_one_name_whichever_door_they_came_through() {
    let first = Kit(Backend::Sqlite).plane().await;
    let second = Kit(Backend::Sqlite).plane_with(Setup { seed: 8, ..Setup::default() }).await;
    let mut names = HashSet::new();
    for plane in [&first, &second] {
        let mut all = answers(plane).await;
        // Two enforcement points that started at the same moment.
        for api in [plane.api(), plane.api()] {
            all.push(send_to(&api, Request::get("/calendar/events").body(Body::empty()).unwrap()).await);
        }
        for answer in &all {
            assert!(names.insert(name(answer)), "{} was given twice", name(answer));
        }
    }
}

/// AAP-16.1-04
#[tokio::test]
async fn a_clients_own_name_for_a_request_is_not_taken_over() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let request = Request::get("/nothing").header("x-request-id", "mine").body(Body::empty()).unwrap();
    let answer = plane.send(request).await.expect(404);
    assert_ne!(name(&answer), "mine");
}

/// AAP-16.1-04, AAP-16.1-05
#[tokio::test]
async fn the_log_has_a_line_for_every_answer_under_the_request_id_of_the_response() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let logging = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&lines)), true, "info"));
    let plane = Kit(Backend::Sqlite).plane().await;
    let answers = answers(&plane).await;
    drop(logging);
    let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
    let logged: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for answer in &answers {
        let named = |line: &&Value| line["span"]["request_id"] == name(answer).as_str();
        let line = logged.iter().rfind(named).unwrap_or_else(|| panic!("{} is not in the log:\n{text}", name(answer)));
        assert_eq!(line["fields"]["status"], answer.status, "{line}");
        if answer.status >= 400 {
            let body = answer.json();
            assert_eq!(body["request_id"], name(answer));
            crate::schemas::assert_valid("error-envelope", &body);
        }
    }
}
