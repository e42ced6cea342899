//! The gateway's secrets: in no response, no log and no record.

use crate::{
    peer::{Peer, proxy_to_with, request, rest},
    proxy_fixture::{closing, refused, status},
};
use countersign_gateway::{GatewaySettings, UpstreamCredential};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::leaks::Haystack;
use http::{HeaderName, HeaderValue};
use std::{
    io::Write,
    sync::{Arc, Mutex},
};
use tokio::io::AsyncWriteExt as _;

const SECRET: &str = "the-service-knows-us-by-this-secret";

fn credited(document: &mut ProjectDocument) {
    document.upstreams[0].credential = Some("service".into());
    document.upstreams[0].timeout_seconds = Some(1);
}

fn holding(settings: &mut GatewaySettings) {
    let credential = UpstreamCredential::new(HeaderName::from_static("x-api-key"), HeaderValue::from_static(SECRET));
    settings.credentials.insert("service".into(), credential);
}

#[tokio::test]
async fn the_services_secret_and_the_agents_token_are_in_no_answer_log_or_record() {
    let log = Log::default();
    let writer = log.clone();
    let listening =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _listening = tracing::subscriber::set_default(listening);
    let peer = Peer::open().await;
    let proxy = proxy_to_with(&peer, credited, holding).await;
    let mut answers = String::new();
    // A response, a closed connection, garbage, and an incomplete head.
    let all = ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\n"];
    for (number, answer) in all.into_iter().enumerate() {
        // Each write has a body of its own: a repeat of one with an unknown outcome is refused.
        for asked in [proxy.read(), proxy.write(&format!("{{\"number\":{number}}}"))] {
            let mut caller = proxy.connect().await;
            caller.write_all(closing(&asked).as_bytes()).await.unwrap();
            let mut behind = peer.accept().await;
            let got = request(&mut behind).await;
            assert!(got.contains(&format!("x-api-key: {SECRET}\r\n")), "{got}");
            behind.write_all(answer.as_bytes()).await.unwrap();
            // The last connection stays open and silent.
            let _stays = answer.ends_with("OK\r\n").then_some(behind);
            answers += &rest(&mut caller).await;
        }
    }
    assert!(answers.contains("HTTP/1.1 200") && answers.contains("HTTP/1.1 502") && answers.contains("HTTP/1.1 504"));
    assert_eq!(refused(&proxy.exchange("GET / HTTP/1.1\r\n\r\n").await), (400, "invalid_request".into()));
    assert_eq!(status(&proxy.ask(&proxy.read().replacen("Bearer ", "Bearer x", 1)).await), 401);
    let audit = proxy.fixture.audit("limit=200").await.to_string();
    let logged = Haystack::new("the log", log.0.lock().unwrap().clone());
    logged.assert_present("the end of a call", "answered");
    logged.assert_present("what went wrong", "an upstream sent no response");
    let (answers, audit) =
        (Haystack::new("an answer", answers.into_bytes()), Haystack::new("the audit", audit.into_bytes()));
    audit.assert_present("the record of a call", "\"200 OK\"");
    for place in [&logged, &answers, &audit] {
        place.assert_absent("the service's secret", SECRET);
        place.assert_absent("the agent's token", &proxy.fixture.agent.access_token);
    }
    let printed =
        format!("{:?}", UpstreamCredential::new(HeaderName::from_static("x"), HeaderValue::from_static(SECRET)));
    assert!(!printed.contains(SECRET), "{printed}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
