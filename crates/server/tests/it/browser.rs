//! The pages in a real browser, with the keyboard alone.

use countersign_engine::Throttle;
use countersign_server::{Limits, ServedListener, serve};
use countersign_testkit::{Backend, Kit, PASSWORD, Plane, Setup};
use http::Method;
use serde_json::{Value, json};
use std::{path::Path, process::Command};
use tokio::net::TcpListener;

const SCOPES: &[&str] = &["calendar.read", "calendar.write", "mail.invite"];

/// AAP-13.2-01, AAP-14.4-02
#[tokio::test]
async fn by_keyboard_alone_a_person_signs_in_reads_approves_and_cuts_an_agent_off() {
    let (plane, _serving) = serving().await;
    let alice = plane.person("alice").await;
    let earlier = plane.connect(&alice, plane.acme(), SCOPES).await;
    let agent = plane.register(plane.acme(), &earlier).await;
    plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    plane.call(&agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await.expect(403);
    let request = plane.connect_request("", northwind(&plane), SCOPES).await;

    let told = play("connect", &plane, json!({ "request": request, "earlier": "acme.test" })).await;
    let body = plane.exchange_body(northwind(&plane), told["code"].as_str().unwrap());
    plane.post("/agent/delegate/token", &body).await.expect(200);
    let refused = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
    assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
}

/// AAP-5.1-04, AAP-14.4-02
#[tokio::test]
async fn without_a_script_everything_works_the_same() {
    approved_in("without-script").await;
}

/// AAP-13.2-01
#[tokio::test]
async fn a_reader_of_german_is_asked_and_answered_in_german() {
    let (plane, code) = approved_in("german").await;
    plane.post("/agent/delegate/token", &plane.exchange_body(northwind(&plane), &code)).await.expect(200);
}

/// AAP-13.2-05
#[tokio::test]
async fn no_page_can_put_the_consent_page_into_a_frame() {
    let (plane, _serving) = serving().await;
    plane.person("alice").await;
    let request = plane.connect_request("", northwind(&plane), SCOPES).await;
    play("framing", &plane, json!({ "request": request })).await;
}

/// AAP-5.1-05, AAP-5.1-07
#[tokio::test]
async fn the_browser_carries_the_answer_to_the_callback_and_says_nothing_of_where_it_was() {
    let (plane, _serving) = serving().await;
    plane.person("alice").await;
    let mut requests = Vec::new();
    for _ in 0..2 {
        let mut body = plane.connect_body(northwind(&plane), SCOPES);
        body["callback"] = json!(northwind(&plane).callback());
        let answer = plane.post("/agent/delegate/requests", &body).await.expect(201);
        requests.push(answer.json()["request_id"].clone());
    }
    let resolve = format!("--host-resolver-rules=MAP northwind.test {}", northwind(&plane).host.addr());
    let given = json!({ "request": requests[0], "second_request": requests[1], "browser_args": [resolve] });
    let told = play("callback", &plane, given).await;

    let arrived = url::Url::parse(told["approved"].as_str().unwrap()).unwrap();
    let pairs: Vec<(String, String)> = arrived.query_pairs().into_owned().collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["code", "state", "iss"]);
    let denied = url::Url::parse(told["denied"].as_str().unwrap()).unwrap();
    let pairs_of_no: Vec<(String, String)> = denied.query_pairs().into_owned().collect();
    let names: Vec<&str> = pairs_of_no.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["error", "state", "iss"]);
    let received = northwind(&plane).host.received();
    let callbacks: Vec<_> = received.iter().filter(|r| r.path.starts_with("/callback")).collect();
    assert_eq!(callbacks.len(), 2);
    assert!(callbacks.iter().all(|r| !r.headers.contains_key("referer")));
    plane.post("/agent/delegate/token", &plane.exchange_body(northwind(&plane), &pairs[0].1)).await.expect(200);
}

/// AAEP-SCHEMA-09, AAEP-6.8-05, AAEP-6.8-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_announced_once_on_every_open_page_answered_by_keyboard_and_gone_from_all() {
    let (plane, _serving) = serving_with(Setup::payments().from_now()).await;
    let _time = plane.follow_system_clock();
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, northwind(&plane), SCOPES).await;
    let agent = plane.register(northwind(&plane), &connected).await.as_test_agent();

    let told = play("inbox", &plane, json!({ "token": agent.token })).await;
    let seen =
        async |name: &str| agent.reads_decision(&plane, &json!({ "decision_id": told[name] })).await.expect(200).json();
    let (pay, invite) = (seen("pay").await, seen("invite").await);
    assert_eq!((&pay["state"], &pay["reason"]), (&json!("rejected"), &json!("Not before the survey")));
    assert_eq!(invite["state"], "accepted");
}

///
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_keyboard_alone_a_person_approves_part_of_a_plan_allows_more_than_once_and_takes_both_back() {
    let (plane, _serving) = serving_with(Setup::payments().from_now()).await;
    let _time = plane.follow_system_clock();
    plane.person("alice").await;
    let agent = plane.agent_key("alice", countersign_testkit::decisions::ALL).await;
    play("plans", &plane, json!({ "token": agent.token })).await;
}

/// Plays a scenario in which a request without a callback is approved; returns the code from the page.
async fn approved_in(story: &str) -> (Plane, String) {
    let (plane, _serving) = serving().await;
    plane.person("alice").await;
    let request = plane.connect_request("", northwind(&plane), SCOPES).await;
    let told = play(story, &plane, json!({ "request": request })).await;
    (plane, told["code"].as_str().unwrap().to_owned())
}

async fn serving() -> (Plane, ServedListener) {
    serving_with(Setup::default()).await
}

/// A plane that a browser can reach. `localhost` counts as secure, so its cookies are the real ones.
async fn serving_with(setup: Setup) -> (Plane, ServedListener) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let operators = vec!["acme.test", "northwind.test"];
    let throttle = Throttle::all(50);
    let setup = Setup { origin, operators, throttle, ..setup };
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    let serving = serve(listener, plane.public.clone(), Limits::default()).unwrap();
    (plane, serving)
}

fn northwind(plane: &Plane) -> &countersign_testkit::TestOperator {
    plane.operator("northwind.test")
}

/// Plays a scenario of `e2e/` and returns its result.
async fn play(story: &str, plane: &Plane, mut given: Value) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for needed in
        [root.join("node_modules/playwright-core"), root.join("node_modules/axe-core"), "/usr/bin/chromium".into()]
    {
        assert!(needed.exists(), "{} is missing: run ./test --prepare", needed.display());
    }
    given["origin"] = json!(plane.service());
    given["domain"] = json!("northwind.test");
    given["name"] = json!("alice");
    given["password"] = json!(PASSWORD);
    let mut node = Command::new("node");
    node.arg(root.join(format!("e2e/{story}.mjs"))).arg(given.to_string());
    let played = tokio::task::spawn_blocking(move || node.output()).await.unwrap();
    let played = played.unwrap_or_else(|why| panic!("node cannot be run ({why}): run ./test --prepare"));
    let told = String::from_utf8_lossy(&played.stdout).into_owned();
    assert!(played.status.success(), "{}\n{told}", String::from_utf8_lossy(&played.stderr));
    serde_json::from_str(&told).unwrap()
}
