//! Unknown clients at the gateway's listener: none keeps others out.

use crate::{
    peer::{OK, rest},
    proxy_fixture::{ProxyFixture, proxy_with, status},
};
use countersign_gateway::{GatewaySettings, Network};
use std::{net::SocketAddr, time::Duration};
use tokio::net::{TcpSocket, TcpStream};

#[expect(clippy::disallowed_methods, reason = "the test is the client")]
async fn connect_from(proxy: &ProxyFixture, address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
    socket.connect(proxy.gateway).await.unwrap()
}

///
#[tokio::test]
async fn an_address_that_holds_its_share_gets_no_more_and_others_are_served() {
    let few = |settings: &mut GatewaySettings| settings.max_connections_per_address = 2;
    let proxy = proxy_with(|_| OK.into(), |_| (), few).await;
    let _held = [connect_from(&proxy, "127.0.0.2").await, connect_from(&proxy, "127.0.0.2").await];
    for _ in 0..20 {
        let mut more = connect_from(&proxy, "127.0.0.2").await;
        let closed = tokio::time::timeout(Duration::from_secs(5), rest(&mut more)).await;
        assert_eq!(closed.expect("an address has more than its share"), "");
    }
    assert_eq!(status(&proxy.ask(&proxy.read()).await), 200);
}

///
#[tokio::test]
async fn a_trusted_proxy_has_no_share_and_a_connection_without_a_first_byte_ends_before_an_idle_one() {
    let proxied = |settings: &mut GatewaySettings| {
        settings.max_connections_per_address = 1;
        settings.trusted_proxies = vec![Network::parse("127.0.0.0/24").unwrap()];
        settings.first_byte_timeout = Duration::from_millis(60);
        settings.idle_timeout = Duration::from_secs(60);
    };
    let proxy = proxy_with(|_| OK.into(), |_| (), proxied).await;
    let mut silent = [proxy.connect().await, proxy.connect().await, proxy.connect().await];
    assert_eq!(status(&proxy.ask(&proxy.read()).await), 200);
    for stream in &mut silent {
        assert_eq!(tokio::time::timeout(Duration::from_secs(5), rest(stream)).await.expect("it stays open"), "");
    }
}
