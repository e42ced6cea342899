//! A node that shuts down ends its streams and sockets; they count as connections until then.

use axum::body::Body;
use countersign_server::Limits;
use countersign_testkit::{
    Backend, Kit,
    aaep::{ListeningPlane, Subscriber, subscription_request},
    decisions::DecisionFixture,
};
use http::{Method, header};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Opens the stream of a subscription over a connection of its own; returns the connection.
async fn stream(place: &ListeningPlane, phone: &Subscriber) -> tokio::net::TcpStream {
    let mut connection = place.connect().await;
    let request = phone.request(Method::GET, &format!("/aaep/v1/events?subscription_id={}", phone.subscription_id));
    let request = request.header(header::HOST, "api.example.test").body(Body::empty()).unwrap();
    let mut head = format!("GET {} HTTP/1.1\r\n", request.uri());
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    connection.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    let mut begun = Vec::new();
    while !String::from_utf8_lossy(&begun).contains("retry: 1000") {
        let mut part = [0; 1024];
        let read = connection.read(&mut part).await.unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&begun));
        begun.extend_from_slice(&part[..read]);
    }
    connection
}

#[tokio::test]
async fn a_node_that_stops_ends_its_streams_and_sockets_at_once() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let mut phone = alice.subscriber(&plane).await;
    phone.subscribes(&plane).await;
    let place = plane.on_a_port().await;
    let mut heard = stream(&place, &phone).await;
    let mut socket = place.socket_of(&phone).await;
    socket.send(&subscription_request(json!({}))).await;
    socket.message().await;
    let ListeningPlane { serving, .. } = place;
    let reading = tokio::spawn(async move {
        let mut rest = Vec::new();
        heard.read_to_end(&mut rest).await.unwrap();
        socket.code().await
    });
    tokio::time::timeout(Duration::from_secs(8), serving.stop()).await.expect("nothing to wait for");
    assert_eq!(reading.await.unwrap(), Some(1001));
}

#[tokio::test]
async fn a_stream_outlasts_the_time_that_an_answer_may_take() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Sqlite)
        .decision_fixture_with(countersign_testkit::Setup {
            // Enough for every other request of the test on a busy machine.
            limits: Limits { request: Duration::from_secs(2), ..Limits::default() },
            ..countersign_testkit::Setup::payments()
        })
        .await;
    let (_phone, mut heard) = alice.subscribed(&plane).await;
    heard.line().await;
    // Longer than the response timeout.
    assert!(tokio::time::timeout(Duration::from_millis(2100), heard.line()).await.is_err());
    agent.requests_approval(&plane, "payments.send", json!({})).await;
    heard.next_of("awaiting.confirmation").await;
}

#[tokio::test]
async fn a_socket_counts_as_a_connection_as_long_as_it_lives() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let phone = alice.subscriber(&plane).await;
    let place = plane.on_a_port_with(Limits { max_connections: 1, ..Limits::default() }).await;
    let mut socket = place.socket_of(&phone).await;
    socket.send(&subscription_request(json!({}))).await;
    socket.message().await;
    let request = || http::Request::get("/session").header("host", "x").body(Body::empty()).unwrap();
    let crowded = tokio::time::timeout(Duration::from_millis(300), place.send(request())).await;
    assert!(crowded.is_err(), "there is no place for a second connection");
    drop(socket);
    let served = tokio::time::timeout(Duration::from_secs(5), place.send(request())).await;
    assert_eq!(served.expect("a place became free").status, 401);
}
