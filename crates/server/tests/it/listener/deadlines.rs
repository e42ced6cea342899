//! Connections without a complete request.

use super::{LONG, REQUEST, SHORT, SOON, answers, closes, door, patient};
use bytes::Bytes;
use countersign_server::Limits;
use countersign_testkit::{Backend, Kit, aaep::subscription_request, decisions::DecisionFixture};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

/// The beginning of every HTTP/2 connection, and of no HTTP/1 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

///
#[tokio::test]
async fn connections_that_say_nothing_are_closed_and_make_room_for_people() {
    let door = door(Limits { first_byte: SHORT, max_connections: 3, ..patient() }, &[]).await;
    let mut silent = [door.connect().await, door.connect().await, door.connect().await];
    assert!(answers(&mut door.connect().await).await, "there is no place for a person");
    for stream in &mut silent {
        assert!(closes(stream).await);
    }
}

/// also a slow head, and an incomplete HTTP/2 preface, which could still become either protocol.
#[tokio::test]
async fn a_head_that_is_not_complete_in_time_ends_its_connection_in_either_protocol() {
    let door = door(Limits { header_read: SHORT, ..patient() }, &[]).await;
    for begun in [&REQUEST.as_bytes()[..20], &PREFACE[..1], &PREFACE[..23], PREFACE, &[PREFACE, SETTINGS].concat()] {
        let mut stream = door.connect().await;
        stream.write_all(begun).await.unwrap();
        assert!(closes(&mut stream).await, "{}", String::from_utf8_lossy(begun));
    }
    let (mut reading, mut writing) = door.connect().await.into_split();
    let dripping = tokio::spawn(async move {
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        for byte in REQUEST.bytes().cycle() {
            pace.tick().await;
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
        }
    });
    let mut rest = Vec::new();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut rest);
    assert!(tokio::time::timeout(SOON, ended).await.is_ok());
    dripping.abort();
}

/// An HTTP/2 connection, and the task that ends with it.
async fn in_http2(stream: TcpStream) -> (SendRequest<Empty<Bytes>>, tokio::task::JoinHandle<()>) {
    let (requests, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    (requests, tokio::spawn(async move { drop(connection.await) }))
}

fn get(path: &str) -> http::request::Builder {
    http::Request::get(format!("http://api.example.test{path}"))
}

///
#[tokio::test]
async fn an_http2_connection_without_a_request_ends_and_one_that_is_used_goes_on() {
    let door = door(Limits { idle: 2 * SHORT, ..patient() }, &[]).await;
    let (mut used, _) = in_http2(door.connect().await).await;
    let (mut idle, ended) = in_http2(door.connect().await).await;
    let ask = || get("/session").body(Empty::new()).unwrap();
    idle.send_request(ask()).await.unwrap().into_body().collect().await.unwrap();
    for _ in 0..8 {
        let answer = used.send_request(ask()).await.expect("a connection in use is not closed");
        assert_eq!(answer.status(), 401);
        answer.into_body().collect().await.unwrap();
        tokio::time::sleep(SHORT / 2).await;
    }
    tokio::time::timeout(SOON, ended).await.expect("it is open without a request").unwrap();
}

///
#[tokio::test]
async fn streams_and_sockets_outlast_every_deadline_in_either_protocol() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite).decision_fixture().await;
    let short = Limits { first_byte: SHORT, header_read: SHORT, idle: SHORT, ..Limits::default() };
    let mut phone = alice.subscriber(&plane).await;
    phone.subscribes(&plane).await;
    let place = plane.on_a_port_with(short).await;
    let mut socket = place.socket_of(&alice.subscriber(&plane).await).await;
    socket.send(&subscription_request(json!({}))).await;
    socket.message().await;
    let (mut requests, _connection) = in_http2(place.connect().await).await;
    let stream = get(&format!("/aaep/v1/events?subscription_id={}", phone.subscription_id));
    let stream = stream.header("authorization", format!("Bearer {}", phone.token)).body(Empty::new()).unwrap();
    let mut stream = requests.send_request(stream).await.unwrap().into_body();
    stream.frame().await.expect("it goes on").unwrap();
    assert!(tokio::time::timeout(8 * SHORT, stream.frame()).await.is_err(), "there is nothing to hear yet");
    agent.requests_approval(&plane, "payments.send", json!({})).await;
    let heard = tokio::time::timeout(SOON, stream.frame()).await.expect("the stream was cut").expect("it goes on");
    assert!(heard.unwrap().data_ref().is_some_and(|data| !data.is_empty()));
    assert_eq!(socket.message().await["type"], "aaep:agent.session.started");
}

/// one connection must not carry two hundred requests.
#[tokio::test]
async fn an_http2_connection_gets_its_limit_of_concurrent_requests() {
    let door = door(Limits { max_streams: 7, idle: LONG, ..patient() }, &[]).await;
    let mut stream = door.connect().await;
    stream.write_all(&[PREFACE, SETTINGS].concat()).await.unwrap();
    let mut settings = [0; 64];
    let read = tokio::io::AsyncReadExt::read(&mut stream, &mut settings).await.unwrap();
    // SETTINGS_MAX_CONCURRENT_STREAMS is setting 3.
    assert!(settings[..read].windows(6).any(|setting| setting == [0, 3, 0, 0, 0, 7]), "{:?}", &settings[..read]);
}
