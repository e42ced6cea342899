//! The unreliable upstream: it may or may not carry out a request, and may or may not respond. It records its effects exactly.

use super::{random::Random, record::SoakRecord};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// How long the gateway waits for a response; a stall is longer.
pub(super) const TIMEOUT_S: u64 = 3;
const STALL: Duration = Duration::from_millis(TIMEOUT_S * 1000 + 1500);
/// More than any request of this benchmark.
const LARGEST: usize = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Normal,
    FailsAfterTheWork,
    FailsBeforeTheWork,
    SaysNoEffect,
    ClosesAfterTheWork,
    ClosesBeforeTheWork,
    StallsAfterTheWork,
    /// The work is done only after the gateway stopped waiting for the response.
    StallsBeforeTheWork,
    HalfAnAnswer,
}

impl Manner {
    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::FailsAfterTheWork => "500 after the work",
            Self::FailsBeforeTheWork => "500 before the work",
            Self::SaysNoEffect => "503 without effect",
            Self::ClosesAfterTheWork => "closes after the work",
            Self::ClosesBeforeTheWork => "closes before the work",
            Self::StallsAfterTheWork => "stalls after the work",
            Self::StallsBeforeTheWork => "stalls before the work",
            Self::HalfAnAnswer => "half an answer",
        }
    }
}

const MANNERS: &[(Manner, usize)] = &[
    (Manner::Normal, 76),
    (Manner::FailsAfterTheWork, 4),
    (Manner::FailsBeforeTheWork, 4),
    (Manner::SaysNoEffect, 5),
    (Manner::ClosesAfterTheWork, 3),
    (Manner::ClosesBeforeTheWork, 3),
    (Manner::StallsAfterTheWork, 1),
    (Manner::StallsBeforeTheWork, 1),
    (Manner::HalfAnAnswer, 3),
];

pub(super) struct RudeUpstream {
    record: Arc<SoakRecord>,
    random: Mutex<Random>,
}

impl RudeUpstream {
    /// Serves for as long as the runtime lives.
    pub(super) async fn open(record: &Arc<SoakRecord>, seed: u64) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let random = Mutex::new(Random::of(seed, "upstream"));
        let upstream = Arc::new(Self { record: Arc::clone(record), random });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let upstream = Arc::clone(&upstream);
                tokio::spawn(async move { upstream.attend(stream).await });
            }
        });
        Ok(address)
    }

    async fn attend(&self, mut stream: TcpStream) {
        let _nodelay = stream.set_nodelay(true);
        let mut bytes = Vec::new();
        while let Some(request) = next_request(&mut stream, &mut bytes).await {
            if !self.answer(&mut stream, &request).await.unwrap_or(false) {
                return;
            }
        }
    }

    /// Whether the connection stays open.
    async fn answer(&self, stream: &mut TcpStream, request: &Request) -> std::io::Result<bool> {
        let manner = self.choose();
        let body = format!(r#"{{"upstream":"{}","marker":"{}"}}"#, manner.name(), request.marker);
        match manner {
            Manner::Normal | Manner::FailsAfterTheWork => {
                self.work(request);
                let status = if manner == Manner::Normal { "200 OK" } else { "500 Internal Server Error" };
                stream.write_all(answer(status, "", &body).as_bytes()).await?;
                Ok(true)
            }
            Manner::FailsBeforeTheWork => {
                stream.write_all(answer("500 Internal Server Error", "", &body).as_bytes()).await?;
                Ok(true)
            }
            Manner::SaysNoEffect => {
                let none = "countersign-effect: none\r\n";
                stream.write_all(answer("503 Service Unavailable", none, &body).as_bytes()).await?;
                Ok(true)
            }
            Manner::ClosesAfterTheWork => {
                self.work(request);
                Ok(false)
            }
            Manner::ClosesBeforeTheWork => Ok(false),
            Manner::StallsAfterTheWork | Manner::StallsBeforeTheWork => {
                if manner == Manner::StallsAfterTheWork {
                    self.work(request);
                }
                tokio::time::sleep(STALL).await;
                if manner == Manner::StallsBeforeTheWork {
                    self.work(request);
                }
                let _nobody_waits = stream.write_all(answer("200 OK", "", &body).as_bytes()).await;
                Ok(false)
            }
            Manner::HalfAnAnswer => {
                self.work(request);
                let whole = answer("200 OK", "", &body);
                stream.write_all(whole.as_bytes().get(..whole.len() - 12).unwrap_or_default()).await?;
                Ok(false)
            }
        }
    }

    fn choose(&self) -> Manner {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let manner = random.weighted(MANNERS).unwrap_or(Manner::Normal);
        *self.record.pages().manners.entry(manner.name()).or_default() += 1;
        manner
    }

    fn work(&self, request: &Request) {
        if request.is_write {
            self.record.effect(&request.marker, request.decision.clone());
        }
    }
}

fn answer(status: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
}

struct Request {
    is_write: bool,
    /// From the body of a write; from the path of a read.
    marker: String,
    decision: Option<String>,
}

/// The next whole request of a connection; `None` when it ends or sends unknown HTTP.
async fn next_request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Request> {
    loop {
        if let Some((request, length)) = complete(bytes) {
            bytes.drain(..length);
            return Some(request);
        }
        if bytes.len() > LARGEST || stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// The request at the beginning and its length, once it is complete.
fn complete(bytes: &[u8]) -> Option<(Request, usize)> {
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(bytes.get(..head_end)?).into_owned();
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
    let body = bytes.get(head_end..head_end + length)?;
    let mut line = head.split(' ');
    let (is_write, path) = (line.next() == Some("POST"), line.next().unwrap_or_default());
    let in_body = serde_json::from_slice::<Value>(body).ok().and_then(|body| Some(body["marker"].as_str()?.to_owned()));
    let in_path = path.rsplit('/').next().unwrap_or_default().to_owned();
    let decision = header("countersign-identity").and_then(|jwt| decision_in(&jwt));
    Some((Request { is_write, marker: in_body.unwrap_or(in_path), decision }, head_end + length))
}

/// The decision named in the gateway's identity assertion. Its signature is not checked: nothing depends on it here.
fn decision_in(jwt: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims["decision_id"].as_str().map(str::to_owned)
}
