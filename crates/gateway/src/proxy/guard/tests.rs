use super::{Guard, IN_ITS_PLACE, Patience, Wire};
use countersign_engine::Refusal;
use std::{sync::Arc, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

const PATIENCE: Patience =
    Patience { max_head_bytes: 1024, head: Duration::from_secs(10), idle: Duration::from_secs(60) };

fn guarded() -> (DuplexStream, Guard<DuplexStream>, Arc<Wire>) {
    let (client, server) = tokio::io::duplex(64 * 1024);
    let wire = Arc::new(Wire::default());
    (client, Guard::new(server, PATIENCE, Arc::clone(&wire)), wire)
}

async fn passed(sent: &[u8]) -> (Vec<u8>, Option<Refusal>) {
    let (mut client, mut guard, wire) = guarded();
    client.write_all(sent).await.unwrap();
    client.shutdown().await.unwrap();
    (read_on(&mut guard).await, wire.refusal())
}

/// The bytes that pass until the end, or until no more would.
async fn read_on(guard: &mut Guard<DuplexStream>) -> Vec<u8> {
    let mut passed = Vec::new();
    let _pending = tokio::time::timeout(Duration::from_secs(3600), guard.read_to_end(&mut passed)).await;
    passed
}

#[tokio::test(start_paused = true)]
async fn no_odd_request_and_nothing_behind_it_gets_through() {
    let smuggling =
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x";
    let (through, refusal) = passed(smuggling).await;
    assert_eq!(through, IN_ITS_PLACE);
    assert_eq!(refusal, Some(Refusal::invalid("both Content-Length and Transfer-Encoding are given")));
}

#[tokio::test(start_paused = true)]
async fn a_second_request_is_judged_like_the_first() {
    let first = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ".to_vec();
    let (through, refusal) = passed(&[&first[..], b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"].concat()).await;
    assert_eq!(through, [&first[..], IN_ITS_PLACE].concat());
    assert_eq!(refusal, Some(Refusal::invalid("a header continues on the next line")));
    let first = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\r\n\r\r\n0\r\n\r\n".to_vec();
    let (through, refusal) = passed(&[&first[..], b"\r\nTRACE / HTTP/1.1\r\nHost: a\r\n\r\n"].concat()).await;
    assert_eq!(through, [&first[..], IN_ITS_PLACE].concat());
    assert_eq!(refusal, Some(Refusal::invalid("this method is not served here")));
}

#[tokio::test(start_paused = true)]
async fn a_head_without_an_end_is_refused_as_soon_as_it_is_too_large() {
    let (through, refusal) = passed(&[b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'a'; 2000]].concat()).await;
    assert_eq!(
        (through.as_slice(), refusal),
        (IN_ITS_PLACE, Some(Refusal::invalid("the request's head is too large")))
    );
    let (through, refusal) = passed(b"GET / HTTP/1.1\nHost: a\n\n").await;
    assert_eq!(through, IN_ITS_PLACE);
    assert!(refusal.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_malformed_chunk_breaks_the_body_off() {
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let (through, refusal) = passed(&[&head[..], b"4\nabcd\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"].concat()).await;
    assert_eq!((through, refusal), (head, None));
}

#[tokio::test(start_paused = true)]
async fn a_slow_head_is_refused_and_a_silent_connection_ends() {
    let (mut client, mut guard, wire) = guarded();
    client.write_all(b"GET / HT").await.unwrap();
    let through = read_on(&mut guard).await;
    assert_eq!((through.as_slice(), wire.refusal()), (IN_ITS_PLACE, Some(Refusal::RequestSlow)));
    let (_client, mut guard, wire) = guarded();
    let mut through = Vec::new();
    guard.read_to_end(&mut through).await.unwrap();
    assert_eq!((through, wire.refusal()), (Vec::new(), None));
}

#[tokio::test(start_paused = true)]
async fn nobody_has_to_speak_while_a_request_is_being_answered() {
    let (mut client, mut guard, wire) = guarded();
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut through = vec![0; 27];
    guard.read_exact(&mut through).await.unwrap();
    let turn = wire.turn();
    let mut more = [0; 1];
    assert!(tokio::time::timeout(Duration::from_secs(600), guard.read(&mut more)).await.is_err());
    drop(turn);
    assert_eq!(guard.read(&mut more).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn bytes_after_an_upgrade_are_not_parsed() {
    let sent = b"GET /s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n\x81\x01\n\r\n\r\n";
    assert_eq!(passed(sent).await, (sent.to_vec(), None));
}
