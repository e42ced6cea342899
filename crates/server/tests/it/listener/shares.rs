//! An address's share of a listener's connections.

use super::{answers, closes, door, patient};
use countersign_server::Limits;
use tokio::io::AsyncWriteExt as _;

fn shares_of(per_address: usize) -> Limits {
    Limits { max_connections_per_address: per_address, max_connections: 8, ..patient() }
}

///
#[tokio::test]
async fn an_address_that_holds_its_share_gets_no_more_and_others_are_served() {
    let door = door(shares_of(3), &[]).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = door.connect().await;
        assert!(answers(&mut stream).await);
        held.push(stream);
    }
    for _ in 0..20 {
        assert!(closes(&mut door.connect().await).await, "an address has more than its share");
    }
    assert!(answers(&mut door.connect_from("127.0.0.2").await).await, "others are shut out");
    assert!(answers(&mut held[0]).await, "what it holds goes on");
    let left = held.pop().unwrap();
    drop(left);
    let mut again = door.connect().await;
    for _ in 0..50 {
        if answers(&mut again).await {
            return;
        }
        again = door.connect().await;
    }
    panic!("a place that was given back is not free");
}

/// all connections through a proxy come from its address.
#[tokio::test]
async fn a_trusted_proxy_may_hold_every_connection_and_the_total_still_bounds_it() {
    let door = door(shares_of(1), &["127.0.0.1"]).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        let mut stream = door.connect().await;
        assert!(answers(&mut stream).await);
        held.push(stream);
    }
    let mut waiting = door.connect().await;
    waiting.write_all(super::REQUEST.as_bytes()).await.unwrap();
    let read = tokio::io::AsyncReadExt::read_u8(&mut waiting);
    assert!(tokio::time::timeout(super::SHORT, read).await.is_err(), "the total is not kept");
    held.clear();
    assert!(tokio::io::AsyncReadExt::read_u8(&mut waiting).await.is_ok());
    drop(door.plane);
}
