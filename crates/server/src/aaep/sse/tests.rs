use super::*;
use axum::extract::FromRequestParts as _;
use http_body_util::BodyExt as _;
use std::time::Duration;

async fn nowhere() -> ClientConnection {
    let (mut parts, ()) = http::Request::new(()).into_parts();
    match ClientConnection::from_request_parts(&mut parts, &()).await {
        Ok(connection) => connection,
    }
}

fn event(json: &str) -> Frame {
    Frame::Event { event_id: "evt_1".into(), json: json.into() }
}

async fn written(style: Style, frames: Vec<Frame>) -> String {
    let response = response(stream::iter(frames), style, nowhere().await);
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn an_event_is_four_lines_that_end_in_lf_and_nothing_else() {
    let text = written(Style::Named, vec![event(r#"{"a":1}"#)]).await;
    assert_eq!(text, "retry: 1000\n\nevent: aaep.event\nid: evt_1\ndata: {\"a\":1}\n\n");
}

#[tokio::test]
async fn an_unnamed_event_has_no_name_and_the_end_of_its_subscription_is_no_event() {
    let text =
        written(Style::Unnamed, vec![event("{}"), Frame::Message("{}".into()), Frame::Closed("{}".into())]).await;
    assert_eq!(text, "retry: 1000\n\nid: evt_1\ndata: {}\n\ndata: {}\n\n:\n\n");
}

#[tokio::test]
async fn line_ends_of_any_client_are_escaped() {
    let text = written(Style::Named, vec![event("{\"a\":\"x\u{85}y\u{2028}z\u{2029}\"}")]).await;
    assert!(text.contains(r#"data: {"a":"x\u0085y\u2028z\u2029"}"#), "{text}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_broken_every_ten_seconds() {
    let response = response(stream::pending(), Style::Named, nowhere().await);
    let mut body = response.into_body();
    let mut told = Vec::new();
    let started = tokio::time::sleep(Duration::from_millis(30_500));
    tokio::pin!(started);
    loop {
        tokio::select! {
            () = &mut started => break,
            frame = body.frame() => told.push(frame.unwrap().unwrap().into_data().unwrap()),
        }
    }
    assert_eq!(told, ["retry: 1000\n\n", ":\n\n", ":\n\n", ":\n\n"]);
}
