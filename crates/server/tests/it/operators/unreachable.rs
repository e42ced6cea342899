//! Unreachable operators: cached documents serve for their hour, and a missing response never lets a caller
//! in (AAP 20.3).

use crate::register::support::{Ready, SQLITE, told, with};
use axum::body::Body;
use countersign_server::{LogTo, logs_to};
use countersign_testkit::{
    Answer,
    operator_host::{self, IDENTITY, JWKS},
};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn broken() -> Vec<operator_host::Answer> {
    vec![
        operator_host::Answer::status(StatusCode::NOT_FOUND),
        operator_host::Answer::status(StatusCode::SERVICE_UNAVAILABLE),
        operator_host::Answer::status(StatusCode::NO_CONTENT),
        operator_host::Answer::json(""),
        operator_host::Answer::json("{}"),
        operator_host::Answer::json("{\"keys\":[]}"),
        operator_host::Answer::json("<html>"),
        operator_host::Answer::json(vec![0xff; 100]),
    ]
}

/// AAP-20.3-01, AAP-20.3-02, AAP-20.3-03
#[tokio::test]
async fn a_cached_document_serves_for_an_hour_and_not_a_second_longer() {
    let ready = Ready::on(SQLITE).await;
    let host = &ready.plane.acme().host;
    let mut faults: Vec<(&str, Option<operator_host::Answer>)> = vec![("everything", None)];
    faults
        .extend([IDENTITY, JWKS].iter().flat_map(|path| broken().into_iter().map(move |answer| (*path, Some(answer)))));
    for (path, answer) in faults {
        ready.plane.acme().publish(&[&ready.plane.acme().key]);
        host.recover();
        ready.plane.advance_secs(3601).await;
        ready.register(&ready.body()).await.expect(200);
        match answer.clone() {
            Some(answer) => host.set_answer(path, answer),
            None => host.go_offline(),
        }
        ready.plane.advance_secs(3600).await;
        ready.register(&ready.body()).await.expect(200);
        ready.plane.advance_secs(1).await;
        assert_eq!(ready.refusal(&ready.body()).await, told(401, "operator_not_found"), "{path} {answer:?}");
    }
}

async fn metric(ready: &Ready, name: &str) -> i64 {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let text = Answer::to(&ready.plane.operations, request).await.expect(200).text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// AAP-20.3-04
#[tokio::test]
async fn an_unreachable_operator_raises_a_metric_and_is_logged_once() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let _listening = tracing::subscriber::set_default(logs_to(LogTo::Buffer(Arc::clone(&lines)), true, "warn"));
    let alerts = || {
        let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
        let alerts = text
            .lines()
            .filter(|line| line.contains("an operator is repeatedly unreachable"))
            .map(|line| serde_json::from_str(line).unwrap());
        alerts.collect::<Vec<Value>>()
    };
    let ready = Ready::on(SQLITE).await;
    assert_eq!(metric(&ready, "countersign_dark_operators").await, 0);
    ready.plane.acme().host.go_offline();
    ready.plane.advance_secs(3601).await;
    for failures in 1..=5 {
        assert_eq!(ready.refusal(&ready.body()).await, told(401, "operator_not_found"));
        assert_eq!(metric(&ready, "countersign_operator_fetch_failures").await, failures);
        let dark = failures >= 3;
        assert_eq!(metric(&ready, "countersign_dark_operators").await, i64::from(dark), "after {failures}");
        assert_eq!(alerts().len(), usize::from(dark), "after {failures}");
        ready.plane.advance_secs(60).await;
    }
    assert_eq!(alerts()[0]["fields"]["operator"], "acme.test");
    assert_eq!(alerts()[0]["level"], "WARN");
    ready.plane.acme().host.recover();
    ready.register(&ready.body()).await.expect(200);
    assert_eq!(metric(&ready, "countersign_dark_operators").await, 0);
}

/// AAP-20.3-02
#[tokio::test]
async fn a_receipt_whose_key_cannot_be_fetched_is_not_believed() {
    let ready = Ready::on(SQLITE).await;
    let new = countersign_jose::SigningKey::generate(Some("key-2")).unwrap();
    ready.plane.acme().host.go_offline();
    let receipt = new.sign("aap-consent+jwt", &ready.receipt()).unwrap();
    let body = with(ready.body(), "consent_receipt", json!(receipt));
    assert_eq!(ready.refusal(&body).await, told(401, "consent_invalid"));
}
