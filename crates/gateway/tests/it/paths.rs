//! A request's target has one spelling; every other one is refused in the envelope and not forwarded.

use crate::proxy_fixture::{HOST, ProxyFixture, envelope, proxy, proxy_with, refused, status};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn another_spelling_of_a_path_is_another_path() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    for path in [
        "//calendar/events",
        "/calendar//events",
        "/calendar/events/",
        "/calendar/./events",
        "/calendar/x/../events",
        "/../calendar/events",
        "/calendar/%2e/events",
        "/calendar/x/%2E%2e/events",
        "/calendar/x/.%2e/events",
        "/calendar%2fevents",
        "/calendar%2Fevents",
        "/calendar%5cevents",
        "/calendar\\events",
        "/calendar/events;a=b",
        "/calendar;/events",
        "/calendar/events%00",
        "/calendar/events%0d%0aX:%20y",
        "/calendar/events%09",
        "/Calendar/events",
        "/CALENDAR/EVENTS",
        "/calendar/%65vents",
        "/calendar/events%",
        "/calendar/events%2",
        "/calendar/events%zz",
        "/calendar/events%252e",
        "*",
        "/",
    ] {
        for (method, intent) in [("GET", "READ_CALENDAR"), ("POST", "SCHEDULE_EVENT")] {
            let answer = proxy.ask(&proxy.head(&format!("{method} {path}"), intent, "")).await;
            let (status, code) = refused(&answer);
            assert!(status == 404 || (status, &*code) == (400, "invalid_request"), "{method} {path}: {answer}");
        }
    }
    // A parameter matches one segment, without characters that another server would split.
    for path in ["a%2fb", "a%2Fb", "..", "%2e%2e", "a;b", "a%5cb", "a%00", "a//b", ""] {
        let answer = proxy.ask(&proxy.head(&format!("GET /calendar/events/{path}"), "READ_CALENDAR", "")).await;
        assert_eq!(status(&answer), 404, "{path}: {answer}");
    }
    for path in ["", "/", "/decisions/x", "/decisions//redeem"] {
        let answer = proxy.ask(&proxy.head(&format!("POST /.countersign{path}"), "SCHEDULE_EVENT", "")).await;
        assert_eq!(refused(&answer), (404, "not_found".into()), "{path}");
    }
    assert!(proxy.seen().is_empty());
}

