//! A service that is down, slow or misbehaving: the response is ours, and tells whether anything may have happened.

use crate::stage::{refused, stage, stage_with, status};
use countersign_protocol::project::ProjectDocument;

///
#[tokio::test]
async fn an_upstream_that_is_down_got_nothing() {
    let nobody = |document: &mut ProjectDocument| document.upstreams[0].url = "http://127.0.0.1:1".into();
    let stage = stage_with(|_| panic!("nobody is there"), nobody, |_| ()).await;
    for request in [stage.read(), stage.write("{}")] {
        let answer = stage.ask(&request).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()));
        assert!(answer.contains("nothing was sent; try again"), "{answer}");
    }
    assert!(stage.outcomes().await.iter().all(|outcome| outcome.starts_with("not sent: ")));
}

///
#[tokio::test]
async fn an_upstream_that_closes_or_talks_nonsense_may_have_done_it() {
    for rude in ["", "nonsense\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n"]
    {
        let stage = stage(move |_| rude.into()).await;
        let answer = stage.ask(&stage.write("{}")).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()), "{rude:?}");
        assert!(answer.contains("do not repeat it blindly"), "{answer}");
        assert_eq!(stage.seen().len(), 1, "sent once, {rude:?}");
        assert!(stage.outcomes().await[0].starts_with("unknown: "), "{rude:?}");
    }
}

///
#[tokio::test]
async fn an_upstream_that_does_not_answer_in_time_may_have_done_it() {
    let quick = |document: &mut ProjectDocument| document.upstreams[0].timeout_seconds = Some(1);
    // An incomplete head.
    let stage = stage_with(|_| "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n".into(), quick, |_| ()).await;
    let answer = stage.ask(&stage.write("{}")).await;
    assert_eq!(refused(&answer), (504, "upstream_timeout".into()));
    assert!(stage.outcomes().await[0].starts_with("unknown: "));
}

#[tokio::test]
async fn an_upstreams_own_errors_are_passed_on() {
    for status_line in ["404 Not Found", "500 Internal Server Error", "502 Bad Gateway", "504 Gateway Timeout"] {
        let stage = stage(move |_| format!("HTTP/1.1 {status_line}\r\nContent-Length: 4\r\n\r\noops").into()).await;
        let answer = stage.ask(&stage.write("{}")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status_line}")) && answer.ends_with("oops"), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_seen_to_break_off() {
    let stage = stage(|_| "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n".into()).await;
    let answer = stage.ask(&stage.read()).await;
    assert_eq!(status(&answer), 200);
    assert!(!answer.contains("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn an_upstream_or_credential_that_the_node_does_not_know_gets_nothing() {
    let unknown = |document: &mut ProjectDocument| document.upstreams[0].credential = Some("none".into());
    let stage = stage_with(|_| panic!("nothing may get here"), unknown, |_| ()).await;
    assert_eq!(refused(&stage.ask(&stage.write("{}")).await), (502, "upstream_failed".into()));
    let nowhere = |settings: &mut countersign_gateway::GatewaySettings| settings.allowed_upstreams = Some(Vec::new());
    let stage = stage_with(|_| panic!("nothing may get here"), |_| (), nowhere).await;
    assert_eq!(refused(&stage.ask(&stage.read()).await), (502, "upstream_failed".into()));
}
