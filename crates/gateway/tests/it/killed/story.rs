//! The acts at the node that will be killed, and the acknowledged ones among them.

use super::process::{NodeAddresses, Process};
use bytes::Bytes;
use countersign_testkit::{
    Answer,
    bank::{BankFixture, GATEWAY, GatewayRequest, Manner},
    faulty_store::CrashPoint,
};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::net::TcpStream;

/// The time limit of a wait.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The agent sends the transfer, which is held.
    Asks,
    /// Alice approves on her page.
    SaysYes,
    /// The agent sends it again, with a confirmation header.
    Repeats,
    /// The agent redeems the stored request.
    Redeems,
}

pub(super) const WHOLE: [Act; 3] = [Act::Asks, Act::SaysYes, Act::Repeats];

pub(super) struct Acknowledged {
    /// Begun, and never acknowledged. None: it was killed after the last act.
    pub(super) in_doubt: Option<Act>,
    pub(super) decision: Option<Value>,
}

impl Acknowledged {
    /// Performs one act after the other at a process of its own, until it is killed; at the end it is killed anyway.
    pub(super) async fn at_a_process(
        fixture: &BankFixture,
        acts: &[Act],
        decision: Option<Value>,
        crash: Option<CrashPoint>,
    ) -> Self {
        let mut told = Self { in_doubt: acts.first().copied(), decision };
        let Some(process) = Process::start(&fixture.plane, crash).await else { return told };
        for act in acts {
            told.in_doubt = Some(*act);
            if told.does(fixture, process.addresses, *act).await.is_none() {
                process.kill();
                return told;
            }
        }
        process.kill();
        Self { in_doubt: None, ..told }
    }

    async fn does(&mut self, fixture: &BankFixture, addresses: NodeAddresses, act: Act) -> Option<()> {
        match act {
            Act::Asks => {
                let held = sends(fixture, addresses.gateway, BankFixture::transfer()).await?;
                assert_eq!(held.refusal(), unconfirmed(), "{}", held.text());
                self.decision = Some(BankFixture::decision(&held));
            }
            Act::SaysYes => {
                approves(fixture, addresses.plane, self.known()).await?;
            }
            Act::Repeats | Act::Redeems => {
                sends(fixture, addresses.gateway, spending(act, self.known())).await?.expect(201);
            }
        }
        Some(())
    }

    fn known(&self) -> &Value {
        self.decision.as_ref().expect("a decision")
    }
}

/// Sends it to a process that is killed as soon as the bank has begun, so that its response is lost.
pub(super) async fn dies_while_the_bank_works(fixture: &BankFixture, process: Process, sent: GatewayRequest) {
    fixture.bank.set_manner(Manner::Thoughtful);
    let gateway = process.addresses.gateway;
    let killed = async {
        fixture.bank.next_arrival().await;
        process.kill();
    };
    let both = async { tokio::join!(sends(fixture, gateway, sent), killed).0 };
    let answer = tokio::time::timeout(PATIENCE, both).await.expect("a request that reaches the bank");
    assert!(answer.is_none());
    fixture.bank.set_manner(Manner::Obliging);
    fixture.bank.release_response();
}

/// The request that claims an approval.
pub(super) fn spending(act: Act, decision: &Value) -> GatewayRequest {
    match act {
        Act::Redeems => GatewayRequest::new("POST", &format!("/.countersign/decisions/{}/redeem", id(decision))),
        _ => BankFixture::transfer().confirmed("true"),
    }
}

pub(super) fn id(decision: &Value) -> &str {
    decision["decision_id"].as_str().expect("a decision's id")
}

/// The one response to a call without approval (C-01).
pub(super) fn unconfirmed() -> (u16, String) {
    (403, "irreversible_requires_confirm".into())
}

/// As the fixture's agent sends it, at any node. None if the node was killed before it answered.
pub(super) async fn sends(fixture: &BankFixture, gateway: SocketAddr, sent: GatewayRequest) -> Option<Answer> {
    for _ in 0..2 {
        let answer = exchange(gateway, fixture.authenticated(&fixture.agent, sent.clone())).await?;
        fixture.agent.takes_nonce(answer.header("dpop-nonce"));
        if answer.header("www-authenticate").is_none_or(|text| !text.contains("use_dpop_nonce")) {
            return Some(answer);
        }
    }
    panic!("no nonce was good enough")
}

/// Alice opens the page of a question, and approves it.
async fn approves(fixture: &BankFixture, plane: SocketAddr, decision: &Value) -> Option<Answer> {
    let browser = |method: &str| {
        let page = GatewayRequest::new(method, &format!("/inbox/bank/{}", id(decision)));
        page.with("cookie", &fixture.alice.cookie).with("accept", "text/html")
    };
    let page = exchange(plane, browser("GET")).await?.expect(200).text();
    let (_, shown) = page.split_once("name=\"shown\" value=\"").expect("a page that asks");
    let shown = shown.split('"').next().unwrap();
    let form = format!("csrf={}&shown={shown}&answer=accept", fixture.alice.csrf);
    let form = GatewayRequest { body: form.into_bytes(), ..browser("POST") };
    let answer = exchange(plane, form.with("content-type", "application/x-www-form-urlencoded")).await?;
    Some(answer.expect(303))
}

/// One request over a connection of its own. None if the peer is gone before its response is complete.
#[expect(clippy::disallowed_methods, reason = "the test is the client")]
pub(super) async fn exchange(door: SocketAddr, sent: GatewayRequest) -> Option<Answer> {
    let stream = TcpStream::connect(door).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let host = GATEWAY.trim_start_matches("https://");
    let mut request = http::Request::builder().method(sent.method.as_str()).uri(&sent.target).header("host", host);
    for (name, value) in &sent.headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(sent.body))).expect("a request");
    let (parts, body) = sender.send_request(request).await.ok()?.into_parts();
    let body = body.collect().await.ok()?.to_bytes().to_vec();
    Some(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