/// For every byte in a target, the response is our envelope and not the HTTP implementation's own error.
#[tokio::test]
async fn no_byte_in_a_target_gets_an_answer_without_the_envelope() {
    let proxy = proxy(|_| OK.into()).await;
    for byte in (0..=255).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
        for at in ["/calendar/ev@ents", "/calendar/events/@", "@"] {
            let line = [b"GET ", at.replace('@', "").as_bytes(), b" HTTP/1.1"].concat();
            let mut request = proxy.read().into_bytes();
            request.splice(..b"GET /calendar/events HTTP/1.1".len(), line);
            request.insert(4 + at.find('@').unwrap(), byte);
            let answer = answer_to(&proxy, &request).await;
            assert!(answer.contains("x-request-id: req_"), "{byte:#04x} in {at}: {answer:?}");
            if status(&answer) >= 400 {
                envelope(&answer);
            }
        }
    }
    for seen in proxy.seen() {
        let line = seen.split("\r\n").next().unwrap();
        assert!(line.starts_with("GET /calendar/events") && line.ends_with(" HTTP/1.1"), "{line:?}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_ours_is_nobodys_however_it_is_written() {
    let proxy = proxy(|_| panic!("nothing may get here")).await;
    let with_host = |host: &str| proxy.read().replacen(&format!("Host: {HOST}"), &format!("Host:{host}"), 1);
    for host in [
        "",
        " evil.test",
        " gateway.test.",
        " gateway.test:1",
        " a@gateway.test",
        " x.gateway.test",
        " 127.0.0.1",
        " gateway.test, evil.test",
        " gateway.test/",
        " \u{e4}.test",
        " [::1]",
    ] {
        let request = with_host(host).replacen("Aap-", "X-Forwarded-Host: gateway.test\r\nAap-", 1);
        assert_eq!(refused(&proxy.ask(&request).await), (400, "invalid_request".into()), "{host}");
    }
    let target = |url: &str| proxy.read().replacen("/calendar/events", url, 1);
    for url in [
        "http://evil.test/calendar/events",
        "https://gateway.test@evil.test/calendar/events",
        "https://evil.test@gateway.test/calendar/events",
        "https://gateway.test:8443/calendar/events",
        "https:///calendar/events",
        "https://",
        "http://[::1/calendar/events",
        "https://gateway.test\\@evil.test/calendar/events",
        "ftp://gateway.test/calendar/events",
        "gateway.test/calendar/events",
        "gateway.test:443",
        "?a=b",
        "/calendar/events#part",
    ] {
        assert_eq!(refused(&proxy.ask(&target(url)).await), (400, "invalid_request".into()), "{url}");
    }
    assert!(proxy.seen().is_empty());
}

#[tokio::test]
async fn a_url_as_target_is_forwarded_as_the_path_that_it_names() {
    let proxy = proxy(|_| OK.into()).await;
    for url in ["https://gateway.test/calendar/events?a=b", "HTTP://GATEWAY.TEST/calendar/events?a=b"] {
        let answer = proxy.ask(&proxy.read().replacen("/calendar/events", url, 1)).await;
        assert_eq!(status(&answer), 200, "{url}: {answer}");
        assert!(proxy.seen().pop().unwrap().starts_with("GET /calendar/events?a=b HTTP/1.1\r\n"), "{url}");
    }
}

#[tokio::test]
async fn a_method_is_taken_literally_and_no_header_or_query_makes_it_another() {
    let proxy = proxy(|_| OK.into()).await;
    for method in ["TRACE", "CONNECT", "get", "Get", "BREW", "G\0ET", "GET/", "", "PRI"] {
        let answer = proxy.ask(&proxy.read().replacen("GET ", &format!("{method} "), 1)).await;
        let (status, _) = refused(&answer);
        assert!(matches!(status, 400 | 404), "{method:?}: {answer}");
    }
    assert!(proxy.seen().is_empty());
    let more = "X-HTTP-Method-Override: DELETE\r\nX-HTTP-Method: DELETE\r\nX-Method-Override: DELETE\r\n";
    let answer = proxy.ask(&proxy.head("GET /calendar/events", "READ_CALENDAR", more)).await;
    assert_eq!(status(&answer), 200);
    let seen = proxy.seen().pop().unwrap();
    assert!(
        seen.starts_with("GET /") && !seen.to_lowercase().contains("override") && !seen.contains("DELETE"),
        "{seen}"
    );
}

/// A few hundred requests, each with random damage: the gateway keeps running, and nothing else gets through.
#[tokio::test]
async fn requests_with_random_damage_neither_break_the_gateway_nor_become_other_requests() {
    let quick = |settings: &mut countersign_gateway::GatewaySettings| {
        settings.header_timeout = Duration::from_millis(20);
        settings.body_timeout = Duration::from_millis(20);
        settings.idle_timeout = Duration::from_millis(20);
    };
    let proxy = proxy_with(|_| OK.into(), |_| (), quick).await;
    let mut chance = Chance(0x5eed_cafe);
    for round in 0..400 {
        let sound = if round % 2 == 0 { proxy.read() } else { proxy.write("{\"a\":1}") };
        let damaged = chance.damage(sound.into_bytes());
        let answer = answer_to(&proxy, &damaged).await;
        let sent = String::from_utf8_lossy(&damaged).into_owned();
        assert!(answer.is_empty() || answer.contains("x-request-id: req_"), "{round}: {sent:?} got {answer:?}");
    }
    for seen in proxy.seen() {
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        let (line, headers) = head.split_once("\r\n").unwrap();
        let target = line.split(' ').nth(1).unwrap().split('?').next().unwrap();
        assert!(target.starts_with("/calendar/events"), "{line}");
        assert!(line.starts_with("POST ") || body.is_empty(), "{seen}");
        let known = ["host: ", "countersign-identity: ", "content-type: ", "content-length: ", "content-encoding: "];
        assert!(headers.split("\r\n").all(|header| known.iter().any(|name| header.starts_with(name))), "{seen}");
    }
    assert!(!proxy.seen().is_empty() && proxy.seen().len() < 400);
    assert_eq!(status(&proxy.ask(&proxy.read()).await), 200);
}

/// The response, however the connection ends.
async fn answer_to(proxy: &ProxyFixture, request: &[u8]) -> String {
    let mut stream = proxy.connect().await;
    let at = request.windows(5).position(|five| five == b"\r\nAap").unwrap_or(request.len());
    let (line, more) = request.split_at(at);
    let closing: &[u8] = if more.is_empty() { b"" } else { b"\r\nConnection: close" };
    let _refused_early = stream.write_all(&[line, closing, more].concat()).await;
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    let _reset = ended.expect("the connection stays open");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Seeded, so that a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn damage(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let odd = b"\r\n\0 \t:;,%/.\\#@0\x7f\xff"[self.below(17)];
            match self.below(6) {
                0 => bytes[at] = odd,
                1 => bytes.insert(at, odd),
                2 => drop(bytes.remove(at)),
                3 => bytes[at] ^= 1 << self.below(8),
                4 => bytes.truncate(at.max(1)),
                _ => {
                    let end = (at + self.below(60)).min(bytes.len());
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
            }
        }
        bytes
    }
}
