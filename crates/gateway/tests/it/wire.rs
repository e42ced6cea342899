//! Ambiguous requests are not forwarded, and refused in the envelope.

use crate::stage::{HOST, read_to_end, refused, stage, stage_with, status};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

fn invalid() -> (u16, String) {
    (400, "invalid_request".into())
}

#[tokio::test]
async fn smuggled_and_malformed_requests_are_refused_and_reach_nobody() {
    let stage = stage(|_| panic!("nothing may get here")).await;
    let write = |more: &str| stage.head("POST /calendar/events", "SCHEDULE_EVENT", more);
    let hidden = "0\r\n\r\nGET /calendar/events HTTP/1.1\r\n\r\n";
    for request in [
        write("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + hidden,
        write("Content-Length: 4\r\nContent-Length: 4\r\n") + "abcd",
        write("Content-Length: 4\r\nContent-Length: 5\r\n") + "abcde",
        write("Transfer-Encoding: gzip, chunked\r\n") + hidden,
        write("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + hidden,
        write("X-A: b\r\n Content-Length: 4\r\n") + "abcd",
        write("Content-Length : 4\r\n") + "abcd",
        write("Expect: something\r\n"),
        write("Upgrade: h2c\r\nConnection: Upgrade\r\n"),
        write(&format!("X-Long: {}\r\n", "a".repeat(40_000))),
        write(&"X-Many: 1\r\n".repeat(120)),
        stage.read().replacen("GET", "TRACE", 1),
        stage.read().replacen("/calendar/events", "https://evil.test/calendar/events", 1),
        stage.read().replacen("GET /calendar/events", "CONNECT gateway.test:443", 1),
        stage.read().replacen(HOST, "evil.test", 1),
        stage.head("GET /calendar/events", "READ_CALENDAR", "Content-Length: 2\r\n") + "{}",
        "nonsense\r\n\r\n".to_owned(),
        format!("GET /calendar/events HTTP/1.1\nHost: {HOST}\n\n"),
    ] {
        let answer = stage.ask(&request).await;
        assert_eq!(refused(&answer), invalid(), "{}", request.chars().take(300).collect::<String>());
        assert!(answer.contains("x-request-id"), "{answer}");
    }
    assert!(stage.seen().is_empty());
}

#[tokio::test]
async fn tricks_with_the_path_match_no_route() {
    let stage = stage(|_| panic!("nothing may get here")).await;
    for path in
        ["//calendar/events", "/calendar/../calendar/events", "/calendar%2Fevents", "/Calendar/events", "/%2e/x"]
    {
        let answer = stage.ask(&stage.head(&format!("GET {path}"), "READ_CALENDAR", "")).await;
        assert_eq!(status(&answer), 404, "{path}: {answer}");
    }
    for path in ["/.countersign", "/.countersign/", "/.countersign/decisions/x", "/.countersign/decisions//redeem"] {
        let answer = stage.ask(&stage.head(&format!("POST {path}"), "SCHEDULE_EVENT", "")).await;
        assert_eq!(refused(&answer), (404, "not_found".into()), "{path}");
    }
}

#[tokio::test]
async fn a_slow_head_and_a_slow_body_are_refused_as_such() {
    let quick = |settings: &mut countersign_gateway::GatewaySettings| {
        settings.header_timeout = Duration::from_millis(100);
        settings.body_timeout = Duration::from_millis(100);
    };
    let stage = stage_with(|_| panic!("nothing may get here"), |_| (), quick).await;
    let slow = (408, "request_timeout".to_owned());
    assert_eq!(refused(&stage.exchange("GET /calendar/ev").await), slow);
    let mut stream = stage.connect().await;
    let request = stage.write("{\"a\":1}");
    stream.write_all(&request.as_bytes()[..request.len() - 2]).await.unwrap();
    assert_eq!(refused(&read_to_end(&mut stream).await), slow);
}

#[tokio::test]
async fn stopping_lets_a_call_under_way_finish_and_takes_no_other() {
    let mut stage = stage(|_| "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".into()).await;
    let mut idle = stage.connect().await;
    idle.write_all(stage.read().as_bytes()).await.unwrap();
    let mut first = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut idle, &mut first).await.unwrap();
    stage.stop.take().unwrap().send(()).unwrap();
    let rest = read_to_end(&mut idle).await;
    assert!(rest.ends_with("ok"), "{rest}");
    drop(idle);
    (&mut stage.served).await.unwrap();
}
